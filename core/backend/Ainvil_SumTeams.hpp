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

/// Which teams take which chunks of some columns: the chunks of a column stand behind those of the
/// column before, and a team takes `per_team` neighbouring ones, which may be of two columns or
/// more.
struct ChunkShares {
  int chunks = 0;   ///< of a column
  int columns = 1;  ///< of a launch
  int per_team = 1; ///< chunks

  KOKKOS_INLINE_FUNCTION int teams() const { return (chunks * columns + per_team - 1) / per_team; }

  /// Calls f(k, first, count, sharing) for the chunks of a team: first, ..., first + count - 1 of
  /// the k-th column, of which that many teams share the chunks.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void forColumnsOf(int team, const F& f) const {
    const int end =
        (team + 1) * per_team < chunks * columns ? (team + 1) * per_team : chunks * columns;
    for (int at = team * per_team; at < end;) {
      const int k = at / chunks, begin = k * chunks;
      const int count = (end < begin + chunks ? end : begin + chunks) - at;
      f(k, at - begin, count, (begin + chunks - 1) / per_team - begin / per_team + 1);
      at += count;
    }
  }
};

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

  /// Rows that the lanes of a thread have under way at the same time in the kernel of GMRES, for
  /// each of them.
  static constexpr int gpu_rows = 4;

  /// GPUs: at most a chunk a multiprocessor, which runs 2 gpu_threads: as few partial sums as keep
  /// the memory busy. Chunks are multiples of the rows that a thread has under way at a time: what
  /// is left of a chunk would be loaded row by row, a wait for memory each
  /// (docs/results/decisions.md, Several right-hand sides on GPUs).
  /// Hosts: chunks of hostChunk() rows, so that vectors that are read repeatedly, 32 KiB each in
  /// double, stay in the L2 cache. They depend on the number of rows alone, and so do the sums.
  template <class Exec>
  static SumTeams forRows(const Exec& exec, Offset num_rows) {
    SumTeams shape;
    if constexpr (compat::IsGpu<Exec>::value) {
      shape.lanes = Kokkos::TeamPolicy<Exec>::vector_length_max();
      shape.team_size = gpu_threads / shape.lanes;
      const Offset teams = gpuTeams(exec), whole = gpu_rows * shape.lanes;
      const Offset rows = std::max<Offset>(gpu_threads, (num_rows + teams - 1) / teams);
      shape.rows_per_chunk = (rows + whole - 1) / whole * whole;
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

  /// GPUs: so many chunks a team that the columns have no more teams than run at a time. More would
  /// wait for others to end, each of which leaves the memory idle while it adds up; that is little
  /// where chunks are long. Hosts: up to four, if a column has so many for each thread.
  template <class Exec>
  ChunkShares shares(const Exec& exec, int columns) const {
    ChunkShares shares{chunks, columns, 1};
    if constexpr (compat::IsGpu<Exec>::value) {
      if (rows_per_chunk <= longest_shared_chunk)
        shares.per_team = std::max(1, (chunks * columns + gpuTeams(exec) - 1) / gpuTeams(exec));
    } else {
      shares.per_team = std::max(1, std::min<int>(4, chunks / exec.concurrency()));
    }
    return shares;
  }

  /// With so many bytes of scratch memory a team.
  template <int GpuThreads = gpu_threads, class Exec>
  Policy<Exec, GpuThreads> policy(const Exec& exec, size_t scratch_bytes,
                                  const ChunkShares& shares) const {
    Policy<Exec, GpuThreads> policy(exec, shares.teams(), teamSize<GpuThreads>(), lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
    return policy;
  }

private:
  template <class Exec>
  static int gpuTeams(const Exec& exec) {
    return std::max(1, exec.concurrency() / (2 * gpu_threads));
  }
};

/// The arrays of PartialSums in a kernel. Of the few bytes that a launch passes as arguments (see
/// withinArguments) a pointer takes 8, a view 24 to 72, by its rank and the version of Kokkos.
struct KernelSums {
  double* partials;
  Offset chunks; ///< of a column
  int* teams_done;

  KOKKOS_FORCEINLINE_FUNCTION double& partial(int sum, int chunk) const {
    return partials[sum * chunks + chunk];
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

  KernelSums inKernel() const {
    return {partials.data(), Offset(partials.extent(1)), teams_done.data()};
  }

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
