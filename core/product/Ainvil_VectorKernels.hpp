// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sums over all rows that finish inside the kernel that takes them, and the vector operations
/// built on them. Sums are taken in double whatever the vectors hold, always in the same order: a
/// result does not depend on the schedule.

#include "backend/Ainvil_ColumnSet.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Reduction.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "backend/Ainvil_SumTeams.hpp"

namespace ainvil {
namespace detail {

/// Several sums that are taken together.
template <int Count>
struct Sums {
  double value[Count] = {};

  KOKKOS_INLINE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int k = 0; k < Count; ++k)
      value[k] += other.value[k];
    return *this;
  }
};

} // namespace detail
} // namespace ainvil

namespace Kokkos {
template <int Count>
struct reduction_identity<ainvil::detail::Sums<Count>> {
  KOKKOS_FORCEINLINE_FUNCTION static ainvil::detail::Sums<Count> sum() { return {}; }
};
} // namespace Kokkos

namespace ainvil {
namespace detail {

/// True in all threads of the team that is the last of the `teams` of this column to have stored
/// its partial sums.
template <class Device, class Member>
KOKKOS_FUNCTION bool isLastTeam(const PartialSums<Device>& sums, const Member& member, int column,
                                int teams) {
  member.team_barrier();
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(member),
      [&](int& out) {
        Kokkos::memory_fence();
        out = Kokkos::atomic_fetch_add(&sums.teams_done(column), 1) == teams - 1;
        if (out != 0)
          sums.teams_done(column) = 0;
        Kokkos::memory_fence();
      },
      last);
  return last != 0;
}

/// Sums first .. first + Count - 1 over `teams` teams, the lanes spread over the teams. For the
/// last team; the loads go to memory because other teams wrote during the kernel.
template <int Count, class Device, class Member>
KOKKOS_FUNCTION Sums<Count> totalOf(const PartialSums<Device>& sums, const Member& member,
                                    int lanes, int first, int teams) {
  Sums<Count> result;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, lanes),
      [&](const int lane, Sums<Count>& reduced) {
        Sums<Count> mine;
        unrolledBy<4, int>(lane, teams, lanes, [&](int team) {
          for (int k = 0; k < Count; ++k)
            mine.value[k] += compat::volatileLoad(&sums.partials(first + k, team));
        });
        reduced += mine;
      },
      result);
  return result;
}

/// The most rows of a run: a thread of a host takes many together, so that loops over columns
/// inside it run on vectors, and hardware fetches columns ahead; a thread of a GPU takes one.
template <class Exec>
constexpr int longestRun() {
  return compat::IsGpu<Exec>::value ? 1 : longest_host_chunk;
}

/// Runs of rows for each of some columns.
template <class Exec>
ColumnRuns runsOf(const ColumnSet& columns, Offset num_rows) {
  return {columns, num_rows, compat::IsGpu<Exec>::value ? 1 : hostChunk(num_rows)};
}

/// The first row of a run of a column; its number where runs have one row.
template <int Longest>
KOKKOS_INLINE_FUNCTION Offset firstOfRun(const ColumnRuns& runs, Offset run) {
  return Longest == 1 ? run : run * runs.length;
}

/// Rows of the run that begins at row `first`; a constant where runs have one row.
template <int Longest>
KOKKOS_INLINE_FUNCTION int rowsOfRun(const ColumnRuns& runs, Offset first, Offset num_rows) {
  if constexpr (Longest == 1)
    return 1;
  const Offset left = num_rows - first;
  return static_cast<int>(left < runs.length ? left : runs.length);
}

/// Calls f(w, c) for columns c, ..., c + w - 1, all in [0, columns) in turn: w is 4 as a constant,
/// 1 for what remains. Four columns share the loads and stores of what they are added to.
template <class F>
KOKKOS_INLINE_FUNCTION void forColumnsByFour(int columns, const F& f) {
  int c = 0;
  for (; c + 4 <= columns; c += 4)
    f(std::integral_constant<int, 4>(), c);
  for (; c < columns; ++c)
    f(std::integral_constant<int, 1>(), c);
}

