// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Scaling.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace ainvil;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// A square block matrix with a full diagonal and some more blocks in each row, descending columns.
/// The magnitudes of its values span twelve decades.
template <class Scalar>
BsrMatrix<Scalar, HostDevice> randomMatrix(Ordinal rows, int block_size) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-6, 6);
  std::vector<Offset> row_map{0};
  std::vector<Ordinal> entries;
  for (Ordinal i = 0; i < rows; ++i) {
    for (Ordinal j = rows; j-- > 0;)
      if (j == i || random() % 20 == 0)
        entries.push_back(j);
    row_map.push_back(static_cast<Offset>(entries.size()));
  }
  const Kokkos::View<Offset*, HostDevice> map("Test::row_map", row_map.size());
  std::copy(row_map.begin(), row_map.end(), map.data());
  const Kokkos::View<Ordinal*, HostDevice> columns("Test::entries", entries.size());
  std::copy(entries.begin(), entries.end(), columns.data());
  const Kokkos::View<Scalar*, HostDevice> values("Test::values",
                                                 entries.size() * block_size * block_size);
  for (size_t k = 0; k < values.extent(0); ++k)
    values(k) = static_cast<Scalar>((random() % 2 ? 1 : -1) * std::pow(10, exponent(random)));
  return {Graph<HostDevice>(rows, rows, map, columns), values, block_size};
}

/// Calls visit(point row, point column, position in the values).
template <class Scalar, class Visit>
void forEachValue(const BsrMatrix<Scalar, HostDevice>& a, const Visit& visit) {
  const int bs = a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          visit(size_t(i) * bs + r, size_t(a.graph.entries(e)) * bs + c, (e * bs + r) * bs + c);
}

template <class Scalar>
std::vector<double> referenceFactors(const BsrMatrix<Scalar, HostDevice>& a, ScalingRule rule) {
  std::vector<double> d(a.numPointRows());
  forEachValue(a, [&](size_t i, size_t j, Offset at) {
    const double value = a.values(at);
    if (rule == ScalingRule::ColumnNorm)
      d[j] = std::hypot(d[j], value);
    else if (i == j)
      d[i] = std::abs(value);
  });
  for (double& d_i : d)
    d_i = 1 / std::sqrt(d_i);
  return d;
}

template <class Scalar>
void compareWithReference(int block_size) {
  const double tolerance = 64 * std::numeric_limits<Scalar>::epsilon();
  const auto a = randomMatrix<Scalar>(123, block_size);
  const auto device_a = copyTo<Device>(a);
  for (const ScalingRule rule : {ScalingRule::Diagonal, ScalingRule::ColumnNorm}) {
    SCOPED_TRACE(testing::Message() << "block size " << block_size << ", rule " << int(rule));
    const Exec exec;
    const auto device_s = scalingFactors(exec, device_a, rule);
    const auto scaled_a = copyTo<HostDevice>(scaled(exec, device_s, device_a));
    const auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device_s);
    const std::vector<double> expected = referenceFactors(a, rule);
    ASSERT_EQ(s.extent(0), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(s(i) / expected[i], 1, tolerance);
    forEachValue(a, [&](size_t i, size_t j, Offset at) {
      ASSERT_NEAR(scaled_a.values(at) / (a.values(at) * expected[i] * expected[j]), 1, tolerance);
      if (rule == ScalingRule::Diagonal && i == j) {
        ASSERT_NEAR(std::abs(scaled_a.values(at)), 1, tolerance);
      }
    });
  }
}

TEST(Scaling, equalsReference) {
  for (const int block_size : {1, 2, 3, 9}) {
    compareWithReference<double>(block_size);
    compareWithReference<float>(block_size);
  }
}

TEST(Scaling, runsOnTheHostDeviceToo) {
  const auto a = randomMatrix<double>(33, 3);
  const HostDevice::execution_space exec;
  const auto s = scalingFactors(exec, a, ScalingRule::ColumnNorm);
  exec.fence();
  const std::vector<double> expected = referenceFactors(a, ScalingRule::ColumnNorm);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(s(i) / expected[i], 1, 1e-14);
}

