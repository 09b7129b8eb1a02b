// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The shape of launches that sum over all rows, and where their partial sums are kept.

#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_Reduction.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// Rows of a vector that a thread of a host takes at a time: 64 chunks for threads to share, but
/// of at least 256 rows, 2 KiB in double, for hardware to fetch ahead, and at most 4096.
constexpr int longest_host_chunk = 4096;
inline Offset hostChunk(Offset num_rows) {
  return std::max<Offset>(256, std::min<Offset>(longest_host_chunk, (num_rows + 63) / 64));
}

/// Shape of a launch that sums over rows: a partial sum for each chunk of consecutive rows, of
/// which a team takes one or some neighbouring ones.
struct SumTeams {
  int lanes = 1;
  int team_size = 1;
  Offset rows_per_chunk = 1;
  int chunks = 0;

  static constexpr int gpu_threads = 1024; ///< of a team: the most there are on CUDA
  /// The rows of the longest chunks that share a team on GPUs. Measured on an H200 with inner
  /// products of eight times 15 vectors: sharing saves a tenth with 2000 rows a chunk, and costs a
  /// tenth with 9600.
  static constexpr Offset longest_shared_chunk = 4096;

  /// GPUs: a chunk a multiprocessor, which runs 2 gpu_threads: as few partial sums as keep the
  /// memory busy.
  /// Hosts: chunks of hostChunk() rows, so that vectors that are read repeatedly, 32 KiB each in
  /// double, stay in the L2 cache. They depend on the number of rows alone, and so do the sums.
  template <class Exec>
  static SumTeams forRows(const Exec& exec, Offset num_rows) {
    SumTeams shape;
    if constexpr (compat::IsGpu<Exec>::value) {
      shape.lanes = Kokkos::TeamPolicy<Exec>::vector_length_max();
      shape.team_size = gpu_threads / shape.lanes;
      const Offset teams = std::max(1, exec.concurrency() / (2 * gpu_threads));
      shape.rows_per_chunk = std::max<Offset>(gpu_threads, (num_rows + teams - 1) / teams);
    } else {
      shape.rows_per_chunk = hostChunk(num_rows);
    }
    shape.chunks = static_cast<int>((num_rows + shape.rows_per_chunk - 1) / shape.rows_per_chunk);
    return shape;
  }

  /// Threads of a team where one on GPUs has so many, lanes counted.
  template <int GpuThreads>
  int teamSize() const {
    return team_size > 1 ? GpuThreads / lanes : 1;
  }

  /// The bounds keep the registers few enough for such a team.
  template <class Exec, int GpuThreads = gpu_threads>
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<GpuThreads, 1>>;

  /// Neighbouring chunks that a team may take one after the other, where each has sums of its own.
  /// GPUs: so many that columns have no more teams together than one alone. More would wait for
  /// others to end, each of which leaves the memory idle while it adds up; that is little where
  /// chunks are long. Hosts: up to four, if there are so many for each thread.
  template <class Exec>
  int chunksPerTeam(const Exec& exec, int columns) const {
    if constexpr (compat::IsGpu<Exec>::value) {
      if (rows_per_chunk > longest_shared_chunk)
        return 1;
      const int teams = std::max(1, chunks / columns); // of a column
      return (chunks + teams - 1) / teams;
    }
    return std::max(1, std::min<int>(4, chunks / exec.concurrency()));
  }

  /// For so many columns of a multivector, whose teams come one column after the other.
  template <int GpuThreads = gpu_threads, class Exec>
  Policy<Exec, GpuThreads> policy(const Exec& exec, size_t scratch_bytes, int columns = 1,
                                  int chunks_per_team = 1) const {
    const int teams = (chunks + chunks_per_team - 1) / chunks_per_team;
    Policy<Exec, GpuThreads> policy(exec, teams * columns, teamSize<GpuThreads>(), lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
    return policy;
  }
};

/// One partial sum a chunk, added up by whichever team of a column ends last: no second launch.
template <class Device>
struct PartialSums {
  using Partials = Kokkos::View<double**, Kokkos::LayoutRight, Device>;

  Partials partials;                     ///< (sum, chunk), the sums of a column together
  Kokkos::View<int*, Device> teams_done; ///< (column), 0 between launches
  /// The sums of all rows of a process, to be summed over processes; else empty.
  ProcessSums<Device> of_process;

  PartialSums() = default;
  /// Room for `num_sums` sums a column of launches of the given shape, with a reduction also for
  /// those of a process.
  PartialSums(const typename Device::execution_space& exec, int num_sums, const SumTeams& shape,
              const Reduction<Device>* reduction = nullptr, int columns = 1)
      : partials(allocateView<Partials>(exec, "Ainvil::partial_sums", size_t(num_sums) * columns,
                                        size_t(shape.chunks))),
        teams_done(allocateZeros<int, Device>(exec, "Ainvil::teams_done", columns)) {
    if (reduction != nullptr)
      of_process = allocateZeros<double, typename ProcessSums<Device>::device_type>(
          exec, "Ainvil::sums_of_process", num_sums * columns);
  }
};

} // namespace detail
} // namespace ainvil