/// sum over rows i in [begin, end) of body.row(i), which returns Sums<Count>; known to all lanes of
/// the thread. On a GPU the lanes take neighbouring rows. A host thread is its own only lane; there
/// several running sums are kept apart, because compilers do not reorder floating-point sums by
/// themselves and so would not use vectors: as many as the registers hold.
template <class Exec, int Count, int Strands = (Count > 2 ? 8 : 16), class Member, class Index,
          class Body>
KOKKOS_INLINE_FUNCTION Sums<Count> sumRange(const Member& member, [[maybe_unused]] int lanes,
                                            Index begin, Index end, const Body& body) {
  Sums<Count> total;
  if constexpr (compat::IsGpu<Exec>::value) {
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, lanes),
        [&](const int lane, Sums<Count>& sums) {
          Sums<Count> mine;
          Index i = begin + lane;
          for (; i + lanes < end; i += 2 * lanes) { // the loads of two rows under way
            const Sums<Count> first = body.row(i), second = body.row(i + lanes);
            mine += first;
            mine += second;
          }
          if (i < end)
            mine += body.row(i);
          sums += mine;
        },
        total);
  } else {
    double strands[Count][Strands] = {};
    Index i = begin;
    for (; i + Strands <= end; i += Strands) {
      AINVIL_VECTOR_LOOP
      for (int l = 0; l < Strands; ++l) {
        const Sums<Count> row = body.row(i + l);
        for (int k = 0; k < Count; ++k)
          strands[k][l] += row.value[k];
      }
    }
    for (; i < end; ++i)
      total += body.row(i);
    for (int k = 0; k < Count; ++k)
      for (int l = 0; l < Strands; ++l)
        total.value[k] += strands[k][l];
  }
  return total;
}

/// s = sum over all rows i of body.row(i), which may update vectors on the way, for each of some
/// columns: a column has `teams` teams. body.begin(column) runs first and tells whether there is
/// anything to do; body.finish(s) runs once at the end, in one thread. A body has no arrays: its
/// copy that begin() changes is in registers on GPUs only then, else in memory, which takes every
/// row longer.
template <int Count, class Device, class Body>
struct RowSumKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;

  Body body_in;
  PartialSums<Device> sums;
  ColumnSet columns;
  Offset num_rows;
  Offset rows_per_team;
  int lanes, teams;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int column = columns[member.league_rank() / teams];
    const int team = member.league_rank() % teams;
    Body body = body_in;
    if (!body.begin(column))
      return;
    const Offset rows_per_thread = (rows_per_team + member.team_size() - 1) / member.team_size();
    const Offset team_begin = Offset(team) * rows_per_team;
    const Offset team_end = min(team_begin + rows_per_team, num_rows);
    const Offset begin = min(team_begin + member.team_rank() * rows_per_thread, team_end);
    const Offset end = min(begin + rows_per_thread, team_end);
    const auto mine =
        sumRange<typename Device::execution_space, Count>(member, lanes, begin, end, body);

    auto* of_thread = static_cast<Sums<Count>*>(
        member.team_shmem().get_shmem(member.team_size() * sizeof(Sums<Count>)));
    Kokkos::single(Kokkos::PerThread(member), [&]() { of_thread[member.team_rank()] = mine; });
    member.team_barrier();
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      for (int t = 1; t < member.team_size(); ++t)
        of_thread[0] += of_thread[t];
      for (int k = 0; k < Count; ++k)
        sums.partials(column * Count + k, team) = of_thread[0].value[k];
    });
    if (isLastTeam(sums, member, column, teams) && member.team_rank() == 0) {
      const Sums<Count> total = totalOf<Count>(sums, member, lanes, column * Count, teams);
      Kokkos::single(Kokkos::PerThread(member), [&]() { body.finish(total); });
    }
  }

  KOKKOS_INLINE_FUNCTION static Offset min(Offset a, Offset b) { return a < b ? a : b; }
};

