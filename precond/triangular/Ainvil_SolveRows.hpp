// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to ExactTriangularSolver: the row of a substitution, and of a transposed one.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_BlockRowSums.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// Blocks from which on a row is worth all lanes: two a lane of a warp, an estimate.
constexpr Offset long_row = 64;

/// Columns solved for in one launch, as many as a product takes in one pass; bounds the scratch of
/// a row.
constexpr int column_tile = 8;

/// y_i = D_i^-1 (x_i - sum over k != i in row i of T_ik y_k), D_i = I for a unit factor. On a GPU
/// the row and D_i^-1 are brought into scratch memory before anything is waited for, and a lane
/// takes one row of one block; rows that do not fit are read where they are, a lane a row of the
/// block, or all lanes for each of these sums where the row is long. A host thread, its own only
/// lane, takes one column after the other and keeps the sums of a block row in registers.
template <int BS, class Stored, class Scalar, class Device>
struct SolveRow {
  KernelTriangle<Stored> factor;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;
  Offset first_column;
  int columns;
  int capacity; ///< blocks of a row in scratch memory

  /// What a row may take of scratch memory, in bytes: about 50 of the 64 warps
  /// of a multiprocessor of an H200 (228 KiB) find as much.
  static constexpr std::size_t most_scratch = 4096;

  static int capacityFor(int bs, int columns, Ordinal longest_row) {
    if (!compat::IsGpu<typename Device::execution_space>::value)
      return 0;
    int capacity = 0;
    while (capacity < longest_row && scratchBytes(bs, columns, capacity + 1) <= most_scratch)
      ++capacity;
    return capacity;
  }
  /// For x, and with room for blocks for their products, columns and values, and D_i^-1.
  static std::size_t scratchBytes(int bs, int columns, int capacity) {
    const std::size_t vectors = std::size_t(bs) * columns * sizeof(Scalar) * (capacity + 1);
    return capacity == 0 ? vectors
                         : vectors + (capacity + 1) * sizeof(int) +
                               (capacity + 1) * std::size_t(bs) * bs * sizeof(Stored);
  }

  /// Of a thread of a host, see RowsAhead.
  Ordinal rowsAhead() const { return factor.rowsAhead(); }
  /// Asks the caches of a host for a row.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Ordinal row) const { factor.prefetch(row); }

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch,
                                  const Gate& gate) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const auto& graph = factor.matrix.graph;
    const Offset begin = factor.offDiagonal(row).first, end = factor.offDiagonal(row).second;
    Scalar* sums = static_cast<Scalar*>(scratch);
    if constexpr (!compat::IsGpu<typename Device::execution_space>::value) {
      Scalar registers[BS > 0 ? BS : 1];
      for (int j = 0; j < columns; ++j)
        solveColumn(row, first_column + j, bs, BS > 0 ? registers : sums);
      return;
    }
    if (end - begin <= capacity && capacity > 0) {
      solveFromScratch(member, row, sums, gate);
      return;
    }
    const auto product = [&](Offset k, int r, int j) {
      return rowOfProduct(factor.matrix.values.data() + (k * bs + r) * bs, graph.entries(k), j,
                          gate);
    };
    const auto store = [&](int item, Scalar sum) {
      const int j = item / bs, r = item - j * bs;
      sum = x(Offset(row) * bs + r, first_column + j) - sum;
      if (factor.unit)
        gate.write(&y(Offset(row) * bs + r, first_column + j), sum);
      else
        sums[item] = sum;
    };
    if (end - begin > long_row)
      for (int item = 0; item < bs * columns; ++item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(member, static_cast<int>(end - begin)),
            [&](const int k, Scalar& partial) { partial += product(begin + k, r, j); }, sum);
        Kokkos::single(Kokkos::PerThread(member), [&]() { store(item, sum); });
      }
    else
      forLanes(member, bs * columns, [&](const int item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        for (Offset k = begin; k < end; ++k)
          sum += product(k, r, j);
        store(item, sum);
      });
    // Joins the lanes: one of them may have stored all sums.
    joinLanes(member);
    if (factor.unit)
      return;
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      const Stored* inverse = factor.diagonal_inverse.data() + (Offset(row) * bs + r) * bs;
      Scalar sum = 0;
      for (int c = 0; c < bs; ++c)
        sum += Scalar(inverse[c]) * sums[j * bs + c];
      gate.write(&y(Offset(row) * bs + r, first_column + j), sum);
    });
  }

