// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sums over all rows that finish inside the kernel that takes them. They are taken in double
/// whatever the vectors hold, always in the same order: a result does not depend on the schedule.

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
template <class Member>
KOKKOS_FUNCTION bool isLastTeam(const KernelSums& sums, const Member& member, int column,
                                int teams) {
  member.team_barrier();
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(member),
      [&](int& out) {
        Kokkos::memory_fence();
        out = Kokkos::atomic_fetch_add(&sums.teams_done[column], 1) == teams - 1;
        if (out != 0)
          sums.teams_done[column] = 0;
        Kokkos::memory_fence();
      },
      last);
  return last != 0;
}

/// Sums at(0) .. at(Count - 1) over `chunks` chunks, the lanes spread over the chunks. For the
/// last team, for which the whole kernel waits: so the loads of a lane, five a sum where a GPU has
/// 129 to 160 chunks, are under way at the same time. They go to memory because other teams wrote
/// during the kernel.
template <int Count, class Member, class At>
KOKKOS_INLINE_FUNCTION Sums<Count> totalOf(const KernelSums& sums, const Member& member, int lanes,
                                           int chunks, const At& at) {
  constexpr int at_once = 5;
  Sums<Count> result;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, lanes),
      [&](const int lane, Sums<Count>& reduced) {
        Sums<Count> mine;
        for (int first = lane; first < chunks; first += at_once * lanes) {
          Sums<Count> loaded[at_once];
          unrolled<at_once>([&](int r) {
            const int chunk = first + r * lanes < chunks ? first + r * lanes : first;
            for (int k = 0; k < Count; ++k)
              loaded[r].value[k] = compat::volatileLoad(&sums.partial(at(k), chunk));
          });
          unrolled<at_once>([&](int r) {
            if (first + r * lanes < chunks)
              mine += loaded[r];
          });
        }
        reduced += mine;
      },
      result);
  return result;
}
/// sum over rows i in [begin, end) of body.row(i), which returns Sums<Count>; known to all lanes of
/// the thread. On a GPU the lanes take neighbouring rows, GpuRows of them each with their loads
/// under way at the same time. A host thread is its own only lane; there several running sums are
/// kept apart, because compilers do not reorder floating-point sums by themselves and so would not
/// use vectors: as many as the registers hold.
template <class Exec, int Count, int Strands, int GpuRows, class Member, class Index, class Body>
KOKKOS_INLINE_FUNCTION Sums<Count> sumRange(const Member& member, [[maybe_unused]] int lanes,
                                            Index begin, Index end, const Body& body) {
  Sums<Count> total;
  if constexpr (compat::IsGpu<Exec>::value) {
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, lanes),
        [&](const int lane, Sums<Count>& sums) {
          Sums<Count> mine;
          Index i = begin + lane;
          for (; i + (GpuRows - 1) * lanes < end; i += GpuRows * lanes) {
            Sums<Count> rows[GpuRows];
            unrolled<GpuRows>([&](int r) { rows[r] = body.row(i + r * lanes); });
            unrolled<GpuRows>([&](int r) { mine += rows[r]; });
          }
          for (; i < end; i += lanes)
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
/// columns: teams take some chunks of rows, see ChunkShares, and keep the sums of a chunk apart, so
/// that these do not depend on the number of columns. body.begin(column) runs first and tells
/// whether there is anything to do; body.finish(s) runs once at the end, in one thread. A body has
/// no arrays: its copy that begin() changes is in registers on GPUs only then, else in memory,
/// which takes every row longer.
template <int Count, class Device, class Body>
struct RowSumKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;
  static constexpr int strands = Count > 2 ? 8 : 16, gpu_rows = 2; ///< see sumRange()

  Body body_in;
  KernelSums sums;
  ColumnSet columns;
  Offset num_rows;
  Offset rows_per_chunk;
  int lanes;
  ChunkShares shares;

  /// What a team keeps in shared memory.
  KOKKOS_INLINE_FUNCTION static size_t scratchBytes(int team_size, int chunks_per_team) {
    return size_t(chunks_per_team) * team_size * sizeof(Sums<Count>);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    auto* const of_thread = static_cast<Sums<Count>*>( // (chunk, thread)
        member.team_shmem().get_shmem(scratchBytes(member.team_size(), shares.per_team)));
    shares.forColumnsOf(member.league_rank(), [&](int k, int first, int count, int sharing) {
      sumChunks(member, columns[k], first, count, sharing, of_thread);
    });
  }

  /// Those of a team in a column, of which `sharing` teams have some.
  KOKKOS_FUNCTION void sumChunks(const Member& member, int column, int first, int count,
                                 int sharing, Sums<Count>* of_thread) const {
    const int team_size = member.team_size();
    Body body = body_in;
    if (!body.begin(column))
      return;
    // Whole in what the lanes have under way at a time, as the chunks are.
    const int whole = compat::IsGpu<typename Device::execution_space>::value ? gpu_rows * lanes : 1;
    const Offset rows_per_thread =
        (rows_per_chunk + Offset(whole) * team_size - 1) / (Offset(whole) * team_size) * whole;
    for (int c = 0; c < count; ++c) {
      const Offset chunk_begin = (Offset(first) + c) * rows_per_chunk;
      const Offset chunk_end = min(chunk_begin + rows_per_chunk, num_rows);
      const Offset begin = min(chunk_begin + member.team_rank() * rows_per_thread, chunk_end);
      const Offset end = min(begin + rows_per_thread, chunk_end);
      const auto mine = sumRange<typename Device::execution_space, Count, strands, gpu_rows>(
          member, lanes, begin, end, body);
      Kokkos::single(Kokkos::PerThread(member),
                     [&]() { of_thread[c * team_size + member.team_rank()] = mine; });
    }
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int c) {
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        Sums<Count> sum = of_thread[c * team_size];
        for (int t = 1; t < team_size; ++t)
          sum += of_thread[c * team_size + t];
        for (int k = 0; k < Count; ++k)
          sums.partial(column * Count + k, first + c) = sum.value[k];
      });
    });
    if (isLastTeam(sums, member, column, sharing) && member.team_rank() == 0) {
      const Sums<Count> total = totalOf<Count>(sums, member, lanes, shares.chunks,
                                               [=](int k) { return column * Count + k; });
      Kokkos::single(Kokkos::PerThread(member), [&]() { body.finish(total); });
    }
  }

  KOKKOS_INLINE_FUNCTION static Offset min(Offset a, Offset b) { return a < b ? a : b; }
};

