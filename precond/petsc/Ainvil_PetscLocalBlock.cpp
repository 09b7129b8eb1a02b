// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscLocalBlock.hpp"

#include "petsc/Ainvil_PetscArrays.hpp"
#include "petsc/Ainvil_PetscErrors.hpp"

#include <exception>
#include <vector>

namespace ainvil {
namespace petsc {
namespace {

static_assert(std::is_same<PetscInt, Ordinal>::value && std::is_same<PetscScalar, double>::value,
              "Ainvil takes a PETSc of 32-bit indices and real double precision only");

using Exec = HostDevice::execution_space;
using Offsets = Kokkos::View<const Offset*, HostDevice>;

bool isOf(Mat a, const char* type) {
  PetscBool is = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), type, &is));
  return is == PETSC_TRUE;
}

/// Blocks of a full matrix in ascending order, and which of the stored ones each is.
struct StoredGraph {
  Graph<HostDevice> graph;
  Offset num_stored = 0;        ///< blocks in PETSc's array
  std::vector<Offset> entry;    ///< of those stored; empty: the same
  std::vector<bool> transposed; ///< it is the transposed one
};

/// The graph of A = U + U^T without its diagonal twice, from the blocks of U.
StoredGraph symmetric(const Exec& exec, Ordinal n, const PetscInt* row_map,
                      const PetscInt* columns) {
  std::vector<Offset> next(size_t(n) + 1, 0);
  for (Ordinal i = 0; i < n; ++i)
    for (PetscInt e = row_map[i]; e < row_map[i + 1]; ++e) {
      ++next[i + 1];
      if (columns[e] != i)
        ++next[columns[e] + 1];
    }
  for (Ordinal i = 0; i < n; ++i)
    next[i + 1] += next[i];
  const auto offsets = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", size_t(n) + 1);
  std::copy(next.begin(), next.end(), offsets.data());
  const auto entries = allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", next[n]);
  StoredGraph full;
  full.num_stored = row_map[n];
  full.entry.resize(next[n]);
  full.transposed.resize(next[n]);
  const auto add = [&](Ordinal row, Ordinal column, Offset e, bool transposed) {
    const Offset at = next[row]++;
    entries(at) = column;
    full.entry[at] = e;
    full.transposed[at] = transposed;
  };
  // Row i gets its columns before i from those rows, which come earlier, then its own: ascending.
  for (Ordinal i = 0; i < n; ++i)
    for (PetscInt e = row_map[i]; e < row_map[i + 1]; ++e) {
      add(i, columns[e], e, false);
      if (columns[e] != i)
        add(columns[e], i, e, true);
    }
  full.graph = Graph<HostDevice>(n, n, offsets, entries);
  return full;
}

/// The stored pattern as a full one.
StoredGraph graphOf(const Exec& exec, const LocalMat& local) {
  PetscInt n = 0, rows = 0, columns = 0;
  const PetscInt *row_map = nullptr, *entries = nullptr;
  PetscBool done = PETSC_FALSE;
  // Blocks, not points; but of points all rows, not one for those that have the same columns.
  const PetscBool compressed = local.storage == Storage::Points ? PETSC_FALSE : PETSC_TRUE;
  check(MatGetSize(local.mat, &rows, &columns));
  check(MatGetRowIJ(local.mat, 0, PETSC_FALSE, compressed, &n, &row_map, &entries, &done));
  StoredGraph stored;
  const auto take_arrays = [&] {
    if (done == PETSC_FALSE || (n > 0 && row_map == nullptr))
      throw InvalidArgument("PETSc does not give the arrays of the matrix: assemble it first");
    if (local.storage == Storage::UpperBlocks) {
      stored = symmetric(exec, n, row_map, entries);
    } else {
      stored.graph = ranks::copiedGraph(exec, n, columns / local.block_size, row_map, entries);
      stored.num_stored = stored.graph.numEntries();
    }
  };
  std::exception_ptr failure;
  try {
    take_arrays();
  } catch (...) {
    failure = std::current_exception(); // PETSc gets its arrays back first
  }
  check(MatRestoreRowIJ(local.mat, 0, PETSC_FALSE, compressed, &n, &row_map, &entries, &done));
  if (failure)
    std::rethrow_exception(failure);
  return stored;
}