/// Ends with the sums of the process kept, for the Body to finish with those of all processes.
template <int Count, class Device, class Body>
struct KeepSumsBody {
  Body body;
  Kokkos::View<double*, Device> kept; ///< Count of each column
  int column = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int c) {
    column = c;
    return body.begin(c);
  }
  KOKKOS_INLINE_FUNCTION Sums<Count> row(Offset i) const { return body.row(i); }
  KOKKOS_INLINE_FUNCTION void finish(const Sums<Count>& sums) const {
    for (int k = 0; k < Count; ++k)
      kept(column * Count + k) = sums.value[k];
  }
};

/// body.finish(s) for the sums s of all processes, a column an item.
template <int Count, class Device, class Body>
struct FinishSumsKernel {
  Body body_in;
  ColumnSet columns;
  Kokkos::View<const double*, Device> kept;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int column = columns[static_cast<int>(item)];
    Body body = body_in;
    if (!body.begin(column))
      return;
    Sums<Count> sums;
    for (int k = 0; k < Count; ++k)
      sums.value[k] = kept(column * Count + k);
    body.finish(sums);
  }
};

/// Launches a RowSumKernel: one kernel for all columns, asynchronous. Over the rows of several
/// processes, where `reduction` is not null and this one may have none: the kernel, one reduction,
/// and one more kernel of a thread a column.
template <int Count, class Device, class Body>
void sumRows(const typename Device::execution_space& exec, const char* label, const SumTeams& shape,
             const PartialSums<Device>& sums, Offset num_rows, const Body& body,
             const Reduction<Device>* reduction = nullptr,
             const ColumnSet& columns = ColumnSet::first(1)) {
  const auto launch = [&](const auto& of_rows) {
    using Kernel = RowSumKernel<Count, Device, std::decay_t<decltype(of_rows)>>;
    if (num_rows > 0)
      Kokkos::parallel_for(
          label, shape.policy(exec, (shape.team_size + 1) * sizeof(Sums<Count>), columns.size()),
          withinArguments(Kernel{of_rows, sums, columns, num_rows, shape.rows_per_team, shape.lanes,
                                 shape.league}));
  };
  if (reduction == nullptr)
    return launch(body);
  const auto kept = Kokkos::subview(sums.of_process,
                                    std::make_pair(0, Count * (columns[columns.size() - 1] + 1)));
  if (num_rows == 0)
    Kokkos::deep_copy(exec, kept, 0.0);
  launch(KeepSumsBody<Count, Device, Body>{body, kept});
  reduction->sum(exec, kept);
  Kokkos::parallel_for("Ainvil::finishSums",
                       Range<typename Device::execution_space>(exec, 0, columns.size()),
                       withinArguments(FinishSumsKernel<Count, Device, Body>{body, columns, kept}));
}

/// body.row(i) for all rows i of each of some columns, in runs of rows, after body.begin(column),
/// which tells whether there is anything to do. What row() returns is ignored.
template <class Device, class Body>
struct ForRowsKernel {
  static constexpr int longest = longestRun<typename Device::execution_space>();

  Body body_in;
  ColumnRuns runs;
  Offset num_rows;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    Body body = body_in;
    if (!body.begin(runs.columnOf(item)))
      return;
    const Offset first = firstOfRun<longest>(runs, item);
    const int rows = rowsOfRun<longest>(runs, first, num_rows);
    for (int r = 0; r < rows; ++r)
      body.row(first + r);
  }
};

/// Launches a ForRowsKernel: one kernel for all columns, asynchronous.
template <class Device, class Body>
void forRows(const typename Device::execution_space& exec, const char* label, Offset num_rows,
             const Body& body, const ColumnSet& columns) {
  using Kernel = ForRowsKernel<Device, Body>;
  const ColumnRuns runs = runsOf<typename Device::execution_space>(columns, num_rows);
  Kokkos::parallel_for(label, Range<typename Device::execution_space>(exec, 0, runs.numItems()),
                       withinArguments(Kernel{body, runs, num_rows}));
}

