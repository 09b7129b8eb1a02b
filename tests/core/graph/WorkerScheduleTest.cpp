// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// How workers of a host share the rows of a triangle: by counts, for any number of them, without
/// threads.

#include "TestSupport.hpp"
#include "graph/Ainvil_RowUnits.hpp"
#include "graph/Ainvil_WorkerSchedule.hpp"

#include <numeric>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using namespace ainvil::detail;
using Exec = HostDevice::execution_space;

/// Five points, or nine with `corners`; lines of nx rows.
Rows grid(Ordinal nx, Ordinal ny, bool corners = false) {
  Rows rows(size_t(nx) * ny);
  for (Ordinal y = 0; y < ny; ++y)
    for (Ordinal x = 0; x < nx; ++x)
      for (Ordinal b = std::max(0, y - 1); b <= std::min(ny - 1, y + 1); ++b)
        for (Ordinal a = std::max(0, x - 1); a <= std::min(nx - 1, x + 1); ++a)
          if (corners || a == x || b == y)
            rows[size_t(y) * nx + x].push_back(b * nx + a);
  return rows;
}

bool isBefore(Ordinal j, Ordinal i, Uplo uplo) {
  return uplo == Uplo::Lower ? j < i : j > i;
}

std::vector<Rows> graphs() {
  std::vector<Rows> all = {Rows(1), Rows(17), grid(37, 61), grid(37, 61, true), grid(3, 300)};
  for (const Ordinal n : {1, 7, 8, 9, 536, 615})
    for (const double per_row : {0.7, 4.0})
      all.push_back(randomRows(n, n, std::min(1.0, per_row / n)));
  all.push_back(randomRows(536, 536, std::vector<Ordinal>{1, 31, 0, 32, 33, 65, 300}));
  Rows chain(3000);
  for (Ordinal i = 1; i < 3000; ++i)
    chain[i] = {i - 1};
  all.push_back(chain);
  return all;
}

// So dear that sharing pays wherever rows do not all wait for the one before.
const RowCosts factorization_of_large_blocks{1e6, 1.25};

std::vector<WorkerSchedule> schedulesOf(const Graph<HostDevice>& graph, Uplo uplo,
                                        const std::vector<RowCosts>& runs, int workers) {
  return workerSchedules(Exec(), graph, uplo, runs, workers);
}

/// Every row is done once, after the rows that it has entries in: they come before it on the same
/// worker, or in a task that the worker has waited for.
void expectOrder(const Rows& rows, Uplo uplo, const WorkerSchedule& s) {
  struct Done {
    int worker;
    Ordinal step, turn;
  };
  std::vector<Done> done(rows.size(), {-1, -1, -1});
  const auto forPieces = [&](const auto& f) {
    for (int w = 0; w < s.num_workers; ++w)
      for (Ordinal t = s.first_task[w]; t < s.first_task[w + 1]; ++t)
        for (Ordinal k = s.tasks[t].first_piece; k < s.tasks[t + 1].first_piece; ++k)
          f(w, t, s.pieces[k]);
  };
  Ordinal turn = 0;
  forPieces([&](int w, Ordinal t, const WorkerPiece& piece) {
    Offset entries = 0;
    for (Ordinal k = 0; k < piece.end - piece.first; ++k) {
      const Ordinal i = uplo == Uplo::Lower ? piece.first + k : piece.end - 1 - k;
      ASSERT_EQ(done[i].worker, -1) << "row " << i << " twice";
      done[i] = {w, s.tasks[t].step, turn++};
      entries += Offset(rows[i].size());
    }
    EXPECT_EQ(piece.entries, entries);
  });
  ASSERT_EQ(turn, static_cast<Ordinal>(rows.size()));
  for (int w = 0; w < s.num_workers; ++w) {
    std::vector<Ordinal> waited(s.num_workers, -1);
    for (Ordinal t = s.first_task[w]; t < s.first_task[w + 1]; ++t) {
      for (Offset k = s.tasks[t].first_wait; k < s.tasks[t + 1].first_wait; ++k) {
        ASSERT_LT(s.waits[k].step, s.tasks[t].step) << "waits go round";
        waited[s.waits[k].worker] = std::max(waited[s.waits[k].worker], s.waits[k].step);
      }
      for (Ordinal k = s.tasks[t].first_piece; k < s.tasks[t + 1].first_piece; ++k)
        for (Ordinal i = s.pieces[k].first; i < s.pieces[k].end; ++i)
          for (const Ordinal j : rows[i])
            if (isBefore(j, i, uplo)) {
              if (done[j].worker == w)
                ASSERT_LT(done[j].turn, done[i].turn) << "row " << i << " before " << j;
              else
                ASSERT_LE(done[j].step, waited[done[j].worker]) << i << " waits not for " << j;
            }
    }
  }
}