TEST(Scaling, columnNormsNeitherOverflowNorUnderflow) {
  for (const double magnitude : {1e200, 1e-200}) {
    const auto a = randomMatrix<double>(40, 2);
    for (size_t k = 0; k < a.values.extent(0); ++k)
      a.values(k) = magnitude;
    const Exec exec;
    const auto device_s = scalingFactors(exec, copyTo<Device>(a), ScalingRule::ColumnNorm);
    const auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device_s);
    const std::vector<double> expected = referenceFactors(a, ScalingRule::ColumnNorm);
    for (size_t i = 0; i < s.extent(0); ++i)
      ASSERT_NEAR(s(i) / expected[i], 1, 1e-14);
  }
}

TEST(Scaling, mapsTheSolution) {
  // With A x = b and (S A S) y = S b, x = S y.
  const auto a = randomMatrix<double>(50, 3);
  const Exec exec;
  const auto device_a = copyTo<Device>(a);
  const auto s = scalingFactors(exec, device_a, ScalingRule::ColumnNorm);
  const auto scaled_a = scaled(exec, s, device_a);
  const size_t n = s.extent(0);
  const Vector<double, Device> y("Test::y", n), x("Test::x", n), ax("Test::ax", n),
      say("Test::say", n);
  Kokkos::deep_copy(exec, y, 1.0);
  Kokkos::deep_copy(exec, x, y);
  scale<double, Device>(exec, s, x);
  spmv<double, double, Device>(exec, Trans::No, 1.0, device_a, x, 0.0, ax);
  scale<double, Device>(exec, s, ax);
  spmv<double, double, Device>(exec, Trans::No, 1.0, scaled_a, y, 0.0, say);
  exec.fence();
  const auto left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ax);
  const auto right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), say);
  double largest = 0;
  for (size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::abs(right(i)));
  for (size_t i = 0; i < n; ++i)
    ASSERT_NEAR(left(i), right(i), 1e-13 * largest);
}

TEST(Scaling, leavesTheMatrixAlone) {
  const auto a = randomMatrix<double>(20, 2);
  const auto device_a = copyTo<Device>(a);
  const std::vector<double> before(a.values.data(), a.values.data() + a.values.extent(0));
  const Exec exec;
  const auto s = scalingFactors(exec, device_a, ScalingRule::Diagonal);
  const auto b = scaled(exec, s, device_a);
  exec.fence();
  EXPECT_NE(b.values.data(), device_a.values.data());
  EXPECT_EQ(b.graph.entries.data(), device_a.graph.entries.data());
  const auto after = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device_a.values);
  for (size_t k = 0; k < before.size(); ++k)
    ASSERT_EQ(before[k], after(k));
}

/// The message of the InvalidArgument that an action throws.
template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception";
  return {};
}

TEST(Scaling, refusesWhatCannotBeScaledAndNamesTheRow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Exec exec;
  for (const double bad : {0.0, nan, infinity}) {
    const auto a = randomMatrix<double>(30, 2);
    forEachValue(a, [&](size_t i, size_t j, Offset at) {
      if (i == j && (i == 41 || i == 57))
        a.values(at) = bad;
    });
    const std::string text =
        refusal([&] { scalingFactors(exec, copyTo<Device>(a), ScalingRule::Diagonal); });
    EXPECT_NE(text.find("diagonal entry of row 42 (counted from 1) is "), std::string::npos)
        << text;
    forEachValue(a, [&](size_t, size_t j, Offset at) {
      if (j == 41)
        a.values(at) = bad;
    });
    const std::string norm_text =
        refusal([&] { scalingFactors(exec, copyTo<Device>(a), ScalingRule::ColumnNorm); });
    EXPECT_NE(norm_text.find("norm of column 42 (counted from 1) is "), std::string::npos)
        << norm_text;
  }
}