/// Ends with the sums of the process kept, for the Body to finish with those of all processes.
template <int Count, class Body>
struct KeepSumsBody {
  Body body;
  double* kept; ///< Count of each column
  int column = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int c) {
    column = c;
    return body.begin(c);
  }
  KOKKOS_INLINE_FUNCTION Sums<Count> row(Offset i) const { return body.row(i); }
  KOKKOS_INLINE_FUNCTION void finish(const Sums<Count>& sums) const {
    for (int k = 0; k < Count; ++k)
      kept[column * Count + k] = sums.value[k];
  }
};

/// body.finish(s) for the sums s of all processes, a column an item.
template <int Count, class Body>
struct FinishSumsKernel {
  Body body_in;
  ColumnSet columns;
  const double* kept;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int column = columns[static_cast<int>(item)];
    Body body = body_in;
    if (!body.begin(column))
      return;
    Sums<Count> sums;
    for (int k = 0; k < Count; ++k)
      sums.value[k] = kept[column * Count + k];
    body.finish(sums);
  }
};

/// The sums of these columns that a process has, to be summed over processes.
template <int Count, class Device>
ProcessSums<Device> sumsOfProcess(const PartialSums<Device>& sums, const ColumnSet& columns) {
  return Kokkos::subview(sums.of_process,
                         std::make_pair(0, Count * (columns[columns.size() - 1] + 1)));
}

