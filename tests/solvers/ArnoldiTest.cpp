// SPDX-License-Identifier: BSD-3-Clause
/// The least-squares problem of GMRES, from records of an Arnoldi process that rounds nothing.
#include "krylov/Ainvil_Arnoldi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ainvil {
namespace test {
namespace {

using detail::ArnoldiLeastSquares;
using detail::ArnoldiRecord;
using Doubles = std::vector<double>;

/// H = Q [R; 0] with rotations of 45 degrees, so that every column halves the squared residual. R
/// has `diagonal` in all rows and 1 to the right of it: y grows by 1 / diagonal a column.
class Arnoldi : public ::testing::Test {
protected:
  static constexpr int capacity = 8;
  static constexpr double negligible = 1e-8;
  const double turn = std::sqrt(0.5);

  /// Column j of H.
  Doubles column(int j, double diagonal) const {
    Doubles h(j + 2, 0.0);
    if (j > 0)
      h[j - 1] = 1;
    h[j] = diagonal;
    for (int i = j; i >= 0; --i) { // undoes the rotation of rows i and i + 1
      const double upper = h[i], lower = h[i + 1];
      h[i] = turn * (upper - lower);
      h[i + 1] = turn * (upper + lower);
    }
    return h;
  }

  /// Adds the steps 0, ..., columns - 1 for a candidate of norm `beta`, then closes the last
  /// column.
  void add(const std::vector<Doubles>& h, double beta) {
    least_squares_.start(negligible);
    least_squares_.startCycle(capacity);
    predicted_.clear();
    double rho = beta;
    for (int j = 0; j <= int(h.size()); ++j) {
      const ArnoldiRecord record = next(rho);
      record.dotU(j) = rho * rho;
      if (j == int(h.size())) {
        least_squares_.close(j, record);
        return;
      }
      double zz = 0;
      for (int c = 0; c < j; ++c)
        record.dotZ(c) = rho * h[j][c];
      for (const double value : h[j])
        zz += rho * rho * value * value;
      record.dotZ(j) = rho * rho * h[j][j];
      record.dotZ(j + 1) = zz;
      record.dotNew() = rho * h[j][j];
      record.scale() = 1 / (rho * h[j][j + 1]);
      least_squares_.add(j, record);
      predicted_.push_back(least_squares_.predictedResidual());
      rho = 1;
    }
  }

  ArnoldiRecord next(double rho) {
    data_.assign(detail::ArnoldiStep::sizeFor(capacity, 1), 0.0);
    const ArnoldiRecord record = detail::ArnoldiStep::at(data_.data(), capacity, 1).record(0);
    record.inverseNorm() = 1 / rho;
    return record;
  }

  ArnoldiLeastSquares least_squares_;
  Doubles data_, predicted_;
};

TEST_F(Arnoldi, ResidualsAndTheirPredictionsAreThoseOfH) {
  std::vector<Doubles> h;
  for (int j = 0; j < 6; ++j)
    h.push_back(column(j, 2));
  add(h, 3);
  ASSERT_EQ(least_squares_.columns(), 6);
  for (int k = 0; k <= 6; ++k)
    EXPECT_NEAR(least_squares_.residual(k), 3 * std::pow(turn, k), 1e-14) << k;
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(predicted_[k], least_squares_.residual(k + 1), 1e-14) << k;
  Doubles y(6);
  EXPECT_EQ(least_squares_.solve(6, y.data()), 6);
  EXPECT_FALSE(least_squares_.singular() || least_squares_.exhausted() || least_squares_.failed());
  for (int i = 0; i < 6; ++i) // R y = g, which the rotations make of (3, 0, 0, ...)
    EXPECT_NEAR(2 * y[i] + (i < 5 ? y[i + 1] : 0),
                3 * turn * (i % 2 == 0 ? 1 : -1) * std::pow(turn, i), 1e-14);
}

/// y of 4 columns has a norm of 2.5e7, of 5 one of 1.8e9: more than the 1e8 at which its rounding
/// hides the residual of 1.
TEST_F(Arnoldi, LeavesOutColumnsWhoseSolutionIsTooLarge) {
  for (int columns = 1; columns <= 8; ++columns) {
    std::vector<Doubles> h;
    for (int j = 0; j < columns; ++j)
      h.push_back(column(j, 0.01));
    add(h, 1);
    ASSERT_EQ(least_squares_.columns(), columns);
    Doubles y(columns, -1);
    EXPECT_EQ(least_squares_.solve(columns, y.data()), std::min(columns, 4)) << columns;
    EXPECT_EQ(least_squares_.singular(), columns > 4) << columns;
    Doubles of_four(4);
    EXPECT_EQ(least_squares_.solve(std::min(columns, 4), of_four.data()), std::min(columns, 4));
    for (int i = 0; i < std::min(columns, 4); ++i)
      EXPECT_EQ(y[i], of_four[i]);
  }
}

/// Of a subdiagonal whose square is below the rounding of the sum that it comes from, nothing is
/// certain.
TEST_F(Arnoldi, PredictsNothingFromACancelledNorm) {
  for (const double below : {0.5e-4, 0.9e-4, 1.1e-4, 1e-3}) {
    add({{1.0, below}}, 1);
    EXPECT_FALSE(least_squares_.exhausted());
    EXPECT_NEAR(predicted_[0], below < 1e-4 ? 0 : below, 1e-6) << below;
    EXPECT_NEAR(least_squares_.residual(1), below, 1e-6) << below;
  }
}

} // namespace
} // namespace test
} // namespace ainvil