TEST(WorkerSchedule, HasEveryRowAfterThoseThatItDependsOn) {
  for (const Rows& rows : graphs())
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const int workers : {2, 3, 4, 8, 16, 64})
        for (const int block_size : {1, 3, 9}) {
          SCOPED_TRACE(message(rows.size(), " rows, ", uplo == Uplo::Lower ? "lower, " : "upper, ",
                               workers, " workers, blocks of ", block_size));
          RowCosts costs = factorization_of_large_blocks;
          costs.block_size = block_size;
          const Graph<HostDevice> graph = makeGraph(rows);
          for (const WorkerSchedule& s :
               schedulesOf(graph, uplo, {costs, RowCosts::ofFactorization(block_size)}, workers))
            expectOrder(rows, uplo, s);
        }
}

/// Entries in sequence: sum over steps of the most that a worker has in the step.
Offset criticalEntries(const WorkerSchedule& s) {
  std::vector<Offset> most(s.num_steps, 0);
  for (int w = 0; w < s.num_workers; ++w)
    for (Ordinal t = s.first_task[w]; t < s.first_task[w + 1]; ++t) {
      Offset entries = 0;
      for (Ordinal k = s.tasks[t].first_piece; k < s.tasks[t + 1].first_piece; ++k)
        entries += s.pieces[k].entries;
      most[s.tasks[t].step] = std::max(most[s.tasks[t].step], entries);
    }
  return std::accumulate(most.begin(), most.end(), Offset(0));
}

/// Groups that went from one line into the next would chain the lines.
TEST(WorkerSchedule, LinesOfAGridAreDoneAtATimeWhateverTheirLength) {
  for (const bool corners : {false, true})
    for (const Ordinal nx : {32, 37, 100, 299})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const int workers : {2, 4, 8}) {
          SCOPED_TRACE(message("lines of ", nx, corners ? ", 9 points, " : ", 5 points, ",
                               uplo == Uplo::Lower ? "lower, " : "upper, ", workers, " workers"));
          const Ordinal ny = 300;
          const Graph<HostDevice> graph = makeGraph(grid(nx, ny, corners));
          const WorkerSchedule s =
              schedulesOf(graph, uplo, {RowCosts::ofFactorization(3)}, workers).at(0);
          const int at_a_time = std::min<int>(workers, nx / 8 / (corners ? 2 : 1));
          EXPECT_LE(s.num_steps, (corners ? 2 : 1) * ny + (nx + 1) / 2); // not nx ny / 8
          EXPECT_LT(criticalEntries(s), 1.75 * double(graph.numEntries()) / at_a_time);
        }
}

/// Where threads read what memory holds, few of them take long pieces of it.
TEST(WorkerSchedule, FewWorkersHaveLongPieces) {
  const Ordinal n = 300;
  const Graph<HostDevice> graph = makeGraph(grid(n, n));
  const auto rowsOfPiece = [&](int workers) {
    const WorkerSchedule s = schedulesOf(graph, Uplo::Lower, {RowCosts::ofSolve(3)}, workers).at(0);
    return double(n) * n / double(s.pieces.size());
  };
  EXPECT_GT(rowsOfPiece(2), 75);
  EXPECT_LT(rowsOfPiece(16), 40);
}