/// y_i = x_i
template <class Scalar>
struct CopyBody {
  KernelColumn<const Scalar> x;
  KernelColumn<Scalar> y;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    y.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const { y[i] = x[i]; }
};

/// y = x for some columns.
template <class Scalar, class Device>
void copyColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                 MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y) {
  forRows<Device>(exec, "Ainvil::copy", x.extent(0), CopyBody<Scalar>{x, y}, columns);
}

/// x_i = value
template <class Scalar>
struct FillBody {
  Scalar value;
  KernelColumn<Scalar> x;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const { x[i] = value; }
};

/// x = value for some columns.
template <class Scalar, class Device>
void fillColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                 Scalar value, MultiVectorArg<Scalar, Device> x) {
  forRows<Device>(exec, "Ainvil::fill", x.extent(0), FillBody<Scalar>{value, x}, columns);
}

/// A number for each of the columns that a ColumnSet may have, in the arguments of a kernel.
struct NumberOfColumn {
  int numbers[ColumnSet::capacity] = {};

  /// The loop has constant bounds, so that the numbers stay where arguments are.
  KOKKOS_INLINE_FUNCTION int operator[](int column) const {
    int number = 0;
    for (int c = 0; c < ColumnSet::capacity; ++c)
      if (c == column)
        number = numbers[c];
    return number;
  }
};

/// y_i = beta y_i + sum over c < count of v_c(i) a_c for a run of rows of a column. beta is 0 or 1;
/// with 0 y is not read.
template <class Stored, class Scalar, class Device>
struct CombineKernel {
  static constexpr int longest = longestRun<typename Device::execution_space>();

  KernelBases<const Stored> v;
  KernelBases<const double> a;
  NumberOfColumn counts;
  int beta;
  KernelColumn<Scalar> y;
  ColumnRuns runs;
  Offset num_rows;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    const int column = runs.columnOf(item);
    const Offset first = firstOfRun<longest>(runs, item);
    const int rows = rowsOfRun<longest>(runs, first, num_rows);
    const Stored* const v_0 = v.of(column) + first;
    const double* const coefficients = a.of(column);
    KernelColumn<Scalar> y_column = y;
    y_column.moveTo(column);
    double sum[longest];
    for (int r = 0; r < rows; ++r)
      sum[r] = beta != 0 ? double(y_column[first + r]) : 0.0;
    forColumnsByFour(counts[column], [&](const auto width, const int c) {
      constexpr int w = decltype(width)::value;
      const Stored* v_c[w];
      double a_c[w];
      for (int k = 0; k < w; ++k) {
        v_c[k] = v_0 + (c + k) * v.vector_stride;
        a_c[k] = coefficients[c + k];
      }
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < w; ++k)
          sum[r] += double(v_c[k][r]) * a_c[k];
    });
    for (int r = 0; r < rows; ++r)
      y_column[first + r] = static_cast<Scalar>(sum[r]);
  }
};

/// y = beta y + (v_0, v_1, ...) a for some columns, beta = 0 or 1, of as many v as `counts` says of
/// the column. One kernel, asynchronous.
template <class Stored, class Scalar, class Device>
void combineColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                    const KernelBases<const Stored>& v, const KernelBases<const double>& a,
                    const NumberOfColumn& counts, int beta, MultiVectorArg<Scalar, Device> y) {
  using Kernel = CombineKernel<Stored, Scalar, Device>;
  const Offset num_rows = y.extent(0);
  const ColumnRuns runs = runsOf<typename Device::execution_space>(columns, num_rows);
  Kokkos::parallel_for("Ainvil::combineColumns",
                       Range<typename Device::execution_space>(exec, 0, runs.numItems()),
                       withinArguments(Kernel{v, a, counts, beta, y, runs, num_rows}));
}

} // namespace detail
} // namespace ainvil
