// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// How workers of a host share the rows of a triangle: by counts, for any number of them, without
/// threads.

#include "TestSupport.hpp"
#include "graph/Ainvil_RowUnits.hpp"
#include "graph/Ainvil_WorkerSchedule.hpp"

#include <algorithm>
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

/// Rows in the order in which their worker takes them, with the number of the task among his.
template <class F>
void forRowsOf(const WorkerSchedule& s, int worker, Uplo uplo, const F& f) {
  for (Ordinal t = s.first_task[worker]; t < s.first_task[worker + 1]; ++t)
    for (Ordinal k = 0; k < s.tasks[t].end - s.tasks[t].first; ++k)
      f(t - s.first_task[worker],
        uplo == Uplo::Lower ? s.tasks[t].first + k : s.tasks[t].end - 1 - k);
}

/// Calls done(worker, t) for all tasks, each as soon as what it waits for is done.
template <class Done>
void runThrough(const WorkerSchedule& s, const Done& done) {
  std::vector<Ordinal> tasks(s.num_workers, 0);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (int w = 0; w < s.num_workers; ++w) {
      const Ordinal t = s.first_task[w] + tasks[w];
      if (t == s.first_task[w + 1] ||
          std::any_of(s.waits.data() + s.tasks[t].first_wait,
                      s.waits.data() + s.tasks[t + 1].first_wait,
                      [&](const WorkerWait& wait) { return tasks[wait.worker] <= wait.task; }))
        continue;
      done(w, t);
      ++tasks[w];
      goes_on = true;
    }
  }
  for (int w = 0; w < s.num_workers; ++w)
    EXPECT_EQ(tasks[w], s.first_task[w + 1] - s.first_task[w])
        << "worker " << w << " waits forever";
}

/// Every row is done once, after the rows that it has entries in: they come before it on the same
/// worker, or in a task that the worker has waited for.
void expectOrder(const Rows& rows, Uplo uplo, const WorkerSchedule& s) {
  std::vector<WorkerWait> place(rows.size(), {-1, -1});
  std::vector<Ordinal> turn(rows.size());
  Ordinal turns = 0;
  for (int w = 0; w < s.num_workers; ++w) {
    EXPECT_LE(s.first_task[w + 1] - s.first_task[w], s.most_tasks);
    forRowsOf(s, w, uplo, [&](Ordinal task, Ordinal i) {
      EXPECT_EQ(place[i].worker, -1) << "row " << i << " twice";
      place[i] = {w, task};
      turn[i] = turns++;
    });
  }
  ASSERT_EQ(turns, static_cast<Ordinal>(rows.size()));
  for (int w = 0; w < s.num_workers; ++w) {
    std::vector<Ordinal> waited(s.num_workers, -1);
    forRowsOf(s, w, uplo, [&](Ordinal task, Ordinal i) {
      const Ordinal t = s.first_task[w] + task;
      for (Offset k = s.tasks[t].first_wait; k < s.tasks[t + 1].first_wait; ++k)
        waited[s.waits[k].worker] = std::max(waited[s.waits[k].worker], s.waits[k].task);
      for (const Ordinal j : rows[i])
        if (isBefore(j, i, uplo)) {
          if (place[j].worker == w)
            EXPECT_LT(turn[j], turn[i]) << "row " << i << " before " << j;
          else
            EXPECT_LE(place[j].task, waited[place[j].worker]) << i << " waits not for " << j;
        }
    });
  }
  runThrough(s, [](int, Ordinal) {});
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

/// When all tasks are done, if t is at done_at(t, here, there): its worker has done the one before
/// at `here`, and what t waits for is done at `there`; 0 where there is none.
template <class Done>
double lastDone(const WorkerSchedule& s, const Done& done_at) {
  std::vector<std::vector<double>> done(s.num_workers);
  double all = 0;
  runThrough(s, [&](int w, Ordinal t) {
    double there = 0;
    for (Offset k = s.tasks[t].first_wait; k < s.tasks[t + 1].first_wait; ++k)
      there = std::max(there, done[s.waits[k].worker][s.waits[k].task]);
    done[w].push_back(done_at(t, done[w].empty() ? 0 : done[w].back(), there));
    all = std::max(all, done[w].back());
  });
  return all;
}

/// Entries that are worked on one after the other.
double criticalEntries(const Graph<HostDevice>& graph, const WorkerSchedule& s) {
  return lastDone(s, [&](Ordinal t, double here, double there) {
    return std::max(here, there) +
           double(graph.row_map(s.tasks[t].end) - graph.row_map(s.tasks[t].first));
  });
}

/// Groups that went from one line into the next would chain the lines.
TEST(WorkerSchedule, LinesOfAGridAreDoneAtATimeWhateverTheirLength) {
  for (const bool corners : {false, true})
    for (const Ordinal nx : {32, 37, 100, 299})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const int workers : {2, 4, 8}) {
          SCOPED_TRACE(message("lines of ", nx, corners ? ", 9 points, " : ", 5 points, ",
                               uplo == Uplo::Lower ? "lower, " : "upper, ", workers, " workers"));
          const Graph<HostDevice> graph = makeGraph(grid(nx, 300, corners));
          const WorkerSchedule s =
              schedulesOf(graph, uplo, {RowCosts::ofFactorization(3)}, workers).at(0);
          const int at_a_time = std::min<int>(workers, nx / 8 / (corners ? 2 : 1));
          EXPECT_LT(criticalEntries(graph, s), 1.5 * double(graph.numEntries()) / at_a_time);
        }
}

