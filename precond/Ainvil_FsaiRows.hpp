// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Fsai: the kernels that work on its rows.

#include "Ainvil_RowSearch.hpp"
#include "Ainvil_SmallBlock.hpp"

namespace ainvil {
namespace detail {

/// The local systems of FSAI as BatchedCholesky wants them: A[P, P] packed, P the pattern of a
/// block row, goes in; the last rows of its inverse Cholesky factor come out as block row of G.
template <class Scalar, class Device>
struct FsaiSystems {
  static constexpr bool solves = true;
  static constexpr bool in_place = false;

  BsrMatrix<Scalar, Device> a;
  Graph<Device> pattern;
  Kokkos::View<Scalar*, Device> values; ///< of G
  Kokkos::View<int*, Device> info;      ///< of every row; read where shift > 0
  Ordinal first;                        ///< row of system 0
  Scalar shift;                         ///< > 0: systems that failed get (1 + shift) diag(A)
  Kokkos::View<Scalar*, Device> memory; ///< of systems beyond scratch memory
  Kokkos::View<const Offset*, Device> homes;

  KOKKOS_FUNCTION int columns() const { return a.block_size; }
  KOKKOS_FUNCTION Scalar* matrixHome(Ordinal b) const { return memory.data() + homes(first + b); }
  KOKKOS_FUNCTION Scalar* vectorHome(Ordinal b) const {
    const Offset n = (pattern.row_map(first + b + 1) - pattern.row_map(first + b)) * a.block_size;
    return matrixHome(b) + n * (n + 1) / 2;
  }

  /// A lane takes one block row q of A[P, P], columns up to q.
  template <class Group>
  KOKKOS_FUNCTION void load(const Group& group, Ordinal b, int n, Scalar* packed) const {
    const Offset begin = pattern.row_map(first + b);
    const bool shifted = shift > Scalar(0) && info(first + b) != 0;
    group.forEach(n * (n + 1) / 2, [&](const int e) { packed[e] = 0; });
    group.forEach(n / a.block_size, [&](const int q) {
      const Ordinal row = pattern.entries(begin + q);
      const Offset row_begin = a.graph.row_map(row), row_end = a.graph.row_map(row + 1);
      if (row_end - row_begin > 4 * (q + 1)) { // a long row: look the few columns up in it
        for (int p = 0; p <= q; ++p) {
          const Offset e =
              findEntry(a.graph.entries, row_begin, row_end, pattern.entries(begin + p));
          if (e >= 0)
            copyBlock(e, q, p, packed);
        }
      } else {
        Offset e = row_begin;
        for (int p = 0; p <= q; ++p) {
          const Ordinal column = pattern.entries(begin + p);
          while (e < row_end && a.graph.entries(e) < column)
            ++e;
          if (e < row_end && a.graph.entries(e) == column)
            copyBlock(e, q, p, packed);
        }
      }
      if (shifted)
        for (int r = q * a.block_size; r < (q + 1) * a.block_size; ++r)
          packed[Offset(r) * (r + 1) / 2 + r] *= Scalar(1) + shift;
    });
  }

  KOKKOS_INLINE_FUNCTION void copyBlock(Offset e, int q, int p, Scalar* packed) const {
    const int bs = a.block_size;
    for (int r = 0; r < bs; ++r) {
      const Offset to = Offset(q * bs + r) * (q * bs + r + 1) / 2 + p * bs;
      const int width = p == q ? r + 1 : bs;
      for (int c = 0; c < width; ++c)
        packed[to + c] = a.values((e * bs + r) * bs + c);
    }
  }

  /// A row whose system has no Cholesky factor gets its diagonal block's alone.
  template <class Group>
  KOKKOS_FUNCTION void store(const Group& group, Ordinal b, int n, int failed,
                             const Scalar*) const {
    const Ordinal row = first + b;
    const int bs = a.block_size, length = n / bs;
    if (failed != 0)
      group.forEach(length * bs * bs,
                    [&](const int e) { values(pattern.row_map(row) * bs * bs + e) = 0; });
    group.forEach(1, [&](int) {
      info(row) = failed;
      if (failed == 0)
        return;
      const Offset at =
          findEntry(a.graph.entries, a.graph.row_map(row), a.graph.row_map(row + 1), row);
      Scalar* block = values.data() + (pattern.row_map(row + 1) - 1) * bs * bs;
      for (int e = 0; e < bs * bs; ++e)
        block[e] = at < 0 ? Scalar(0) : a.values(at * bs * bs + e);
      invertCholeskyFactor(block, bs);
    });
  }

