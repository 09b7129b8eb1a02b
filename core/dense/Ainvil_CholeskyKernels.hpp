// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation A = L L^T of one matrix by the lanes of a GPU: raw pointers, shapes are
/// checked above. A is symmetric, its lower triangle packed by rows: A_ij, j <= i, lies at
/// i (i + 1) / 2 + j, and L takes its place. All functions here
///   * leave 1 / L_ii instead of L_ii on the diagonal, because that is what is needed to go on;
///     restoreDiagonal() turns it over in the end;
///   * return 0, or i + 1 if the pivot of row i is the first that is not a positive finite number.
///     Then the rows before i are those of L and the others are undefined.

#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_ScalarLimits.hpp"
#include "dense/Ainvil_CholeskyTiles.hpp"

namespace ainvil {
namespace detail {

/// Where row i of a packed matrix begins.
template <class Index>
KOKKOS_INLINE_FUNCTION constexpr Index packedRow(Index i) {
  return i * (i + 1) / 2;
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION bool isPivot(Scalar d) {
  return d > Scalar(0) && d <= ScalarLimits<Scalar>::largest; // false for NaN
}

/// What a lane reads from scratch memory at once.
template <class Scalar>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(Scalar);
  Scalar value[size];
};

/// y_j -= t c_j for k < j < W, the c_j aligned in scratch memory, the y_j in registers.
template <int W, class Scalar>
KOKKOS_INLINE_FUNCTION void subtractAfter(const int k, Scalar t, const Scalar* c, Scalar (&y)[W]) {
  using Packed = Pack<Scalar>;
  unrolled<W / Packed::size>([&](int p) {
    if ((p + 1) * Packed::size > k + 1) {
      const Packed pack = reinterpret_cast<const Packed*>(c)[p];
      unrolled<Packed::size>([&](int v) {
        if (p * Packed::size + v > k)
          y[p * Packed::size + v] -= t * pack.value[v];
      });
    }
  });
}

/// How W lanes share a matrix of W rows: lane l has the rows l % row_lanes + r row_lanes and the
/// columns l / row_lanes + c column_lanes, so that all have work to the end. What it reads from
/// scratch memory grows with rows + columns, what it computes with rows x columns.
template <int W>
struct LaneGrid {
  static constexpr int row_lanes = W == 32 ? 8 : 4, column_lanes = W / row_lanes;
  static constexpr int rows = W / row_lanes, columns = W / column_lanes;

