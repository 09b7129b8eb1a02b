// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Fsai: the kernels that work on its rows.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "graph/Ainvil_RowSearch.hpp"

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
      // Searches for q + 1 columns take log2(length) steps each, at least 4 from 16 entries on;
      // running over the row takes its length.
      constexpr int steps_of_search = 4;
      if (row_end - row_begin > steps_of_search * (q + 1)) {
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
/// block rows are worked on by a warp, a lane a block. What is dropped becomes zero. BS is the
/// block size where compilers know it, else 0.
template <class Scalar, class Device, int BS = 0>
struct FsaiFilterRow {
  BsrMatrix<Scalar, Device> a;
  Graph<Device> pattern;
  Kokkos::View<Scalar*, Device> values;
  double filter;

  static std::size_t scratchBytes(int bs) { return std::size_t(bs) * bs * sizeof(Scalar); }

  KOKKOS_INLINE_FUNCTION int blockSize() const { return BS > 0 ? BS : a.block_size; }
  KOKKOS_INLINE_FUNCTION double squaredNorm(Offset e) const {
    const int bs2 = blockSize() * blockSize();
    double sum = 0;
    for (int k = 0; k < bs2; ++k)
      sum += double(values(e * bs2 + k)) * double(values(e * bs2 + k));
    return sum;
  }

  /// A row of G, and the squared norm below which its blocks go.
  struct Row {
    Offset begin, end;
    double limit;
  };

  KOKKOS_INLINE_FUNCTION bool isDropped(const Row& row, Offset e) const {
    return e + 1 < row.end && !(squaredNorm(e) >= row.limit);
  }

  /// sum over dropped l of E_k(r, :) A_kl E_l(s, :)^T for a dropped block k of row i.
  KOKKOS_INLINE_FUNCTION double product(const Row& g, Offset k, int r, int s) const {
    const int bs = blockSize(), bs2 = bs * bs;
    const Ordinal row = pattern.entries(k);
    const Ordinal last = pattern.entries(g.end - 1);
    double sum = 0;
    Offset l = g.begin;
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e) {
      const Ordinal column = a.graph.entries(e);
      if (column >= last)
        break;
      l = lowerBound(pattern.entries, l, g.end, column);
      if (pattern.entries(l) != column || !isDropped(g, l))
        continue;
      for (int c = 0; c < bs; ++c)
        for (int d = 0; d < bs; ++d)
          sum += double(values(k * bs2 + r * bs + c)) * double(a.values(e * bs2 + c * bs + d)) *
                 double(values(l * bs2 + s * bs + d));
    }
    return sum;
  }

  /// The row with its limit; sum(f) is the sum of f(p) over the blocks p of its pattern.
  template <class Sum>
  KOKKOS_FUNCTION Row rowOf(Ordinal row, const Sum& sum) const {
    Row g;
    g.begin = pattern.row_map(row);
    g.end = pattern.row_map(row + 1);
    g.limit = filter * filter * sum([&](const int p) { return squaredNorm(g.begin + p); });
    return g;
  }

  /// Block e of the row becomes zero or, from the left, C^-1 times itself, C^-1 being c.
  KOKKOS_FUNCTION void scaleOrDrop(const Row& g, Offset e, const Scalar* c) const {
    const int bs = blockSize();
    Scalar* block = values.data() + e * bs * bs;
    const bool drop = isDropped(g, e);
    // Last row first: those above it are still needed.
    for (int r = bs - 1; r >= 0; --r)
      for (int column = 0; column < bs; ++column) {
        Scalar sum = 0;
        for (int s = 0; s <= r && !drop; ++s)
          sum += c[r * bs + s] * block[s * bs + column];
        block[r * bs + column] = sum;
      }
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    using Kokkos::ThreadVectorRange;
    const int bs = blockSize();
    const int length = static_cast<int>(pattern.row_map(row + 1) - pattern.row_map(row));
    const Row g = rowOf(row, [&](const auto& squaredNormOf) {
      double total = 0;
      Kokkos::parallel_reduce(
          ThreadVectorRange(member, length),
          [&](const int p, double& sum) { sum += squaredNormOf(p); }, total);
      return total;
    });
    int dropped = 0;
    Kokkos::parallel_reduce(
        ThreadVectorRange(member, length),
        [&](const int p, int& count) { count += isDropped(g, g.begin + p) ? 1 : 0; }, dropped);
    if (dropped == 0)
      return;
    Scalar* c = static_cast<Scalar*>(scratch);
    for (int r = 0; r < bs; ++r)
      for (int s = 0; s <= r; ++s) {
        double entry = 0;
        Kokkos::parallel_reduce(
            ThreadVectorRange(member, length),
            [&](const int p, double& sum) {
              if (isDropped(g, g.begin + p))
                sum += product(g, g.begin + p, r, s);
            },
            entry);
        Kokkos::single(Kokkos::PerThread(member), [&]() {
          c[r * bs + s] = c[s * bs + r] = static_cast<Scalar>(entry + (r == s ? 1 : 0));
        });
      }
    Kokkos::single(Kokkos::PerThread(member), [&]() { invertCholeskyFactor(c, bs); });
    // Joins the lanes after the one that inverted; then a lane a block.
    joinLanes(member);
    forLanes(member, length, [&](const int p) { scaleOrDrop(g, g.begin + p, c); });
  }
};