TEST(Scaling, namesTheWorstEntryOfAColumnWhereverItStands) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    std::vector<double> column;
    std::string norm;
  } cases[] = {{{0, 0, 0}, "0"},
               {{nan, 0, 0}, "nan"},
               {{0, nan, 0}, "nan"},
               {{0, 0, nan}, "nan"},
               {{nan, 1, 2}, "nan"},
               {{2, nan, 1}, "nan"},
               {{1, 2, nan}, "nan"},
               {{infinity, 0, 0}, "inf"},
               {{1, -infinity, 2}, "inf"},
               {{nan, infinity, 1}, "nan"},
               {{infinity, nan, 1}, "nan"},
               {{1, infinity, nan}, "nan"}};
  const Exec exec;
  for (const int block_size : {1, 3})
    for (const auto& c : cases) {
      const Ordinal rows = 3 / block_size;
      const Kokkos::View<Offset*, HostDevice> map("Test::row_map", size_t(rows) + 1);
      const Kokkos::View<Ordinal*, HostDevice> columns("Test::entries", size_t(rows) * rows);
      const Kokkos::View<double*, HostDevice> values("Test::values", 9);
      for (Ordinal i = 0; i < rows; ++i) {
        map(i + 1) = Offset(i + 1) * rows;
        for (Ordinal j = 0; j < rows; ++j)
          columns(Offset(i) * rows + j) = j;
      }
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
          values(3 * i + j) = j == 1 ? c.column[i] : 1;
      const BsrMatrix<double, HostDevice> a = {Graph<HostDevice>(rows, rows, map, columns), values,
                                               block_size};
      EXPECT_NE(refusal([&] {
                  scalingFactors(exec, copyTo<Device>(a), ScalingRule::ColumnNorm);
                }).find("the norm of column 2 (counted from 1) is " + c.norm + ","),
                std::string::npos)
          << testing::PrintToString(c.column) << " with block size " << block_size;
    }
}

TEST(Scaling, refusesWrongShapes) {
  const Exec exec;
  const auto a = copyTo<Device>(randomMatrix<double>(10, 1));
  BsrMatrix<double, Device> wide = a;
  wide.graph.num_cols = 11;
  EXPECT_THROW(scalingFactors(exec, wide, ScalingRule::Diagonal), InvalidArgument);
  const Vector<double, Device> x("Test::x", 10);
  for (const size_t n : {9, 11}) {
    const Vector<double, Device> s("Test::s", n);
    EXPECT_THROW(scaled(exec, s, a), InvalidArgument) << n;
    EXPECT_THROW((scale<double, Device>(exec, s, x)), InvalidArgument) << n;
  }
  EXPECT_THROW(scaled(exec, x, wide), InvalidArgument);
}

/// A NaN below zeros is told as one, not as a norm of 0.
TEST(Scaling, TellsColumnsOfNaNFromColumnsOfZeros) {
  const Exec exec;
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    const auto a = randomMatrix<double>(30, 2);
    Offset last = -1;
    forEachValue(a, [&](size_t, size_t j, Offset at) {
      if (j == 41) {
        a.values(at) = 0;
        last = at;
      }
    });
    a.values(last) = bad;
    const std::string text =
        refusal([&] { scalingFactors(exec, copyTo<Device>(a), ScalingRule::ColumnNorm); });
    EXPECT_NE(text.find(std::isnan(bad) ? "column 42 (counted from 1) is nan"
                                        : "column 42 (counted from 1) is 0"),
              std::string::npos)
        << text;
  }
}

TEST(Scaling, takesAnEmptyMatrix) {
  const Exec exec;
  const auto a = copyTo<Device>(randomMatrix<double>(0, 1));
  for (const ScalingRule rule : {ScalingRule::Diagonal, ScalingRule::ColumnNorm}) {
    const auto s = scalingFactors(exec, a, rule);
    EXPECT_EQ(s.extent(0), 0u);
    EXPECT_EQ(scaled(exec, s, a).numRows(), 0);
  }
}

} // namespace
