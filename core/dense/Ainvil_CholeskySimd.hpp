// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation of several small matrices at a time by one core of a host, a matrix a
/// lane of its vector registers; see Ainvil_CholeskyKernels.hpp for storage.

#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_CholeskyKernels.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// L_ij = (A_ij - sum over k < j of L_ik L_jk) / L_jj for j < i,  L_ii = sqrt(the same),
/// for packed matrices of one size whose entries (i, j) lie side by side. Rows are worked on in
/// groups of four, columns likewise. What row i and row j have before the first column of either is
/// zero, in A and in L, and left out (George and Liu, Computer Solution of Large Sparse Positive
/// Definite Systems (1981), chapter 4).
template <class Scalar>
class SimdCholesky {
public:
  using Pack = compat::Simd<Scalar>;                          ///< an entry of all matrices
  static constexpr int width = sizeof(Pack) / sizeof(Scalar); ///< matrices
  static constexpr int group = 4;                             ///< rows or columns

  /// For matrices of n rows, a multiple of the group; row i begins in column starts[i], with zeros
  /// in `packed` before. All rows of a group are made to begin in the first of these columns, at a
  /// multiple of the group.
  SimdCholesky(int n, Pack* packed, int* starts) : n_(n), packed_(packed), starts_(starts) {
    for (int g = 0; g < n; g += group) {
      const int start = *std::min_element(starts + g, starts + g + group) / group * group;
      std::fill(starts + g, starts + g + group, start);
    }
  }

  /// failed[m] <- 0, or the first row of matrix m, counted from 1, whose pivot is not a positive
  /// finite number. From there on its L is that of another matrix.
  void factor(int (&failed)[width]) {
    std::fill(failed, failed + width, 0);
    for (int g = 0; g < n_; g += group) {
      for (int i = g; i < g + group; i += 2)
        for (int j = starts_[g]; j < g; j += group)
          eliminate(i, j);
      factorGroup(g, failed);
    }
  }

private:
  Pack* row(int i) const { return packed_ + packedRow(std::int64_t(i)); }

  /// The columns j .. j + 3 of the rows i and i + 1 of L.
  void eliminate(int i, int j) const {
    Pack* const a[2] = {row(i), row(i + 1)};
    const Pack* const l[group] = {row(j), row(j + 1), row(j + 2), row(j + 3)};
    Pack x[2][group];
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < group; ++c)
        x[r][c] = a[r][j + c];
    for (int k = std::max(starts_[i], starts_[j]); k < j; ++k) {
      const Pack left[2] = {a[0][k], a[1][k]};
      for (int c = 0; c < group; ++c)
        for (int r = 0; r < 2; ++r)
          x[r][c] -= l[c][k] * left[r];
    }
    for (int c = 0; c < group; ++c)
      for (int r = 0; r < 2; ++r) {
        for (int k = 0; k < c; ++k)
          x[r][c] -= l[c][j + k] * x[r][k];
        a[r][j + c] = x[r][c] = l[c][j + c] * x[r][c];
      }
  }

  /// The triangle of L whose rows and columns are those of the group from g on.
  void factorGroup(int g, int (&failed)[width]) const {
    Pack* const a[group] = {row(g), row(g + 1), row(g + 2), row(g + 3)};
    Pack x[group][group];
    for (int r = 0; r < group; ++r)
      for (int c = 0; c <= r; ++c)
        x[r][c] = a[r][g + c];
    for (int k = starts_[g]; k < g; ++k)
      for (int r = 0; r < group; ++r)
        for (int c = 0; c <= r; ++c)
          x[r][c] -= a[r][k] * a[c][k];
    for (int c = 0; c < group; ++c) {
      for (int r = c; r < group; ++r)
        for (int k = 0; k < c; ++k)
          x[r][c] -= x[r][k] * x[c][k];
      const Pack inverse = inverseRoot(x[c][c], g + c + 1, failed);
      for (int r = c + 1; r < group; ++r)
        x[r][c] = inverse * x[r][c];
      x[c][c] = inverse;
    }
    for (int r = 0; r < group; ++r)
      for (int c = 0; c <= r; ++c)
        a[r][g + c] = x[r][c];
  }

  /// 1 / sqrt(pivots); 1 for those that are none.
  static Pack inverseRoot(const Pack& pivots, int row, int (&failed)[width]) {
    alignas(Pack) Scalar values[width];
    reinterpret_cast<Pack&>(values) = pivots;
    for (int m = 0; m < width; ++m) {
      const bool good = isPivot(values[m]);
      if (!good && failed[m] == 0)
        failed[m] = row;
      values[m] = good ? compat::rsqrt(values[m]) : Scalar(1);
    }
    return reinterpret_cast<const Pack&>(values);
  }

  const int n_;
  Pack* const packed_;
  int* const starts_;
};

} // namespace detail
} // namespace ainvil