private:
  /// A row of a block times y_k in column j of this launch, once y_k is there.
  template <class Gate>
  KOKKOS_INLINE_FUNCTION Scalar rowOfProduct(const Stored* block, Ordinal k, int j,
                                             const Gate& gate) const {
    Scalar sum = 0;
    if constexpr (BS > 0) {
      Scalar y_k[BS];
      gate.read(&y(Offset(k) * BS, first_column + j), y_k);
      for (int c = 0; c < BS; ++c)
        sum += Scalar(block[c]) * y_k[c];
    } else {
      const int bs = factor.matrix.block_size;
      for (int c = 0; c < bs; ++c) {
        Scalar y_kc[1];
        gate.read(&y(Offset(k) * bs + c, first_column + j), y_kc);
        sum += Scalar(block[c]) * y_kc[0];
      }
    }
    return sum;
  }

  template <class Member, class Gate>
  KOKKOS_INLINE_FUNCTION void solveFromScratch(const Member& member, Ordinal row, Scalar* sums,
                                               const Gate& gate) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const Offset begin = factor.offDiagonal(row).first;
    const int length = static_cast<int>(factor.offDiagonal(row).second - begin);
    Scalar* products = sums + bs * columns;
    int* block_columns = reinterpret_cast<int*>(products + capacity * bs * columns);
    Stored* blocks = reinterpret_cast<Stored*>(block_columns + (capacity + 1) / 2 * 2);
    Stored* inverse = blocks + capacity * bs2;
    const auto& matrix = factor.matrix;
    forLanes(member, length,
             [&](const int k) { block_columns[k] = matrix.graph.entries(begin + k); });
    forLanes(member, length * bs2,
             [&](const int e) { blocks[e] = matrix.values(begin * bs2 + e); });
    if (!factor.unit)
      forLanes(member, bs2,
               [&](const int e) { inverse[e] = factor.diagonal_inverse(Offset(row) * bs2 + e); });
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      sums[item] = x(Offset(row) * bs + r, first_column + j);
    });

    for (int j = 0; j < columns; ++j)
      forLanes(member, length * bs, [&](const int item) {
        products[j * length * bs + item] =
            rowOfProduct(blocks + item * bs, block_columns[item / bs], j, gate);
      });
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      Scalar sum = sums[item];
      for (int k = 0; k < length; ++k)
        sum -= products[(j * length + k) * bs + r];
      if (factor.unit)
        gate.write(&y(Offset(row) * bs + r, first_column + j), sum);
      else
        sums[item] = sum;
    });
    if (!factor.unit)
      forLanes(member, bs * columns, [&](const int item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        for (int c = 0; c < bs; ++c)
          sum += Scalar(inverse[r * bs + c]) * sums[j * bs + c];
        gate.write(&y(Offset(row) * bs + r, first_column + j), sum);
      });
  }

  /// Entries far from the diagonal come first: what the rows before have just computed is waited
  /// for last.
  KOKKOS_INLINE_FUNCTION void solveColumn(Ordinal row, Offset j, int bs, Scalar* sums) const {
    const auto range = factor.offDiagonal(row);
    const Ordinal* entries = factor.matrix.graph.entries.data();
    const Stored* values = factor.matrix.values.data();
    const Offset first = Offset(row) * bs;
    Scalar* y_j = &y(0, j);
    const auto forBlocks = [&](const auto& f) {
      for (Offset e = range.first; e < range.second; ++e) {
        const Offset k = factor.uplo == Uplo::Lower ? e : range.first + range.second - 1 - e;
        f(values + k * bs * bs, y_j + Offset(entries[k]) * bs);
      }
    };
    if constexpr (BS > 1) {
      BlockRowSums<BS, Scalar> in_registers;
      for (int r = 0; r < BS; ++r)
        in_registers.start(r, x(first + r, j));
      forBlocks([&](const Stored* block, const Scalar* y_k) { in_registers.subtract(block, y_k); });
      for (int r = 0; r < BS; ++r)
        sums[r] = in_registers[r];
    } else {
      for (int r = 0; r < bs; ++r)
        sums[r] = x(first + r, j);
      forBlocks([&](const Stored* block, const Scalar* y_k) {
        for (int r = 0; r < bs; ++r)
          sums[r] -= dot<BS>(block + r * bs, y_k, bs);
      });
    }
    if (factor.unit) {
      for (int r = 0; r < bs; ++r)
        y_j[first + r] = sums[r];
      return;
    }
    const Stored* inverse = factor.diagonal_inverse.data() + first * bs;
    for (int r = 0; r < bs; ++r)
      y_j[first + r] = dot<BS>(inverse + r * bs, sums, bs);
  }
};

/// y_i <- D_i^-T y_i, then y_k -= T_ik^T y_i for every k != i in row i: the rows that row i depends
/// on in T depend on it in T^T. On a GPU row i waits until all that depend on it in T have been
/// subtracted, and its lanes share the numbers of all y_k; a host thread runs all rows.
template <class Stored, class Scalar, class Device>
struct SolveRowTransposed {
  static constexpr bool on_host = !compat::IsGpu<typename Device::execution_space>::value;

  KernelTriangle<Stored> factor;
  KernelColumns<Scalar> y;
  Offset first_column;
  int columns;

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch,
                                  const Gate& gate) const {
    const int bs = factor.matrix.block_size;
    const auto& graph = factor.matrix.graph;
    const Offset begin = factor.offDiagonal(row).first, end = factor.offDiagonal(row).second;
    Scalar* solved = static_cast<Scalar*>(scratch);
    const int items = bs * columns;
    gate.wait(member, row);
    forLanes(member, items, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      Scalar sum = 0;
      if (factor.unit)
        sum = y(Offset(row) * bs + r, first_column + j);
      else
        for (int c = 0; c < bs; ++c)
          sum += Scalar(factor.diagonal_inverse((Offset(row) * bs + c) * bs + r)) *
                 y(Offset(row) * bs + c, first_column + j);
      solved[item] = sum;
    });
    forLanes(member, items, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      y(Offset(row) * bs + r, first_column + j) = solved[item];
    });
    const auto update = [&](Offset k, int item) {
      const int j = item / bs, c = item - j * bs;
      Scalar sum = 0;
      for (int r = 0; r < bs; ++r)
        sum += Scalar(factor.matrix.values((k * bs + r) * bs + c)) * solved[j * bs + r];
      Scalar* const y_k = &y(Offset(graph.entries(k)) * bs + c, first_column + j);
      if (on_host)
        *y_k -= sum;
      else
        Kokkos::atomic_add(y_k, -sum);
    };
    if constexpr (on_host) {
      for (Offset k = begin; k < end; ++k)
        for (int item = 0; item < items; ++item)
          update(k, item);
    } else {
      forLanes(member, (end - begin) * items,
               [&](const Offset t) { update(begin + t / items, static_cast<int>(t % items)); });
      forLanes(member, end - begin,
               [&](const Offset k) { gate.updated(graph.entries(begin + k)); });
    }
  }
};

} // namespace detail
} // namespace ainvil