/// Keeps what FsaiFilterRow has left: the diagonal blocks and those that are not zero.
template <class Scalar, class Device>
struct KeepNonzero {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Scalar*, Device> values;
  int block_scalars;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    bool keep = e + 1 == row_map(row + 1);
    for (int k = 0; k < block_scalars && !keep; ++k)
      keep = values(e * block_scalars + k) != Scalar(0);
    return keep;
  }
};

/// Block e of the unfiltered G goes to position `to`. Where columns are written too, `changed`
/// tells whether one differs from what was there; it is empty if there was nothing.
template <class Out, class Scalar, class Device>
struct WriteBlock {
  Kokkos::View<const Ordinal*, Device> columns;
  Kokkos::View<const Scalar*, Device> values;
  int block_scalars;
  Kokkos::View<Ordinal*, Device> to_columns; ///< empty: the graph is the same
  Kokkos::View<Out*, Device> to_values;
  Kokkos::View<int*, Device> changed;

  KOKKOS_FUNCTION void operator()(Offset to, Offset e) const {
    if (to_columns.data() != nullptr) {
      if (changed.data() != nullptr && to_columns(to) != columns(e))
        compat::volatileStore(&changed(0), 1); // all threads that write it write 1
      to_columns(to) = columns(e);
    }
    for (int k = 0; k < block_scalars; ++k)
      to_values(to * block_scalars + k) = static_cast<Out>(values(e * block_scalars + k));
  }
  KOKKOS_FUNCTION void operator()(Offset e) const { (*this)(e, e); }
};

/// Row j of G^T: the blocks G_ij^T are looked up in the sorted rows of G, a lane each.
template <class Stored, class Device>
struct TransposedValues {
  BsrMatrix<Stored, Device> g;
  Graph<Device> transposed;
  Kokkos::View<Stored*, Device> values;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    const int bs = g.block_size;
    const Offset begin = transposed.row_map(j);
    const Ordinal length = static_cast<Ordinal>(transposed.row_map(j + 1) - begin);
    forLanes(member, length, [&](const Ordinal k) {
      const Ordinal i = transposed.entries(begin + k);
      const Offset at = lowerBound(g.graph.entries, g.graph.row_map(i), g.graph.row_map(i + 1), j);
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          values(((begin + k) * bs + r) * bs + c) = g.values((at * bs + c) * bs + r);
    });
  }
};

} // namespace detail
} // namespace ainvil