  /// Whether any of the entries (r, c) lies in the lower triangle.
  KOKKOS_INLINE_FUNCTION static constexpr bool reaches(int r, int c) {
    return c * column_lanes < (r + 1) * row_lanes;
  }
};

/// Factors a matrix of n <= W rows, right-looking, the lower triangle in registers:
///   for k < n:  c_i = a_ik,  t_i = c_i / c_k,  l_ik = c_i / sqrt(c_k),  a_ij -= t_i c_j for j > k,
/// where column c passes from lane to lane through scratch memory. `entry(i, j)` is a reference to
/// A_ij, j <= i. `columns` is room for Kept columns of W scalars, aligned for Pack: two are enough,
/// W keep all for solveRow(), with 1 / L_kk in the place of c_k.
template <int W, int Kept, class Scalar, class Member, class Entry>
KOKKOS_INLINE_FUNCTION int factorRows(const Member& member, int n, const Entry& entry,
                                      Scalar* columns) {
  using Grid = LaneGrid<W>;
  const ThreadLanes<Member> lanes{member, W};
  const int lane = laneOf<W>(member);
  const int i = lane % Grid::row_lanes, j = lane / Grid::row_lanes; // the first row and column
  const auto forEachEntry = [&](const auto& f) {
    unrolled<Grid::rows>([&](int r) {
      unrolled<Grid::columns>([&](int c) {
        if (Grid::reaches(r, c))
          f(r, c, i + r * Grid::row_lanes, j + c * Grid::column_lanes);
      });
    });
  };
  Scalar a[Grid::rows][Grid::columns];
  forEachEntry([&](int r, int c, int row, int column) {
    a[r][c] = row < n && column <= row ? Scalar(entry(row, column)) : Scalar(0);
  });

  int bad = 0;
  Scalar own_inverse = 1;
  AINVIL_UNROLLED_LOOP
  for (int k = 0; k < W; ++k) {
    if (k >= n)
      break;
    // Rows and columns before these are done; of these, entries right of the diagonal are no more
    // than waste.
    const int r_k = k / Grid::row_lanes, c_k = k / Grid::column_lanes;
    const bool owner = j == k % Grid::column_lanes;
    Scalar* column = columns + k % Kept * W;
    if (owner)
      unrolled<Grid::rows>([&](int r) {
        if (r >= r_k)
          column[i + r * Grid::row_lanes] = a[r][c_k];
      });
    lanes.join();
    const Scalar pivot = column[k];
    if (!isPivot(pivot)) {
      bad = k + 1;
      break;
    }
    const Scalar inverse = compat::rsqrt(pivot);
    own_inverse = lane == k ? inverse : own_inverse;
    Scalar y[Grid::columns];
    unrolled<Grid::columns>([&](int c) {
      if (c >= c_k)
        y[c] = column[j + c * Grid::column_lanes];
    });
    y[c_k] = j > k % Grid::column_lanes ? y[c_k] : Scalar(0);
    unrolled<Grid::rows>([&](int r) {
      if (r < r_k)
        return;
      const Scalar l = column[i + r * Grid::row_lanes] * inverse;
      const Scalar t = l * inverse;
      unrolled<Grid::columns>([&](int c) {
        if (c >= c_k && Grid::reaches(r, c))
          a[r][c] -= t * y[c];
      });
      if (owner)
        a[r][c_k] = i + r * Grid::row_lanes == k ? inverse : l;
    });
  }

  forEachEntry([&](int r, int c, int row, int column) {
    if (row < n && column <= row)
      entry(row, column) = a[r][c];
  });
  lanes.join();
  if (Kept == W)
    columns[lane * W + lane] = own_inverse;
  lanes.join();
  return bad;
}

/// x <- x L^-T for one row x of W scalars, with L as factorRows() left it in `columns`.
template <int W, class Scalar, class Entry>
KOKKOS_INLINE_FUNCTION void solveRow(const Entry& entry, const Scalar* columns) {
  Scalar x[W];
  unrolled<W>([&](int j) { x[j] = entry(j); });
  unrolled<W>([&](int k) {
    const Scalar inverse = columns[k * W + k];
    x[k] *= inverse;
    subtractAfter(k, x[k] * inverse, columns + k * W, x);
  });
  unrolled<W>([&](int j) { entry(j) = x[j]; });
}

/// A_IJ -= L_IK L_JK^T for the rows I from `first` on, the columns J of the panel, `width` of them,
/// and the columns K before it, in scratch memory by a team of `Lanes` lanes.
template <int Lanes, class Member, class Scalar>
KOKKOS_INLINE_FUNCTION void updateInScratch(const Member& member, int n, Scalar* packed, int first,
                                            int width) {
  // Rows past the last one repeat it and are not stored.
  const auto row = [&](int i) { return packed + packedRow(i < n ? i : n - 1); };
  const auto subtract = [&](int i, int j, Scalar sum) {
    if (i < n && j <= i && j < first + width)
      packed[packedRow(i) + j] -= sum;
  };
  const TeamLanes<Member> team{member, Lanes};
  if constexpr (compat::MatrixUnit<Scalar>::exists) {
    const int lane = member.team_rank() * panel_width + laneOf<panel_width>(member);
    for (int i = first; i < n; i += tileRows(Lanes)) {
      UnitTile<Scalar> tile(lane);
      if (i + member.team_rank() * tileRows(panel_width) >= n)
        continue;
      tile.add(
          first, [&](int r) { return row(i + r); }, [&](int c) { return row(first + c); });
      tile.forEach([&](int r, int c, Scalar sum) { subtract(i + r, first + c, sum); });
    }
    team.join();
  } else {
    const int tile_columns = (width + tile_size - 1) / tile_size;
    const int tile_rows = (n - first + tile_size - 1) / tile_size;
    team.forEach(tile_rows * tile_columns, [&](const int tile) {
      const int i = first + tile / tile_columns * tile_size;
      const int j = first + tile % tile_columns * tile_size;
      if (j > i)
        return;
      const Scalar *left[tile_size], *right[tile_size];
      unrolled<tile_size>([&](int r) {
        left[r] = row(i + r);
        right[r] = row(j + r);
      });
      Scalar sum[tile_size][tile_size] = {};
      unrolledBy<4, int>(0, first, 1, [&](int k) {
        unrolled<tile_size>([&](int r) {
          unrolled<tile_size>([&](int c) { sum[r][c] += left[r][k] * right[c][k]; });
        });
      });
      unrolled<tile_size>(
          [&](int r) { unrolled<tile_size>([&](int c) { subtract(i + r, j + c, sum[r][c]); }); });
    });
  }
}

/// Factors a matrix in scratch memory by a team of vector length panel_width, left-looking. For one
/// panel J of columns after the other, I being the rows from J on and K the columns before J:
///   A_IJ -= L_IK L_JK^T  in tiles;  L_JJ by one thread;  L_IJ = A_IJ L_JJ^-T, a row a lane.
/// `columns` is room for panel_width^2 scalars, aligned for Pack.
template <int Lanes, class Member, class Scalar>
KOKKOS_INLINE_FUNCTION int factorInScratch(const Member& member, int n, Scalar* packed,
                                           Scalar* columns) {
  const TeamLanes<Member> team{member, Lanes};
  for (int first = 0; first < n; first += panel_width) {
    const int width = n - first < panel_width ? n - first : panel_width;
    if (first > 0)
      updateInScratch<Lanes>(member, n, packed, first, width);
    int bad = 0;
    if (member.team_rank() == 0)
      bad = factorRows<panel_width, panel_width>(
          member, width,
          [&](int i, int j) -> Scalar& { return packed[packedRow(first + i) + first + j]; },
          columns);
    member.team_broadcast(bad, 0);
    if (bad > 0)
      return first + bad;
    const int below = first + panel_width;
    if (below < n)
      team.forEach(n - below, [&](const int i) {
        Scalar* row = packed + packedRow(below + i) + first;
        solveRow<panel_width>([&](int j) -> Scalar& { return row[j]; }, columns);
      });
  }
  return 0;
}

/// g = L^-T e_n by the lanes of one thread, backwards in blocks of rows i that every lane solves:
///   g_i = (delta_in - s_i) / L_ii,  then  s_k += L_ik g_i for all k before the block,
/// where s_k lies in the place of g_k until it is known. Expects 1 / L_ii on the diagonal.
template <class Lanes, class Scalar>
KOKKOS_INLINE_FUNCTION void solveLast(const Lanes& lanes, int n, const Scalar* packed, Scalar* g) {
  using Index = std::int64_t;
  constexpr int block = 8;
  lanes.forEach(n, [&](const int k) { g[k] = k == n - 1 ? Scalar(-1) : Scalar(0); });
  for (int begin = (n - 1) / block * block; begin >= 0; begin -= block) {
    const Scalar* rows[block];
    Scalar x[block];
    unrolled<block>([&](int r) {
      rows[r] = packed + packedRow(Index(begin + r < n ? begin + r : n - 1));
      x[r] = begin + r < n ? -g[begin + r] : Scalar(0);
    });
    unrolled<block>([&](int before) {
      const int r = block - 1 - before;
      if (begin + r < n) {
        unrolled<block>([&](int after) {
          const int q = block - 1 - after;
          if (q > r)
            x[r] -= rows[q][begin + r] * x[q];
        });
        x[r] *= rows[r][begin + r];
      }
    });
    lanes.join();
    lanes.forEach(begin + block < n ? begin + block : n, [&](const int k) {
      if (k < begin) {
        Scalar sum = g[k];
        unrolled<block>([&](int r) { sum += rows[r][k] * x[r]; });
        g[k] = sum;
      } else {
        unrolled<block>([&](int r) {
          if (k == begin + r)
            g[k] = x[r];
        });
      }
    });
  }
}

/// L_ii in the place of 1 / L_ii for the first `n` rows.
template <class Group, class Scalar>
KOKKOS_INLINE_FUNCTION void restoreDiagonal(const Group& group, int n, Scalar* packed) {
  group.forEach(n, [&](const int i) {
    Scalar& diagonal = packed[packedRow(std::int64_t(i)) + i];
    diagonal = Scalar(1) / diagonal;
  });
}

} // namespace detail
} // namespace ainvil
