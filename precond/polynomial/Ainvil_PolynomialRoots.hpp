// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The small dense part of a residual polynomial, which runs on the host: from the Hessenberg
/// matrix of an Arnoldi process to roots in the order in which they are applied.

#include <complex>
#include <cstddef>
#include <vector>

namespace ainvil {
namespace detail {

/// H of C V_k = V_{k+1} H, V_{k+1} orthonormal: k + 1 rows, k columns, zeros below the first
/// subdiagonal.
class Hessenberg {
public:
  explicit Hessenberg(int columns)
      : columns_(columns), values_(std::size_t(columns + 1) * std::size_t(columns)) {}

  int columns() const { return columns_; }
  double& operator()(int row, int column) { return values_[position(row, column)]; }
  double operator()(int row, int column) const { return values_[position(row, column)]; }
  const double* data() const { return values_.data(); } ///< by columns
  /// Forgets the columns behind the first ones.
  Hessenberg leading(int columns) const;

private:
  std::size_t position(int row, int column) const {
    return std::size_t(column) * std::size_t(columns_ + 1) + std::size_t(row);
  }

  int columns_;
  std::vector<double> values_;
};

/// ||r_k|| / ||r_0|| of GMRES after k = 0, 1, ..., h.columns() steps.
std::vector<double> gmresResiduals(const Hessenberg& h);

/// Roots of real polynomials. Of a pair of conjugate ones only that above the real axis is listed.
using Roots = std::vector<std::complex<double>>;

/// How many roots there are, both of each pair counted.
int degreeOf(const Roots& roots);

/// The finite roots of the residual polynomial of GMRES after all columns of h: the harmonic Ritz
/// values, eigenvalues of R y = theta Q^T y, where H = [Q; q^T] R with orthonormal [Q; q^T]. A
/// singular Q, where GMRES makes no progress in its last step, has a root at infinity, which is no
/// root. With `real` the roots are known to be real. Empty if there are none, if one of them is
/// zero to rounding, or if the algorithm for eigenvalues fails.
Roots harmonicRitzValues(const Hessenberg& h, bool real);

/// log10 of the product of |1 - theta / theta_j| over all roots theta_j but theta = roots[k]
/// itself.
double productOfOthers(const Roots& roots, std::size_t k);

/// Adds copies of the roots at which the product of the other factors is so large that the error of
/// the root, relative 10^-digits, matters: one from 10^4 on, one more each 10^digits.
void addCopies(Roots& roots, int digits);

/// The order of Leja, modified: the first root is the largest, and each one after it has the
/// largest product of distances to those before it. A copy counts as 1e-8 of its size away.
Roots inLejaOrder(Roots roots);

/// True if all are real and positive.
bool arePositive(const Roots& roots);

/// The one of largest size.
std::complex<double> largestOf(const Roots& roots);

/// True if prod over i of (1 - t / theta_i) < 1 for all t > 0, which an odd number of positive
/// roots may give; tested at 32 points between neighbouring roots.
bool isBelowOne(const Roots& roots);

} // namespace detail
} // namespace ainvil
