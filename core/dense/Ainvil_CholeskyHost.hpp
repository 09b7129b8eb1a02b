// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation of one matrix by one core of a host; see Ainvil_CholeskyKernels.hpp for
/// storage and return values.

#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_CholeskyKernels.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// L_ij = (A_ij - sum over k < j of L_ik L_jk) / L_jj for j < i,  L_ii = sqrt(the same),
/// for the columns j of one panel after the other, within it for one block of rows i after the
/// other. A block is held by columns, x_k = (L_ik for all i of the block), so that the rows are
/// independent lanes and compilers vectorise without leave to reorder:
///   x_j = (x_j - sum over k < j of L_jk x_k) / L_jj,  L_jk a scalar.
/// Where it is told in which column each row begins, the zeros before are left out (George and Liu,
/// Computer Solution of Large Sparse Positive Definite Systems (1981), chapter 4).
template <class Scalar>
class HostCholesky {
public:
  /// Row i begins in column starts[i], with zeros in `packed` before, or is full if `starts` is
  /// null. All rows of a block are made to begin in the first of these columns, at a multiple of
  /// the tile.
  HostCholesky(int n, Scalar* packed, int* starts = nullptr)
      : n_(n), packed_(packed), starts_(starts) {
    for (int begin = 0; starts != nullptr && begin < n; begin += lanes) {
      int* const end = starts + std::min(n, begin + lanes);
      const int start = *std::min_element(starts + begin, end) / tile * tile;
      std::fill(starts + begin, end, start);
    }
  }

  int factor() {
    for (int first = 0; first < n_; first += panel)
      for (int begin = first; begin < n_; begin += lanes) {
        const int bad = factorBlock(first, begin);
        if (bad > 0)
          return bad;
      }
    return 0;
  }

private:
  using Index = std::int64_t;
  using Simd = compat::Simd<Scalar>;

  /// Rows of a block, that is of a column in registers.
  static constexpr int lanes = 2 * sizeof(Simd) / sizeof(Scalar);
  /// Columns that are updated together; with the two registers of each they leave room for more.
  static constexpr int tile = 4;
  /// Columns of a panel. Two panels' columns of a block (see block_ and earlier_) take 16 KiB with
  /// vectors of 32 bytes and 32 KiB with those of 64, about what a first-level cache holds.
  static constexpr int panel = 128;
  static_assert(lanes % tile == 0 && panel % lanes == 0, "blocks end where panels do");

  struct alignas(Simd) Column {
    Scalar lane[lanes];

    Simd& half(int h) { return reinterpret_cast<Simd*>(lane)[h]; }
    const Simd& half(int h) const { return reinterpret_cast<const Simd*>(lane)[h]; }
    void subtract(Scalar a, const Column& x) {
      half(0) -= a * x.half(0);
      half(1) -= a * x.half(1);
    }
    void scale(Scalar a) {
      half(0) = a * half(0);
      half(1) = a * half(1);
    }
  };

  /// Rows past the last one repeat it.
  Scalar* row(int i) const { return packed_ + packedRow(Index(i < n_ ? i : n_ - 1)); }

  /// Where row i of L begins.
  int start(int i) const { return starts_ == nullptr ? 0 : starts_[i < n_ ? i : n_ - 1]; }

  int factorBlock(int first, int begin) {
    const bool diagonal = begin < first + panel;
    const int before = diagonal ? begin - first : panel;
    const int columns = diagonal ? before + lanes : before;
    const int empty = std::min(std::max(start(begin) - first, 0), before); // columns of the panel
    load(begin, first, empty, before, block_);
    if (diagonal)
      loadTriangle(begin, block_ + before);
    for (int k = start(begin) / panel * panel; k < first; k += panel) {
      const int from = std::max(start(begin) - k, 0);
      load(begin, k, from, panel, earlier_);
      for (int j = empty; j < columns; j += tile)
        update(first + j, k, from, panel, earlier_, block_ + j);
    }
    for (int j = empty; j < before; j += tile) {
      update(first + j, first, empty, j, block_, block_ + j);
      solve(first + j, block_ + j);
    }
    store(begin, first, empty, before);
    if (!diagonal)
      return 0;
    // The rows just stored are those of L that the block's own triangle needs.
    for (int j = before; j < columns; j += tile)
      update(first + j, first, empty, before, block_, block_ + j);
    const int bad = factorTriangle(block_ + before, std::min(lanes, n_ - begin));
    storeTriangle(begin, block_ + before);
    return bad == 0 ? 0 : begin + bad;
  }

