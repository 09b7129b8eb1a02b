// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/GraphSupport.hpp"
#include "graph/Ainvil_Symmetry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace ainvil;
using namespace ainvil::test;

template <class Scalar>
class Symmetry : public ::testing::Test {
protected:
  /// A full matrix s_i b_ij s_j as scaling computes it, with s from 0.01 to 100: mirror images
  /// differ in their last places.
  static BsrMatrix<Scalar, HostDevice> scaledMatrix(Ordinal n) {
    const Kokkos::View<Offset*, HostDevice> row_map("Test::row_map", size_t(n) + 1);
    const Kokkos::View<Ordinal*, HostDevice> entries("Test::entries", size_t(n) * n);
    const Kokkos::View<Scalar*, HostDevice> values("Test::values", size_t(n) * n);
    const auto s = [](Ordinal i) { return Scalar(std::pow(10.0, (i * 7 % 13 - 6) / 3.0)); };
    for (Ordinal i = 0; i < n; ++i) {
      row_map(i + 1) = Offset(i + 1) * n;
      for (Ordinal j = 0; j < n; ++j) {
        entries(i * n + j) = j;
        const Scalar b = i == j ? Scalar(1) : Scalar(1) / Scalar(1 + (i + j) % 5);
        const Scalar half = s(i) * b;
        values(i * n + j) = half * s(j);
      }
    }
    return {Graph<HostDevice>(n, n, row_map, entries), values, 1};
  }

  /// With room and without, with which few threads walk and search.
  static std::string refusalOf(const BsrMatrix<Scalar, HostDevice>& a) {
    const Kokkos::View<Offset*, Device> room("Test::room", size_t(a.numRows()));
    const std::string text = refusalWith(a, room);
    EXPECT_EQ(refusalWith(a, {}), text);
    return text;
  }

private:
  static std::string refusalWith(const BsrMatrix<Scalar, HostDevice>& a,
                                 const Kokkos::View<Offset*, Device>& room) {
    try {
      detail::requireSymmetric(Device::execution_space(), copyTo<Device>(a), "this", "do that",
                               room);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  }
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Symmetry, Scalars);

TYPED_TEST(Symmetry, LeavesTheLastPlacesToRounding) {
  const Ordinal n = 33;
  const auto a = this->scaledMatrix(n);
  int differ = 0;
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < i; ++j)
      differ += a.values(i * n + j) != a.values(j * n + i) ? 1 : 0;
  EXPECT_GT(differ, 0);
  EXPECT_EQ(this->refusalOf(a), "");
}

TYPED_TEST(Symmetry, HalfOfTheDigitsCount) {
  const Ordinal n = 33;
  const double root = std::sqrt(double(std::numeric_limits<TypeParam>::epsilon()));
  for (const double part : {0.5, 4.0}) {
    const auto a = this->scaledMatrix(n);
    a.values(7 * n + 3) +=
        TypeParam(part * root * std::sqrt(double(a.values(7 * n + 7)) * a.values(3 * n + 3)));
    const std::string text = this->refusalOf(a);
    if (part < 1) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_NE(text.find("this needs a symmetric matrix, but 2 blocks differ from their mirror "
                          "image, the first in block row 4 (counted from 1): do that"),
                std::string::npos)
          << text;
    }
  }
}

/// Without a diagonal entry there is only the entry itself to compare with.
TYPED_TEST(Symmetry, OfARowWithoutADiagonalIsRelativeToTheEntry) {
  const Ordinal n = 33;
  const auto a = this->scaledMatrix(n);
  a.values(7 * n + 7) = 0;
  TypeParam& entry = a.values(7 * n + 3);
  entry = std::nextafter(a.values(3 * n + 7), TypeParam(1e30));
  EXPECT_EQ(this->refusalOf(a), "");
  entry *= TypeParam(1.01);
  EXPECT_NE(this->refusalOf(a), "");
}

TYPED_TEST(Symmetry, NeedsBothImages) {
  const Ordinal n = 33;
  const auto a = this->scaledMatrix(n);
  a.values(7 * n + 3) = 0;
  EXPECT_NE(this->refusalOf(a).find("2 blocks"), std::string::npos);
}

