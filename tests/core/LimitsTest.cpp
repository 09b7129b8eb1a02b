// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Sizes beyond 2^31, with arrays that are only said to be so large: what is tested here reads none
/// of their elements, or little.

#include "Ainvil_BatchedCholesky.hpp"
#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Convert.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Gmres.hpp"
#include "Refusal.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "product/Ainvil_LongRows.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

using Device = DefaultDevice;
using Exec = Device::execution_space;

constexpr Offset int_max = std::numeric_limits<Ordinal>::max();

/// An array of so many elements, none of which is there.
template <class T>
Kokkos::View<T*, Device> mocked(Offset n) {
  static T nothing{};
  return Kokkos::View<T*, Device>(&nothing, size_t(n));
}

/// A graph of so many rows and entries, none of which is there.
Graph<Device> mockedGraph(Ordinal rows, Offset entries) {
  return {rows, rows, mocked<const Offset>(Offset(rows) + 1), mocked<const Ordinal>(entries)};
}

/// A graph with this row map and no entries.
Graph<Device> mockedGraph(const std::vector<Offset>& row_map) {
  const Ordinal rows = static_cast<Ordinal>(row_map.size()) - 1;
  return {rows, static_cast<Ordinal>(int_max), viewOf<Offset, Device>(row_map),
          mocked<const Ordinal>(row_map.back())};
}

void expectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Limits, SizesOfAMatrixHave64Bits) {
  const Ordinal rows = static_cast<Ordinal>(int_max);
  const Offset blocks = 3'000'000'000;
  const BsrMatrix<double, Device> a(mockedGraph(rows, blocks), mocked<double>(64 * blocks), 8);
  EXPECT_EQ(a.numEntries(), blocks);
  EXPECT_EQ(a.numScalars(), 192'000'000'000);
  EXPECT_EQ(a.numPointRows(), 17'179'869'176);
  EXPECT_EQ(a.numPointCols(), 17'179'869'176);
  EXPECT_EQ(a.bytes(), 8 * 192'000'000'000 + 4 * blocks + 8 * (int_max + 1));
  EXPECT_DOUBLE_EQ(a.graph.meanRowLength(), double(blocks) / double(rows));
  // Fewer scalars by 2^32, which 32 bits would not tell.
  expectContains(refusal([&] {
                   BsrMatrix<double, Device>(mockedGraph(rows, blocks),
                                             mocked<double>(64 * blocks - (Offset(1) << 32)), 8);
                 }),
                 "needs 192000000000 values");
}

TEST(Limits, RowsOfPointsAreCounted) {
  const Graph<Device> blocks = mockedGraph(300'000'000, 5);
  expectContains(refusal([&] { toPoints(Exec(), blocks, 8); }),
                 "2400000000 x 2400000000 points is too large for scalar storage");
  EXPECT_THROW(toPoints(Exec(), mockedGraph(static_cast<Ordinal>(int_max), 5), 2), InvalidArgument);
}

/// Of few rows, so that it is the columns that are too many.
TEST(Limits, ColumnsOfPointsAreCounted) {
  const Kokkos::View<const Offset*, Device> row_map = viewOf<Offset, Device>({0, 1});
  const Kokkos::View<const Ordinal*, Device> entries = viewOf<Ordinal, Device>({7});
  const auto columnsOfPoints = [&](Ordinal columns, int bs) {
    return toPoints(Exec(), Graph<Device>(1, columns, row_map, entries), bs).graph.num_cols;
  };
  constexpr Ordinal half = Ordinal(1) << 30;
  EXPECT_EQ(columnsOfPoints(half - 1, 2), 2 * (half - 1));
  expectContains(refusal([&] { columnsOfPoints(half, 2); }),
                 "2 x 2147483648 points is too large for scalar storage");
  expectContains(refusal([&] { columnsOfPoints(static_cast<Ordinal>(int_max), 3); }),
                 "3 x 6442450941 points is too large for scalar storage");
  // The largest index stands for the end of a list.
  EXPECT_EQ(columnsOfPoints(static_cast<Ordinal>(int_max) - 1, 1), int_max - 1);
  EXPECT_THROW(columnsOfPoints(static_cast<Ordinal>(int_max), 1), InvalidArgument);
}

TEST(Limits, LongestRow) {
  const Graph<Device> graph = mockedGraph({0, int_max, 2 * int_max, 2 * int_max + 7});
  EXPECT_EQ(detail::longestRow(Exec(), graph), int_max);
  expectContains(refusal([&] {
                   validate(Exec(), mockedGraph({0, 3, 3'000'000'000}));
                 }),
                 "a row holds 2999999997 entries, more than the 2147483647");
}

TEST(Limits, CountsAddUpTo64Bits) {
  const auto counts = viewOf<Offset, Device>({int_max, 3'000'000'000, 0, 5, 0});
  EXPECT_EQ(detail::countsToOffsets(Exec(), counts), int_max + 3'000'000'005);
  EXPECT_EQ(toHost(counts),
            (std::vector<Offset>{0, int_max, int_max + 3'000'000'000, int_max + 3'000'000'000,
                                 int_max + 3'000'000'005}));
}

TEST(Limits, LaunchesCoverAllRows) {
  for (const Offset rows : {Offset(1), int_max, 10 * int_max}) {
    const auto shape = detail::SumTeams::forRows(Exec(), rows);
    EXPECT_GE(Offset(shape.chunks) * shape.rows_per_chunk, rows);
    EXPECT_LT((Offset(shape.chunks) - 1) * shape.rows_per_chunk, rows);
  }
}

struct Nothing {
  using Member = Kokkos::TeamPolicy<Exec>::member_type;
  KOKKOS_FUNCTION void operator()(const Member&, Ordinal, void*) const {}
};

/// Kokkos counts the scratch memory of a thread by an int.
TEST(Limits, ScratchMemoryOfARow) {
  const auto launch = [](std::size_t bytes) {
    detail::forEachRow(Exec(), "Ainvil::test", 1, detail::RowTeams(), Nothing(), bytes);
  };
  for (const std::size_t bytes :
       {std::size_t(int_max), std::size_t(3'000'000'000), std::size_t(1) << 33})
    expectContains(refusal([&] { launch(bytes); }), "out of memory: Ainvil::test needs");
  EXPECT_NO_THROW(launch(1000));
}

TEST(Limits, OrderOfDenseMatrices) {
  const auto sizes = viewOf<Ordinal, Device>({3, 46341});
  expectContains(refusal([&] { BatchedCholesky<double, Device>(Exec(), sizes); }),
                 "up to 46340 rows, but one has 46341");
  EXPECT_NO_THROW((BatchedCholesky<double, Device>(Exec(), viewOf<Ordinal, Device>({3, 46340}))));
}

TEST(Limits, ArraysOfMoreBytesThanNumbersCount) {
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  EXPECT_EQ(detail::arrayBytes("an array", most / 8, 8), most / 8 * 8);
  EXPECT_EQ(detail::arrayBytes("an array", most, 1), most);
  EXPECT_EQ(detail::arrayBytes("an array", ~std::size_t(0), 0), 0u);
  for (const std::size_t n : {most / 8 + 1, most, ~std::size_t(0)}) {
    EXPECT_THROW(detail::arrayBytes("an array", n, 8), OutOfMemory) << n;
    expectContains(refusal([&] { detail::arrayBytes("an array", n, 8); }),
                   message(n, " times 8 bytes for an array"));
  }
}

/// One row of G that reaches all columns.
TEST(Limits, LocalSystemsOfFsai) {
  const Ordinal n = 46341 / 3 + 1;
  std::vector<std::vector<Ordinal>> rows(n);
  for (Ordinal i = 0; i < n; ++i)
    rows[i] = {i};
  rows[n - 1].resize(n);
  std::iota(rows[n - 1].begin(), rows[n - 1].end(), 0);
  for (Ordinal i = 0; i + 1 < n; ++i)
    rows[i].push_back(n - 1);
  const auto graph = copyTo<Device>(makeGraph(rows));
  const BsrMatrix<double, Device> a(
      graph, viewOf<double, Device>(std::vector<double>(9 * graph.numEntries(), 1.0)), 3);
  FsaiParameters<Device> parameters;
  parameters.tau = 0;
  parameters.power = 1;
  Fsai<double, Device> fsai(parameters);
  expectContains(refusal([&] { fsai.initialize(a); }),
                 "a local system of 46344 unknowns, but can solve up to 46340");
}

TEST(Limits, ProblemsOfTheGallery) {
  for (const char* problem :
       {"laplace7:1291", "laplace7:2000", "laplace27:2147483647x1x2", "elasticity:1291",
        "circuit:2147483648", "euler:2147483648", "shell:46341x46342", "jump27:65536x65536x65536"})
    expectContains(refusal([&] { makeProblem(problem); }), "more than the 2147483647 block rows");
}

/// Of so many unknowns, none of which is there.
struct MockedOperator : LinearOperator<double, Device> {
  explicit MockedOperator(Offset n) : n(n) {}
  Offset numPointRows() const override { return n; }
  Offset numPointCols() const override { return n; }
  void apply(const Exec&, MultiVectorArg<const double, Device>, MultiVectorArg<double, Device>,
             Trans, double, double) const override {
    FAIL() << "there is no memory for a solve";
  }
  Offset n;
};

TEST(Limits, OptionsOfSolversMayBeAsLargeAsTheirType) {
  const auto a = copyTo<Device>(makeProblem("poisson5:10").matrix);
  const MatrixOperator<double, Device> op(a);
  const Vector<double, Device> b("Test::b", 100), x("Test::x", 100);
  Kokkos::deep_copy(b, 1.0);
  SolverOptions usual, largest;
  largest.max_iterations = largest.restart = largest.check_interval =
      std::numeric_limits<int>::max();
  usual.restart = 100;
  const auto solved = [&](auto solver) {
    Kokkos::deep_copy(x, 0.0);
    const SolveResult result = solver.solve(Exec(), op, nullptr, b, x);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    return result.iterations;
  };
  EXPECT_EQ(solved(Cg<double, Device>(largest)), solved(Cg<double, Device>(usual)));
  EXPECT_EQ(solved(BiCgStab<double, Device>(largest)), solved(BiCgStab<double, Device>(usual)));
  EXPECT_EQ(solved(Gmres<double, Device>(largest)), solved(Gmres<double, Device>(usual)));

  // A basis of more bytes than there are, and than a number of 64 bits counts.
  for (const Offset n : {Offset(1) << 24, Offset(1) << 31, Offset(1) << 40}) {
    const auto solve = [&] {
      Gmres<double, Device>(largest).solve(Exec(), MockedOperator(n), nullptr,
                                           mocked<const double>(n), mocked<double>(n));
    };
    EXPECT_THROW(solve(), OutOfMemory);
    expectContains(refusal(solve), "Ainvil::Gmres::basis");
  }
}

} // namespace
