// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// S = X Y^T for the rows X of a block and the rows Y of a panel, by the lanes of a team. Lane l of
/// the team holds some entries of S in registers:
///   add(count, x, y)  adds the products of `count` columns, a multiple of 16; x(r) points to the
///                     first of them in row r of X, y(c) in row c of Y. Called by whole warps;
///   forEach(f)        calls f(r, c, s_rc) for the entries that the lane holds.

#include "backend/Ainvil_Lanes.hpp"

#include <type_traits>

namespace ainvil {
namespace detail {

/// Rows of Y, and vector lanes of a thread.
constexpr int panel_width = 32;
/// What a lane holds without a matrix unit: as many rows and columns.
constexpr int tile_size = 4;

/// Rows of X that a team of as many lanes has in hand.
KOKKOS_INLINE_FUNCTION constexpr int tileRows(int lanes) {
  return lanes * tile_size * tile_size / panel_width;
}

/// A lane holds every `row_step`-th row and every `column_step`-th column.
template <int Lanes, class Scalar>
class LaneTile {
public:
  KOKKOS_INLINE_FUNCTION explicit LaneTile(int lane)
      : row_(lane / column_step), column_(lane % column_step) {}

  template <class X, class Y>
  KOKKOS_INLINE_FUNCTION void add(int count, const X& x, const Y& y) {
    const Scalar *left[tile_size], *right[tile_size];
    unrolled<tile_size>([&](int i) {
      left[i] = x(row_ + i * row_step);
      right[i] = y(column_ + i * column_step);
    });
    unrolledBy<8, int>(0, count, 1, [&](int k) {
      unrolled<tile_size>([&](int r) {
        unrolled<tile_size>([&](int c) { sum_[r][c] += left[r][k] * right[c][k]; });
      });
    });
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(const F& f) const {
    unrolled<tile_size>([&](int r) {
      unrolled<tile_size>(
          [&](int c) { f(row_ + r * row_step, column_ + c * column_step, sum_[r][c]); });
    });
  }

private:
  static constexpr int row_step = tileRows(Lanes) / tile_size;
  static constexpr int column_step = panel_width / tile_size;

  int row_, column_;
  Scalar sum_[tile_size][tile_size] = {};
};

/// A thread holds 16 rows of all columns, as compat::MatrixUnit spreads them. That takes a fifth of
/// the loads from scratch memory that LaneTile does. Any four columns may go together; taking every
/// fourth, eight rows that lie at odd distances, or packed, are in different banks.
template <class Scalar>
class UnitTile {
public:
  KOKKOS_INLINE_FUNCTION explicit UnitTile(int lane)
      : row_(lane / panel_width * (rows * unit) + lane % panel_width / 4), part_(lane % 4) {}

  template <class X, class Y>
  KOKKOS_INLINE_FUNCTION void add(int count, const X& x, const Y& y) {
    const Scalar *left[rows], *right[columns];
    unrolled<rows>([&](int r) { left[r] = x(row_ + r * unit) + 4 * part_; });
    unrolled<columns>([&](int c) { right[c] = y(row_ % unit + c * unit) + 4 * part_; });
    for (int k = 0; k < count; k += 16)
      unrolled<4>([&](int m) {
        Scalar a[rows], b[columns];
        unrolled<rows>([&](int r) { a[r] = left[r][k + m]; });
        unrolled<columns>([&](int c) { b[c] = right[c][k + m]; });
        unrolled<rows>([&](int r) {
          unrolled<columns>(
              [&](int c) { compat::MatrixUnit<Scalar>::multiplyAdd(a[r], b[c], sum_[r][c]); });
        });
      });
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(const F& f) const {
    unrolled<rows>([&](int r) {
      unrolled<columns>([&](int c) {
        unrolled<2>([&](int h) { f(row_ + r * unit, c * unit + 2 * part_ + h, sum_[r][c][h]); });
      });
    });
  }

private:
  static constexpr int unit = 8; ///< rows and columns of the matrix unit
  static constexpr int rows = tileRows(panel_width) / unit, columns = panel_width / unit;

  int row_, part_;
  Scalar sum_[rows][columns][2] = {};
};

template <int Lanes, class Scalar>
using TeamTile = std::conditional_t<compat::MatrixUnit<Scalar>::exists, UnitTile<Scalar>,
                                    LaneTile<Lanes, Scalar>>;

} // namespace detail
} // namespace ainvil