/// In turn: what a worker takes next lies behind what he has just done, but at the end of a line.
TEST(WorkerSchedule, WorkersTakeLinesOfAGrid) {
  const Ordinal n = 300;
  const Graph<HostDevice> graph = makeGraph(grid(n, n));
  for (const int workers : {2, 4, 16}) {
    const WorkerSchedule s = schedulesOf(graph, Uplo::Lower, {RowCosts::ofSolve(3)}, workers).at(0);
    Ordinal jumps = 0;
    for (int w = 0; w < workers; ++w)
      for (Ordinal t = s.first_task[w]; t < s.first_task[w + 1]; ++t)
        jumps += t == s.first_task[w] || s.tasks[t].first != s.tasks[t - 1].end ? 1 : 0;
    EXPECT_LE(jumps, n * 11 / 10) << workers << " workers";
  }
}

/// Where threads read what memory holds, few of them take long pieces of it.
TEST(WorkerSchedule, FewWorkersHaveLongTasks) {
  const Ordinal n = 300;
  const Graph<HostDevice> graph = makeGraph(grid(n, n));
  const auto rowsOfTask = [&](int workers) {
    const WorkerSchedule s = schedulesOf(graph, Uplo::Lower, {RowCosts::ofSolve(3)}, workers).at(0);
    return double(n) * n / double(s.tasks.size() - 1); // one is behind the last
  };
  EXPECT_GT(rowsOfTask(2), 75);
  EXPECT_LT(rowsOfTask(16), 40);
}

/// What the model promises for a lower triangle, task by task.
double modelledTime(const Graph<HostDevice>& graph, const WorkerSchedule& s,
                    const RowCosts& costs) {
  const auto delay = [&](double time) { return std::min((costs.scattered - 1) * time, 600.0); };
  std::vector<double> since_jump(s.tasks.size());
  return 5000 + lastDone(s, [&](Ordinal t, double here, double there) {
           const bool first =
               std::find(s.first_task.begin(), s.first_task.end(), t) != s.first_task.end();
           const double time = costs.entry * double(graph.row_map(s.tasks[t].end) -
                                                    graph.row_map(s.tasks[t].first));
           const double since =
               first || s.tasks[t].first != s.tasks[t - 1].end ? 0 : since_jump[t - 1];
           since_jump[t] = since + time;
           const double arrives = here + delay(since + time) - delay(since);
           return (there > 0 ? std::max(arrives, there + 1000) + 100 : arrives) + time;
         });
}

