// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscLocalBlock.hpp"

#include "petsc/Ainvil_PetscErrors.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <exception>
#include <vector>

namespace ainvil {
namespace petsc {
namespace {

static_assert(std::is_same<PetscInt, Ordinal>::value && std::is_same<PetscScalar, double>::value,
              "Ainvil takes a PETSc of 32-bit indices and real double precision only");

using Exec = LocalBlock::Exec;
using Offsets = Kokkos::View<const Offset*, HostDevice>;

/// How PETSc stores a sequential matrix.
enum class Storage { Points, Blocks, UpperBlocks };

/// A sequential matrix of PETSc and how it is stored.
struct LocalMat {
  Mat mat = nullptr; ///< not ours
  Storage storage = Storage::Points;
  int block_size = 1; ///< of the storage
};

bool isOf(Mat a, const char* type) {
  PetscBool is = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), type, &is));
  return is == PETSC_TRUE;
}

/// The diagonal block of a rank: the matrix itself where it is sequential.
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

Graph<HostDevice> copied(const Exec& exec, Ordinal n, Ordinal num_cols, const PetscInt* row_map,
                         const PetscInt* columns) {
  const auto offsets = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", size_t(n) + 1);
  offsets(0) = 0;
  for (Ordinal i = 0; i < n; ++i)
    offsets(i + 1) = row_map[i + 1];
  const auto entries = allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", offsets(n));
  std::copy_n(columns, offsets(n), entries.data());
  return Graph<HostDevice>(n, num_cols, offsets, entries);
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
      stored.graph = copied(exec, n, columns / local.block_size, row_map, entries);
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

/// The values of a sequential matrix of PETSc, given back at the end.
class ValuesOf {
public:
  explicit ValuesOf(const LocalMat& local) : local_(local) {
    if (local.storage == Storage::Points)
      check(MatSeqAIJGetArrayRead(local.mat, &values_));
    else if (local.storage == Storage::Blocks)
      check(MatSeqBAIJGetArray(local.mat, &writable_));
    else
      check(MatSeqSBAIJGetArray(local.mat, &writable_));
  }
  ~ValuesOf() {
    // What giving back an array that was only read could report, getting it has reported.
    PetscErrorCode code = success;
    if (local_.storage == Storage::Points)
      code = MatSeqAIJRestoreArrayRead(local_.mat, &values_);
    else if (local_.storage == Storage::Blocks)
      code = MatSeqBAIJRestoreArray(local_.mat, &writable_);
    else
      code = MatSeqSBAIJRestoreArray(local_.mat, &writable_);
    static_cast<void>(code);
  }
  ValuesOf(const ValuesOf&) = delete;
  ValuesOf& operator=(const ValuesOf&) = delete;

  const double* data() const { return values_ != nullptr ? values_ : writable_; }

private:
  LocalMat local_;
  const double* values_ = nullptr;
  double* writable_ = nullptr;
};

} // namespace

void LocalBlock::initialize(const Exec& exec, Mat a, int block_size) {
  const LocalMat local = localMat(a);
  const int stored_size = local.block_size;
  PetscInt of_matrix = 1;
  check(MatGetBlockSize(a, &of_matrix));
  const int wanted = block_size > 0 ? block_size : of_matrix;
  const StoredGraph stored = graphOf(exec, local);

  LocalBlock next;
  next.num_stored_ = stored.num_stored * stored_size * stored_size;
  Graph<HostDevice> graph = stored.graph;
  const Offset scalars = graph.numEntries() * stored_size * stored_size;
  const bool in_order = stored.entry.empty();
  if (in_order && stored_size > 1 && wanted == stored_size) {
    next.values_ = Values::Transposed;
  } else if (!in_order || stored_size > 1) {
    next.values_ = Values::Gathered;
    next.source_ = scalarSource(exec, stored, stored_size);
  }
  const auto take = [&](const PermutedGraph<HostDevice>& from) {
    graph = from.graph;
    next.source_ = next.values_ == Values::Gathered
                       ? composed<HostDevice>(exec, from.source, next.source_)
                       : from.source;
    next.values_ = Values::Gathered;
  };
  if (stored_size > 1 && wanted != stored_size)
    take(toPoints<HostDevice>(exec, graph, stored_size));
  if (wanted > 1 && wanted != stored_size)
    take(toBlocks<HostDevice>(exec, graph, wanted));
  next.padding_ = graph.numEntries() * wanted * wanted - scalars;

  next.matrix_ = Matrix(
      graph,
      allocate<double, HostDevice>(exec, "Ainvil::values", graph.numEntries() * wanted * wanted),
      wanted);
  *this = next;
}

LocalBlock::Matrix LocalBlock::get(const Exec& exec, Mat a) {
  const ValuesOf values(localMat(a));
  const Kokkos::View<const double*, HostDevice> from(values.data(), num_stored_);
  if (values_ == Values::Copied)
    Kokkos::deep_copy(exec, matrix_.values, from);
  else if (values_ == Values::Transposed)
    transposeBlocks<double, HostDevice>(exec, matrix_.block_size, from, matrix_.values);
  else
    gatherBlocks<double, HostDevice>(exec, Trans::No, source_, 1, from, matrix_.values);
  compat::fence(exec, "Ainvil::petsc"); // PETSc gets its array back
  return matrix_;
}

} // namespace petsc
} // namespace ainvil