TEST(WorkerSchedule, EachRunThatGainsHasTheBestForIt) {
  const Graph<HostDevice> graph = makeGraph(grid(300, 300));
  const RowCosts free{0, 1}, solve = RowCosts::ofSolve(3);
  const auto times = [&](const std::vector<RowCosts>& runs, const RowCosts& costs) {
    std::vector<double> all;
    for (const WorkerSchedule& s : schedulesOf(graph, Uplo::Lower, runs, 4))
      all.push_back(sharedTime(s, Uplo::Lower, costs));
    return all;
  };
  EXPECT_TRUE(times({free, free}, solve).empty());
  EXPECT_EQ(times({free, solve}, solve).size(), 1U);
  const RowCosts& factor = factorization_of_large_blocks;
  const auto of_solve = times({solve, factor}, solve), of_factor = times({solve, factor}, factor);
  EXPECT_LT(of_solve.at(0), of_solve.at(1));
  EXPECT_GT(of_factor.at(0), of_factor.at(1));
}

TEST(WorkerSchedule, ThereIsNoneForAChain) {
  const Graph<HostDevice> graph = makeGraph(graphs().back());
  EXPECT_TRUE(schedulesOf(graph, Uplo::Lower, {factorization_of_large_blocks}, 8).empty());
}

/// What the model promises, against the formula by hand: two workers, a step, no jump but the
/// first.
TEST(WorkerSchedule, TimeIsThatOfTheSlowestWorkerInEachStep) {
  WorkerSchedule s;
  s.num_workers = 2;
  s.num_steps = 2;
  s.pieces = {{0, 8, 100}, {8, 16, 50}, {20, 28, 30}, {30, 38, 700}};
  s.tasks = {{0, 0, 0}, {1, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 4, 0}};
  s.first_task = {0, 2, 4};
  const RowCosts costs{2, 3, 1};
  // Worker 0: 200 + min(400, 600) after its jump, then 100 + 200 more of the delay, as it goes on.
  // Worker 1: 60 + 120, then 1400 + 600.
  EXPECT_DOUBLE_EQ(sharedTime(s, Uplo::Lower, costs), 5000 + 2 * 150 + 600 + 2000);
}

std::vector<Ordinal> rowsAhead(const std::vector<WorkerPiece>& pieces, bool downwards,
                               Ordinal rows) {
  RowsAhead ahead(pieces.data(), pieces.data() + pieces.size(), downwards, rows);
  std::vector<Ordinal> all;
  for (int k = 0; k < 7; ++k)
    all.push_back(ahead.next());
  return all;
}

/// A worker asks for the rows of its own pieces, whatever lies between them.
TEST(RowsAhead, FollowThePiecesOfAWorker) {
  using Rows = std::vector<Ordinal>;
  const std::vector<WorkerPiece> up = {{3, 5, 0}, {9, 10, 0}, {20, 22, 0}};
  EXPECT_EQ(rowsAhead(up, false, 0), (Rows{3, 4, 9, 20, 21, -1, -1}));
  EXPECT_EQ(rowsAhead(up, false, 2), (Rows{9, 20, 21, -1, -1, -1, -1}));
  EXPECT_EQ(rowsAhead(up, false, 9), (Rows{-1, -1, -1, -1, -1, -1, -1}));
  const std::vector<WorkerPiece> down = {{20, 22, 0}, {9, 10, 0}, {3, 5, 0}};
  EXPECT_EQ(rowsAhead(down, true, 1), (Rows{20, 9, 4, 3, -1, -1, -1}));
  EXPECT_EQ(rowsAhead({}, false, 1), (Rows{-1, -1, -1, -1, -1, -1, -1}));
}