TEST(WorkerSchedule, EachRunThatGainsHasTheBestForIt) {
  const Graph<HostDevice> lower = makeGraph([] {
    Rows rows = grid(300, 300);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i].erase(std::lower_bound(rows[i].begin(), rows[i].end(), Ordinal(i)), rows[i].end());
    return rows;
  }());
  const RowCosts free{0, 1}, solve = RowCosts::ofSolve(3);
  EXPECT_TRUE(schedulesOf(lower, Uplo::Lower, {free, free}, 4).empty());
  EXPECT_EQ(schedulesOf(lower, Uplo::Lower, {free, solve}, 4).size(), 1U);
  const RowCosts& factor = factorization_of_large_blocks;
  const auto both = schedulesOf(lower, Uplo::Lower, {solve, factor}, 2);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].costs.entry, solve.entry);
  EXPECT_EQ(both[1].costs.entry, factor.entry);
  // Waits that others imply are left out: the model has no less for it, and rounds elsewhere.
  EXPECT_NEAR(both[0].time, modelledTime(lower, both[0], solve), 0.05 * both[0].time);
  EXPECT_NEAR(both[1].time, modelledTime(lower, both[1], factor), 0.05 * both[1].time);
  EXPECT_LT(both[0].time, modelledTime(lower, both[1], solve));
  EXPECT_LT(both[1].time, modelledTime(lower, both[0], factor));
  // Four workers: one schedule is the best for either.
  const auto four = schedulesOf(lower, Uplo::Lower, {solve, factor}, 4);
  ASSERT_EQ(four.size(), 2U);
  EXPECT_LE(four[0].time, modelledTime(lower, four[1], solve));
  EXPECT_LE(four[1].time, modelledTime(lower, four[0], factor));
}

TEST(WorkerSchedule, ThereIsNoneForAChain) {
  const Graph<HostDevice> graph = makeGraph(graphs().back());
  EXPECT_TRUE(schedulesOf(graph, Uplo::Lower, {factorization_of_large_blocks}, 8).empty());
}

/// What the model promises, against the formula by hand: two chains, which do not wait.
TEST(WorkerSchedule, TimeIsWhenTheLastWorkerIsDone) {
  Rows chains(2000);
  for (Ordinal i = 1; i < 2000; ++i)
    if (i != 900)
      chains[i] = {i - 1};
  const auto s = schedulesOf(makeGraph(chains), Uplo::Lower, {{10, 3, 1}}, 2);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_TRUE(s[0].waits.empty());
  EXPECT_DOUBLE_EQ(s[0].time, 5000 + 600 + 10.0 * 1099);
}

/// How many of so many looks a worker makes before it sleeps between them.
Ordinal looksAwake(Patience& patience, Ordinal looks) {
  Ordinal awake = 0;
  while (awake < looks && !patience.isOver(awake))
    ++awake;
  return awake;
}

TEST(Patience, IsSpentByLongWaitsAndComesBackWithRuns) {
  const Ordinal always = Patience::looks_of_wait, most = Patience::most_looks;
  Patience first(0, 0);
  EXPECT_EQ(looksAwake(first, always), always);
  EXPECT_EQ(first.spent(), 0);
  EXPECT_EQ(looksAwake(first, always + 100), always + 100);
  EXPECT_EQ(first.spent(), 100);
  EXPECT_EQ(looksAwake(first, 10 * most), always + most - 100);
  EXPECT_EQ(looksAwake(first, 10 * most), always);
  Patience second(first.spent(), Patience::look_time * 250);
  EXPECT_EQ(looksAwake(second, 10 * most), always + 1000);
  EXPECT_EQ(Patience(700, Patience::look_time * 250).spent(), 0);
  EXPECT_EQ(Patience(most, 1e18).spent(), 0);
}

std::vector<Ordinal> rowsAhead(const std::vector<WorkerTask>& tasks, bool downwards, Ordinal rows) {
  RowsAhead ahead(tasks.data(), tasks.data() + tasks.size(), downwards, rows);
  std::vector<Ordinal> all;
  for (int k = 0; k < 7; ++k)
    all.push_back(ahead.next());
  return all;
}

/// A worker asks for the rows of its own tasks, whatever lies between them.
TEST(RowsAhead, FollowTheTasksOfAWorker) {
  using Rows = std::vector<Ordinal>;
  const std::vector<WorkerTask> up = {{3, 5, 0}, {9, 10, 0}, {20, 22, 0}};
  EXPECT_EQ(rowsAhead(up, false, 0), (Rows{3, 4, 9, 20, 21, -1, -1}));
  EXPECT_EQ(rowsAhead(up, false, 2), (Rows{9, 20, 21, -1, -1, -1, -1}));
  EXPECT_EQ(rowsAhead(up, false, 9), (Rows{-1, -1, -1, -1, -1, -1, -1}));
  const std::vector<WorkerTask> down = {{20, 22, 0}, {9, 10, 0}, {3, 5, 0}};
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