/// An entry that is stored on one side of the diagonal only counts as long as it is not zero.
TYPED_TEST(Symmetry, OfEntriesWithoutAnImage) {
  // lower at (1, 0), upper at (0, 1), and alone at (2, 1) or, above the diagonal, at (1, 2).
  const auto refusal = [&](TypeParam lower, TypeParam upper, TypeParam alone, bool below) {
    const std::vector<Offset> row_map = {0, 2, below ? 4 : 5, 7, 9};
    const std::vector<Ordinal> entries = below ? std::vector<Ordinal>{0, 1, 0, 1, 1, 2, 3, 2, 3}
                                               : std::vector<Ordinal>{0, 1, 0, 1, 2, 2, 3, 2, 3};
    const std::vector<TypeParam> values = {4, upper, lower, 4, alone, 4, 1, 1, 4};
    Kokkos::View<Offset*, HostDevice> map("Test::row_map", row_map.size());
    Kokkos::View<Ordinal*, HostDevice> columns("Test::entries", entries.size());
    Kokkos::View<TypeParam*, HostDevice> scalars("Test::values", values.size());
    std::copy(row_map.begin(), row_map.end(), map.data());
    std::copy(entries.begin(), entries.end(), columns.data());
    std::copy(values.begin(), values.end(), scalars.data());
    return this->refusalOf({Graph<HostDevice>(4, 4, map, columns), scalars, 1});
  };
  for (const bool below : {true, false}) {
    EXPECT_EQ(refusal(1, 1, 0, below), "");
    const std::string row = below ? "in block row 3 " : "in block row 2 ";
    EXPECT_NE(refusal(1, 1, 2, below).find("1 block differs from its mirror image, " + row),
              std::string::npos)
        << refusal(1, 1, 2, below);
    EXPECT_NE(refusal(1, 2, 0, below).find("2 blocks"), std::string::npos);
  }
}

/// A diagonal block is its own mirror image, transposed.
TYPED_TEST(Symmetry, OfDiagonalBlocks) {
  const auto refusal = [&](TypeParam lower) {
    const Kokkos::View<Offset*, HostDevice> row_map("Test::row_map", 3);
    const Kokkos::View<Ordinal*, HostDevice> entries("Test::entries", 2);
    const Kokkos::View<TypeParam*, HostDevice> values("Test::values", 8);
    const TypeParam blocks[] = {4, 1, 1, 4, 4, 2, lower, 4};
    std::copy_n(blocks, 8, values.data());
    for (Ordinal i = 0; i < 2; ++i) {
      row_map(i + 1) = i + 1;
      entries(i) = i;
    }
    return this->refusalOf({Graph<HostDevice>(2, 2, row_map, entries), values, 2});
  };
  EXPECT_EQ(refusal(2), "");
  EXPECT_NE(refusal(3).find("1 block differs from its mirror image, in block row 2 "),
            std::string::npos)
      << refusal(3);
}

/// Random rows with and without diagonal entries, their mirror images added, and these patterns
/// with each single entry left out in turn.
TEST(IsSymmetricPattern, NeedsEveryMirrorImage) {
  for (const std::uint64_t seed : {3, 4}) {
    const Rows half = randomRows(23, 23, std::vector<Ordinal>{0, 1, 3, 5}, anyDiagonal(seed));
    Rows rows = half;
    for (Ordinal i = 0; i < 23; ++i)
      for (const Ordinal j : half[i])
        rows[j].push_back(i);
    for (auto& row : rows) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    EXPECT_TRUE(detail::isSymmetricPattern(Exec(), deviceGraph(rows)));
    for (Ordinal i = 0; i < 23; ++i)
      for (size_t k = 0; k < rows[i].size(); ++k) {
        Rows without = rows;
        without[i].erase(without[i].begin() + k);
        EXPECT_EQ(detail::isSymmetricPattern(Exec(), deviceGraph(without)), rows[i][k] == i)
            << "without entry (" << i << ", " << rows[i][k] << ")";
      }
  }
  EXPECT_TRUE(detail::isSymmetricPattern(Exec(), Graph<Device>()));
  EXPECT_TRUE(detail::isSymmetricPattern(Exec(), deviceGraph({{}, {}})));
  EXPECT_THROW(detail::isSymmetricPattern(Exec(), deviceGraph({{0}}, 2)), InvalidArgument);
}

} // namespace