/// Where the scalars of row-major blocks are in PETSc's column-major ones.
Offsets scalarSource(const Exec& exec, const StoredGraph& stored, int bs) {
  const Offset n = stored.graph.numEntries(), bs2 = Offset(bs) * bs;
  const auto source = allocate<Offset, HostDevice>(exec, "Ainvil::source", n * bs2);
  for (Offset e = 0; e < n; ++e) {
    const Offset from = stored.entry.empty() ? e : stored.entry[e];
    const bool transposed = !stored.transposed.empty() && stored.transposed[e];
    for (int i = 0; i < bs; ++i)
      for (int j = 0; j < bs; ++j)
        source(e * bs2 + i * bs + j) = from * bs2 + (transposed ? i * bs + j : j * bs + i);
  }
  return source;
}

} // namespace

LocalMat localMat(Mat a) {
  LocalMat local;
  PetscBool has = PETSC_FALSE;
  check(MatHasOperation(a, MATOP_GET_DIAGONAL_BLOCK, &has));
  local.mat = a;
  if (has == PETSC_TRUE && !isOf(a, MATSEQAIJ) && !isOf(a, MATSEQBAIJ) && !isOf(a, MATSEQSBAIJ))
    check(MatGetDiagonalBlock(a, &local.mat));
  PetscInt size = 1;
  check(MatGetBlockSize(local.mat, &size));
  if (isOf(local.mat, MATSEQAIJ)) {
    return local;
  } else if (isOf(local.mat, MATSEQBAIJ)) {
    local.storage = Storage::Blocks;
    local.block_size = size;
    return local;
  } else if (isOf(local.mat, MATSEQSBAIJ)) {
    local.storage = Storage::UpperBlocks;
    local.block_size = size;
    return local;
  }
  MatType type = nullptr;
  check(MatGetType(a, &type));
  throw InvalidArgument(message("the matrix is of type ", type == nullptr ? "none" : type,
                                ", but pc_type ainvil takes aij, baij and sbaij: convert it with ",
                                "MatConvert, or give another one for the preconditioner"));
}

ranks::StoredPattern storedPattern(const Exec& exec, const LocalMat& local, int block_size) {
  const int size = local.block_size;
  const StoredGraph stored = graphOf(exec, local);
  ranks::StoredPattern pattern;
  pattern.graph = stored.graph;
  pattern.block_size = size;
  pattern.num_scalars = stored.num_stored * size * size;
  const bool in_order = stored.entry.empty();
  pattern.by_columns = in_order && size > 1 && block_size == size;
  if (!pattern.by_columns && (!in_order || size > 1))
    pattern.source = scalarSource(exec, stored, size);
  return pattern;
}

ValuesOf::ValuesOf(const LocalMat& local) : local_(local) {
  if (local.storage == Storage::Points && ranks::on_gpu) {
    PetscMemType type;
    check(MatSeqAIJGetCSRAndMemType(local.mat, nullptr, nullptr, &writable_, &type));
    memory_ = memoryOf(type);
  } else if (local.storage == Storage::Points)
    check(MatSeqAIJGetArrayRead(local.mat, &values_));
  else if (local.storage == Storage::Blocks)
    check(MatSeqBAIJGetArray(local.mat, &writable_));
  else
    check(MatSeqSBAIJGetArray(local.mat, &writable_));
}

ValuesOf::~ValuesOf() {
  // What giving back an array that was only read could report, getting it has reported.
  PetscErrorCode code = success;
  if (local_.storage == Storage::Points && ranks::on_gpu)
    return; // what MatSeqAIJGetCSRAndMemType() gives is not given back
  if (local_.storage == Storage::Points)
    code = MatSeqAIJRestoreArrayRead(local_.mat, &values_);
  else if (local_.storage == Storage::Blocks)
    code = MatSeqBAIJRestoreArray(local_.mat, &writable_);
  else
    code = MatSeqSBAIJRestoreArray(local_.mat, &writable_);
  static_cast<void>(code);
}

} // namespace petsc
} // namespace ainvil