  /// The columns k + m, from <= m < end, of the rows from `begin` on, and back.
  void load(int begin, int k, int from, int end, Column* to) const {
    const Scalar* rows[lanes];
    for (int r = 0; r < lanes; ++r)
      rows[r] = row(begin + r) + k;
    for (int m = from; m < end; ++m)
      for (int r = 0; r < lanes; ++r)
        to[m].lane[r] = rows[r][m];
  }
  void store(int begin, int k, int from, int end) const {
    for (int r = 0; r < lanes && begin + r < n_; ++r) {
      Scalar* to = row(begin + r) + k;
      for (int m = from; m < end; ++m)
        to[m] = block_[m].lane[r];
    }
  }
  /// The same from column `begin` on, zeros outside of the triangle.
  void loadTriangle(int begin, Column* to) const {
    for (int r = 0; r < lanes; ++r) {
      const Scalar* from = row(begin + r) + begin;
      for (int c = 0; c < lanes; ++c)
        to[c].lane[r] = c <= r && begin + r < n_ ? from[c] : Scalar(0);
    }
  }
  void storeTriangle(int begin, const Column* from) const {
    for (int r = 0; r < lanes && begin + r < n_; ++r) {
      Scalar* to = row(begin + r) + begin;
      for (int c = 0; c <= r; ++c)
        to[c] = from[c].lane[r];
    }
  }

  /// y_c -= sum over from <= m < end of L_{j + c, k + m} x_m for c < tile.
  void update(int j, int k, int from, int end, const Column* x, Column* y) const {
    const Scalar* left[tile];
    Simd rest[tile][2];
    for (int c = 0; c < tile; ++c) {
      left[c] = row(j + c) + k;
      for (int h = 0; h < 2; ++h)
        rest[c][h] = y[c].half(h);
    }
    for (int m = std::max(from, start(j) - k); m < end; ++m) {
      const Simd x_m[2] = {x[m].half(0), x[m].half(1)};
      for (int c = 0; c < tile; ++c)
        for (int h = 0; h < 2; ++h)
          rest[c][h] -= left[c][m] * x_m[h];
    }
    for (int c = 0; c < tile; ++c)
      for (int h = 0; h < 2; ++h)
        y[c].half(h) = rest[c][h];
  }

  /// x <- x L^-T with the triangle of L from row and column j on, of a tile's size.
  void solve(int j, Column* x) const {
    for (int c = 0; c < tile; ++c) {
      const Scalar* left = row(j + c) + j;
      for (int k = 0; k < c; ++k)
        x[c].subtract(left[k], x[k]);
      x[c].scale(left[c]);
    }
  }

  static int factorTriangle(Column* x, int rows) {
    for (int c = 0; c < rows; ++c) {
      for (int k = 0; k < c; ++k)
        x[c].subtract(x[k].lane[c], x[k]);
      const Scalar pivot = x[c].lane[c];
      if (!isPivot(pivot))
        return c + 1;
      const Scalar inverse = compat::rsqrt(pivot);
      x[c].scale(inverse);
      x[c].lane[c] = inverse;
    }
    return 0;
  }

  const int n_;
  Scalar* const packed_;
  int* const starts_;
  Column block_[panel + lanes]; ///< the rows at hand, columns of the panel
  Column earlier_[panel];       ///< the same rows, columns of a panel before
};

template <class Scalar>
int factorOnHost(int n, Scalar* packed) {
  return HostCholesky<Scalar>(n, packed).factor();
}

} // namespace detail
} // namespace ainvil