  /// g = row k of the inverse factor, up to column k.
  template <class Group>
  KOKKOS_FUNCTION void storeVector(const Group& group, Ordinal b, int n, int k,
                                   const Scalar* g) const {
    const int bs = a.block_size;
    const int r = k - (n - bs);
    const Offset begin = pattern.row_map(first + b);
    group.forEach(n, [&](const int e) {
      const int p = e / bs, c = e - p * bs;
      values(((begin + p) * bs + r) * bs + c) = e <= k ? g[e] : Scalar(0);
    });
  }
};

/// The post-filter of block row i of G with pattern P. E are the blocks with
/// ||G_ij||_F < filter ||G_i||_F, the diagonal excepted. Since G A is zero on P but for the
/// diagonal,
///   (G - E)_i A (G - E)_i^T = I + E_i A E_i^T = C C^T,   G_i <- C^-1 (G - E)_i;
/// block rows are worked on by a warp, a lane a block. E stays in `values`, flagged in `kept`.
template <class Scalar, class Device>
struct FsaiFilterRow {
  BsrMatrix<Scalar, Device> a;
  Graph<Device> pattern;
  Kokkos::View<Scalar*, Device> values;
  Kokkos::View<char*, Device> kept;
  double filter;

  static std::size_t scratchBytes(int bs) { return std::size_t(bs) * bs * sizeof(Scalar); }

  KOKKOS_INLINE_FUNCTION double squaredNorm(Offset e) const {
    const int bs2 = a.block_size * a.block_size;
    double sum = 0;
    for (int k = 0; k < bs2; ++k)
      sum += double(values(e * bs2 + k)) * double(values(e * bs2 + k));
    return sum;
  }

  /// sum over dropped l of E_k(r, :) A_kl E_l(s, :)^T for a dropped block k of row i.
  KOKKOS_INLINE_FUNCTION double product(Offset begin, Offset end, Offset k, int r, int s) const {
    const int bs = a.block_size, bs2 = bs * bs;
    const Ordinal row = pattern.entries(k);
    const Ordinal last = pattern.entries(end - 1);
    double sum = 0;
    Offset l = begin;
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e) {
      const Ordinal column = a.graph.entries(e);
      if (column >= last)
        break;
      l = lowerBound(pattern.entries, l, end, column);
      if (pattern.entries(l) != column || kept(l) != 0)
        continue;
      for (int c = 0; c < bs; ++c)
        for (int d = 0; d < bs; ++d)
          sum += double(values(k * bs2 + r * bs + c)) * double(a.values(e * bs2 + c * bs + d)) *
                 double(values(l * bs2 + s * bs + d));
    }
    return sum;
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    using Kokkos::ThreadVectorRange;
    const int bs = a.block_size, bs2 = bs * bs;
    const Offset begin = pattern.row_map(row), end = pattern.row_map(row + 1);
    const int length = static_cast<int>(end - begin);
    double total = 0;
    Kokkos::parallel_reduce(
        ThreadVectorRange(member, length),
        [&](const int p, double& sum) { sum += squaredNorm(begin + p); }, total);
    int dropped = 0;
    Kokkos::parallel_reduce(
        ThreadVectorRange(member, length),
        [&](const int p, int& count) {
          const bool keep = p == length - 1 || squaredNorm(begin + p) >= filter * filter * total;
          kept(begin + p) = keep ? 1 : 0;
          count += keep ? 0 : 1;
        },
        dropped);
    if (dropped == 0)
      return;
    Scalar* c = static_cast<Scalar*>(scratch);
    for (int r = 0; r < bs; ++r)
      for (int s = 0; s <= r; ++s) {
        double entry = 0;
        Kokkos::parallel_reduce(
            ThreadVectorRange(member, length),
            [&](const int p, double& sum) {
              if (kept(begin + p) == 0)
                sum += product(begin, end, begin + p, r, s);
            },
            entry);
        Kokkos::single(Kokkos::PerThread(member), [&]() {
          c[r * bs + s] = c[s * bs + r] = static_cast<Scalar>(entry + (r == s ? 1 : 0));
        });
      }
    Kokkos::single(Kokkos::PerThread(member), [&]() { invertCholeskyFactor(c, bs); });
    // Joins the lanes after the one that inverted; then a lane a column of blocks, last row first.
    Kokkos::parallel_for(ThreadVectorRange(member, 1), [](int) {});
    Kokkos::parallel_for(ThreadVectorRange(member, length * bs), [&](const int item) {
      const int p = item / bs, column = item - p * bs;
      if (kept(begin + p) == 0)
        return;
      Scalar* block = values.data() + (begin + p) * bs2;
      for (int r = bs - 1; r >= 0; --r) {
        Scalar sum = 0;
        for (int s = 0; s <= r; ++s)
          sum += c[r * bs + s] * block[s * bs + column];
        block[r * bs + column] = sum;
      }
    });
  }
};

} // namespace detail
} // namespace ainvil