TEST(RowUnits, HaveTheUnitsThatTheirRowsHaveEntriesIn) {
  for (const Rows& rows : graphs())
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const Ordinal shortest : {1, 2, 8})
        for (const Ordinal longest : {8, 50}) {
          const Graph<HostDevice> graph = makeGraph(rows);
          const RowUnits units = rowUnits(Exec(), graph, uplo, longest, shortest);
          const RowPositions at{graph.num_rows, uplo == Uplo::Lower};
          ASSERT_EQ(units.first.front(), 0);
          ASSERT_EQ(units.first.back(), graph.num_rows);
          ASSERT_EQ(units.work.back(), graph.numEntries() + graph.num_rows);
          for (Ordinal u = 0; u < units.count(); ++u) {
            ASSERT_LT(units.first[u], units.first[u + 1]);
            ASSERT_LE(units.first[u + 1] - units.first[u], longest);
            std::set<Ordinal> expected;
            for (Ordinal p = units.first[u]; p < units.first[u + 1]; ++p)
              for (const Ordinal j : rows[at(p)])
                if (at(j) < units.first[u])
                  expected.insert(static_cast<Ordinal>(
                      std::upper_bound(units.first.begin(), units.first.end(), at(j)) -
                      units.first.begin() - 1));
            const std::set<Ordinal> found(units.sources.begin() + units.first_source[u],
                                          units.sources.begin() + units.first_source[u + 1]);
            ASSERT_EQ(found, expected);
            ASSERT_EQ(Offset(found.size()), units.first_source[u + 1] - units.first_source[u]);
          }
        }
}

TEST(RowUnits, EndWithTheLinesOfAGrid) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    const RowUnits units = rowUnits(Exec(), makeGraph(grid(37, 61)), uplo, 10, 8);
    EXPECT_EQ(units.count(), 4 * 61);
    for (Ordinal line = 0; line <= 61; ++line)
      EXPECT_EQ(units.first[4 * line], 37 * line);
  }
}

TEST(RowGroups, EndWhereAUnitNeedsNotWait) {
  const RowUnits units = rowUnits(Exec(), makeGraph(grid(40, 3)), Uplo::Lower, 8, 8);
  ASSERT_EQ(units.count(), 15); // five a line
  RowGroups groups;
  joinUnits(units, 0, Joining::Prompt, groups);
  EXPECT_EQ(groups.step, (std::vector<Ordinal>{0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6}));
  const Offset two_units_of_five_points = 2 * 8 * (5 + 1);
  joinUnits(units, two_units_of_five_points, Joining::Prompt, groups);
  EXPECT_EQ(groups.first, (std::vector<Ordinal>{0, 2, 4, 5, 7, 9, 10, 12, 14, 15}));
  EXPECT_EQ(groups.step, (std::vector<Ordinal>{0, 1, 2, 1, 2, 3, 2, 3, 4}));
}

/// Nine points: a line's unit waits for the next one of the line before. Groups that may not wait
/// for more than their first unit end a unit earlier in each line.
TEST(RowGroups, WaitForMoreIfTheyAreChained) {
  const RowUnits units = rowUnits(Exec(), makeGraph(grid(64, 2, true)), Uplo::Lower, 8, 8);
  ASSERT_EQ(units.count(), 16);
  const Offset four_units = 4 * 8 * (6 + 1); // two lines: six points in each row
  RowGroups groups;
  joinUnits(units, four_units, Joining::Prompt, groups);
  EXPECT_EQ(groups.first, (std::vector<Ordinal>{0, 4, 8, 11, 15, 16}));
  EXPECT_EQ(groups.step, (std::vector<Ordinal>{0, 1, 1, 2, 3}));
  joinUnits(units, four_units, Joining::Chained, groups);
  EXPECT_EQ(groups.first, (std::vector<Ordinal>{0, 4, 8, 12, 16}));
  EXPECT_EQ(groups.step, (std::vector<Ordinal>{0, 1, 2, 3}));
}

} // namespace
