// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_Arnoldi.hpp"

#include <cmath>

namespace ainvil {
namespace detail {

void ArnoldiLeastSquares::start(double negligible) {
  negligible_ = negligible;
  column_norm_ = 0;
}

void ArnoldiLeastSquares::startCycle(int capacity) {
  capacity_ = capacity;
  exhausted_ = singular_ = failed_ = false;
  h_.assign(size_t(capacity) * (capacity + 1), 0);
  r_.assign(size_t(capacity) * (capacity + 1), 0);
  cos_.assign(capacity, 1);
  sin_.assign(capacity, 0);
  g_.assign(capacity + 1, 0);
  residuals_.clear();
  residuals_.reserve(capacity + 1);
}

void ArnoldiLeastSquares::add(int j, const ArnoldiRecord& record) {
  close(j, record);
  if (!exhausted_ && !failed_)
    open(j, record);
}

void ArnoldiLeastSquares::close(int j, const ArnoldiRecord& record) {
  if (exhausted_ || failed_)
    return;
  if (!std::isfinite(record.dotU(j))) {
    failed_ = true;
    return;
  }
  const double rho = record.inverseNorm() > 0 ? 1 / record.inverseNorm() : 0;
  if (residuals_.empty()) { // u is the residual the cycle starts from
    residuals_.push_back(rho);
    g_[0] = rho;
  }
  if (columns() == j)
    return;

  const int column = j - 1;
  double norm = 0;
  for (int c = 0; c < j; ++c) {
    h(c, column) += eta_ * record.dotU(c);
    norm = std::hypot(norm, h(c, column));
  }
  h(j, column) = eta_ * rho;
  norm = std::hypot(norm, h(j, column));
  if (!std::isfinite(norm)) {
    failed_ = true;
    return;
  }
  column_norm_ = std::fmax(column_norm_, norm);
  exhausted_ = h(j, column) <= negligible_ * norm || norm <= negligible_ * column_norm_;
  if (exhausted_)
    h(j, column) = 0;
  const double pivot = rotateColumn(column);
  if (exhausted_ && std::abs(pivot) <= negligible_ * column_norm_) {
    singular_ = true;
    return;
  }
  const double length = std::hypot(pivot, h(j, column));
  cos_[column] = pivot / length;
  sin_[column] = h(j, column) / length;
  r(column, column) = length;
  g_[j] = -sin_[column] * g_[column];
  g_[column] *= cos_[column];
  residuals_.push_back(std::abs(g_[j]));
}

void ArnoldiLeastSquares::open(int j, const ArnoldiRecord& record) {
  double norm_squared = 0;
  for (int c = 0; c <= j; ++c) {
    double sum = c < j ? record.dotZ(c) : record.dotNew();
    for (int k = c > 0 ? c - 1 : 0; k < j; ++k)
      sum -= h(c, k) * record.dotU(k);
    h(c, j) = sum * record.inverseNorm();
    norm_squared += h(c, j) * h(c, j);
  }
  eta_ = record.scale() > 0 ? record.inverseNorm() / record.scale() : 0;
  failed_ = !std::isfinite(record.dotZ(j + 1)) || !std::isfinite(eta_);
  const double pivot = rotateColumn(j);
  // eta comes from a difference of squares: where they cancel it may be anything below this.
  const bool uncertain = eta_ * eta_ <= negligible_ * (norm_squared + eta_ * eta_);
  predicted_ = uncertain ? 0 : std::abs(g_[j]) * eta_ / std::hypot(pivot, eta_);
}

/// Applies the rotations of the columns before j to column j of H, into R; returns the element that
/// the next rotation joins with the subdiagonal.
double ArnoldiLeastSquares::rotateColumn(int j) {
  double carry = h(0, j);
  for (int c = 0; c < j; ++c) {
    const double below = h(c + 1, j);
    r(c, j) = cos_[c] * carry + sin_[c] * below;
    carry = -sin_[c] * carry + cos_[c] * below;
  }
  return carry;
}

int ArnoldiLeastSquares::solve(int k, double* y) {
  if (solveTriangle(k, y))
    return k;
  singular_ = true;
  int good = 0, bad = k;
  while (bad - good > 1) {
    const int middle = (good + bad) / 2;
    (solveTriangle(middle, y) ? good : bad) = middle;
  }
  solveTriangle(good, y);
  return good;
}

/// Back substitution. False if y is so large that the rounding of A M V y hides the initial
/// residual.
bool ArnoldiLeastSquares::solveTriangle(int k, double* y) const {
  double norm = 0;
  for (int i = k - 1; i >= 0; --i) {
    double sum = g_[i];
    for (int j = i + 1; j < k; ++j)
      sum -= r(i, j) * y[j];
    y[i] = sum / r(i, i);
    norm = std::hypot(norm, y[i]);
  }
  return negligible_ * column_norm_ * norm <= residuals_[0];
}

} // namespace detail
} // namespace ainvil