/// Launches a RowSumKernel for all columns, asynchronous: the body's own, which finishes, or over
/// the rows of several processes, of which this one may have none, one that keeps sumsOfProcess().
template <int Count, class Device, class Body>
void launchSums(const typename Device::execution_space& exec, const char* label,
                const SumTeams& shape, const PartialSums<Device>& sums, Offset num_rows,
                const Body& body, const Reduction<Device>* reduction, const ColumnSet& columns) {
  ChunkShares shares = shape.shares(exec, columns.size());
  // On hosts a chunk each, so that threads that are held up leave theirs to others.
  if constexpr (!compat::IsGpu<typename Device::execution_space>::value)
    shares.per_team = 1;
  const auto launch = [&](const auto& of_rows) {
    using Kernel = RowSumKernel<Count, Device, std::decay_t<decltype(of_rows)>>;
    if (num_rows > 0)
      Kokkos::parallel_for(
          label,
          shape.policy(exec, Kernel::scratchBytes(shape.team_size, shares.per_team) + 16, shares),
          withinArguments(Kernel{of_rows, sums.inKernel(), columns, num_rows, shape.rows_per_chunk,
                                 shape.lanes, shares}));
  };
  if (reduction == nullptr)
    return launch(body);
  const auto kept = sumsOfProcess<Count>(sums, columns);
  if (num_rows == 0)
    Kokkos::deep_copy(exec, kept, 0.0);
  launch(KeepSumsBody<Count, Body>{body, kept.data()});
}

/// body.finish() with what sumsOfProcess() has become: a kernel of a thread a column.
template <int Count, class Device, class Body>
void finishSums(const typename Device::execution_space& exec, const PartialSums<Device>& sums,
                const Body& body, const ColumnSet& columns) {
  Kokkos::parallel_for("Ainvil::finishSums",
                       Range<typename Device::execution_space>(exec, 0, columns.size()),
                       withinArguments(FinishSumsKernel<Count, Body>{
                           body, columns, sumsOfProcess<Count>(sums, columns).data()}));
}

/// The sums over all rows, and their end: one kernel for all columns, asynchronous. Over the rows
/// of several processes, where `reduction` is not null: the kernel, one reduction, and one more
/// kernel.
template <int Count, class Device, class Body>
void sumRows(const typename Device::execution_space& exec, const char* label, const SumTeams& shape,
             const PartialSums<Device>& sums, Offset num_rows, const Body& body,
             const Reduction<Device>* reduction = nullptr,
             const ColumnSet& columns = ColumnSet::first(1)) {
  launchSums<Count>(exec, label, shape, sums, num_rows, body, reduction, columns);
  if (reduction == nullptr)
    return;
  reduction->sum(exec, sumsOfProcess<Count>(sums, columns));
  finishSums<Count>(exec, sums, body, columns);
}
/// The same as sumRows(), with work() before the sums are there: over processes they travel
/// meanwhile. work() does not see what body.finish() does, nor touches what it reads, but in one
/// process, where the kernel of the sums does that. What it throws is thrown after the sums have
/// arrived.
template <int Count, class Device, class Body, class Work>
void sumRowsDuring(const typename Device::execution_space& exec, const char* label,
                   const SumTeams& shape, const PartialSums<Device>& sums, Offset num_rows,
                   const Body& body, const Reduction<Device>* reduction, const ColumnSet& columns,
                   const Work& work) {
  if (reduction == nullptr) {
    sumRows<Count>(exec, label, shape, sums, num_rows, body, reduction, columns);
    work();
    return;
  }
  launchSums<Count>(exec, label, shape, sums, num_rows, body, reduction, columns);
  const auto of_process = sumsOfProcess<Count>(sums, columns);
  reduction->begin(exec, of_process);
  try {
    work();
  } catch (...) {
    reduction->end(exec, of_process);
    throw;
  }
  reduction->end(exec, of_process);
  finishSums<Count>(exec, sums, body, columns);
}

} // namespace detail
} // namespace ainvil
