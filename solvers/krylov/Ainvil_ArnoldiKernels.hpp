// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The two kernels of an iteration of GMRES.

#include "krylov/Ainvil_Arnoldi.hpp"
#include "krylov/Ainvil_OrthogonalityLoss.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace detail {

/// What a kernel is compiled for. The second and third form are for GPUs, where the first takes
/// more registers; addresses that depend on a column take an update 8 to 20 % more time on an H100.
enum class ArnoldiForm {
  General,
  TwiceBelow512M, ///< all vectors are orthogonalised twice, and there are fewer than 2^29 rows
  OneColumn       ///< that, and the right-hand side is column 0
};

/// What both kernels of a step work on: V, u, z and the records of some columns.
template <class Stored, class Scalar>
struct ArnoldiOperands {
  KernelBases<Stored> v;
  KernelColumn<Scalar> u;
  KernelColumn<const Scalar> z;
  ColumnSet sides; ///< those columns, right-hand sides
  ArnoldiStep step;

  /// The same for one of them, as column 0.
  ArnoldiOperands asColumn0(int side) const {
    ArnoldiOperands moved{v.from(side), u, z, ColumnSet::first(1), step.from(side)};
    moved.u.moveTo(side);
    moved.z.moveTo(side);
    return moved;
  }
  ArnoldiOperands<const Stored, const Scalar> toRead() const {
    return {v.toRead(), u.toRead(), z, sides, step};
  }
};

/// v_c . z for Width neighbouring columns v_c of V, if Again each behind v_c . u; then if Own the
/// three products u . u, u . z and z . z. An Index holds Width times the number of rows.
template <int Width, bool Again, bool Own, class Index, class Stored, class Scalar>
struct ArnoldiTile {
  static constexpr int num_products = (Again ? 2 : 1) * Width;
  static constexpr int num_sums = num_products + (Own ? 3 : 0);

  const Stored* columns;
  Index stride;
  const Scalar* u;
  const Scalar* z;

  KOKKOS_INLINE_FUNCTION Sums<num_sums> row(Index i) const {
    const double u_i = Again || Own ? double(u[i]) : 0.0;
    const double z_i = z[i];
    Sums<num_sums> products;
    for (int c = 0; c < Width; ++c) {
      const double v_i = columns[i + c * stride];
      if constexpr (Again) {
        products.value[2 * c] = v_i * u_i;
        products.value[2 * c + 1] = v_i * z_i;
      } else {
        products.value[c] = v_i * z_i;
      }
    }
    if constexpr (Own) {
      products.value[num_products] = u_i * u_i;
      products.value[num_products + 1] = u_i * z_i;
      products.value[num_products + 2] = z_i * z_i;
    }
    return products;
  }
};

/// From the inner products of step j, s = V^T u (or 0), p = V^T z and those of u and z, what the
/// update needs:
///     rho^2 = u.u - s.s,  tau = (u.z - s.p) / rho,  1 / sigma^2 = z.z - p.p - tau^2
/// and, where the loss of orthogonality is followed, whether the next candidate is orthogonalised
/// again. By the first thread of a team.
template <class Member>
KOKKOS_INLINE_FUNCTION void concludeRecord(const Member& member, const ArnoldiStep& step, int side,
                                           int j, const OrthogonalityLoss& loss) {
  member.team_barrier();
  if (member.team_rank() != 0)
    return;
  const ArnoldiRecord record = step.record(side);
  Sums<3> inner; // s.s, s.p, p.p
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, j),
      [&](const int c, Sums<3>& sum) {
        const double s = record.dotU(c);
        const double p = record.dotZ(c);
        sum.value[0] += s * s;
        sum.value[1] += s * p;
        sum.value[2] += p * p;
      },
      inner);
  // A candidate that keeps less than a tenth of its length in the second pass was rounding
  // (twice is enough: Kahan and Parlett): the basis ends here, and zeros keep what follows
  // finite.
  constexpr double kept = 0.01; // of the squared length
  const double uu = record.dotU(j);
  const double rho2 = uu - inner.value[0];
  const double inverse_norm = rho2 > kept * uu ? 1 / compat::math::sqrt(rho2) : 0.0;
  const double tau = (record.dotZ(j) - inner.value[1]) * inverse_norm;
  // The scale only has to be near 1 / norm, for the next step measures the norm; the floor
  // keeps it finite where the difference of squares cancels.
  const double zz = record.dotZ(j + 1);
  const double left = zz - inner.value[2] - tau * tau;
  const double floor = 1e-20 * zz;
  const double scale = zz > 0 ? 1 / compat::math::sqrt(left > floor ? left : floor) : 0.0;
  const bool is_followed = loss.data != nullptr && loss.is_followed;
  const bool again = is_followed && loss.follow(member, record, side, j, inverse_norm, tau, scale);
  Kokkos::single(Kokkos::PerThread(member), [&]() {
    record.inverseNorm() = inverse_norm;
    record.dotNew() = tau;
    record.scale() = scale;
    if (is_followed)
      step.next().record(side).again() = again;
  });
}

/// The same as a kernel of a team a column, for sums that have come from all processes: takes them
/// into the records first.
template <class Device>
struct ArnoldiConcludeKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;

  ArnoldiStep from, step;
  ColumnSet of;
  int j;
  OrthogonalityLoss loss;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int side = of[member.league_rank()];
    const ArnoldiRecord sums = from.record(side), record = step.record(side);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, j + 2), [&](const int c) {
      if (c <= j)
        record.dotU(c) = sums.dotU(c);
      record.dotZ(c) = sums.dotZ(c);
    });
    concludeRecord(member, step, side, j, loss);
  }
};

/// s = V^T u, where u is orthogonalised again, and p = V^T z for the first `columns` columns of V,
/// and u . u, u . z, z . z. A thread of the team takes `tile` columns at a time, the first fewer
/// and the products of u and z, and its lanes neighbouring rows of a chunk. A team has some
/// chunks, see ChunkShares; sums are by chunk, and do not depend on the teams. On GPUs a
/// chunk is split where there are fewer tiles than threads. On hosts a tile runs through the chunks
/// one after the other, so that few columns are read at a time for long. The last team adds up and,
/// if these are the sums of all rows, concludes the record. So for each of some right-hand sides.
template <class Stored, class Scalar, class Device, ArnoldiForm Form>
struct ArnoldiDotsKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;
  using Index = std::conditional_t<Form == ArnoldiForm::General, Offset, int>;
  static constexpr int tile = 4;
  /// Of a team: half of what there may be, for twice the registers, which hold the loads of four
  /// rows. Products with 27 vectors take an H200 7 % less so with 1.3 million rows, 11 % less with
  /// half of them.
  static constexpr int gpu_threads = 512;
  static constexpr int gpu_rows = SumTeams::gpu_rows;
  static constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;

  ArnoldiOperands<const Stored, const Scalar> on;
  int columns;
  KernelSums sums;
  Offset num_rows, rows_per_chunk;
  int lanes;
  ChunkShares shares;
  bool all_rows; ///< else concludeRecord() is for the sums of all processes
  OrthogonalityLoss loss;

  /// What a team keeps in shared memory.
  KOKKOS_INLINE_FUNCTION static size_t scratchBytes(int team_size, int chunks_per_team) {
    return size_t(chunks_per_team) * (2 * tile + 1) * team_size * sizeof(double);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    // Partial sums of the splits of a chunk meet here, (chunk, split, sum).
    auto* const shared = static_cast<double*>(
        member.team_shmem().get_shmem(scratchBytes(member.team_size(), shares.per_team)));
    shares.forColumnsOf(member.league_rank(), [&](int k, int first, int count, int sharing) {
      const int side = Form == ArnoldiForm::OneColumn ? 0 : on.sides[k];
      if (Form != ArnoldiForm::General || loss.again(on.step.record(side)))
        sumChunks<true>(member, side, first, count, sharing, shared);
      else if constexpr (Form == ArnoldiForm::General)
        sumChunks<false>(member, side, first, count, sharing, shared);
    });
  }

  /// Those of a team for a right-hand side, of which `sharing` teams have some.
  template <bool Again>
  KOKKOS_FUNCTION void sumChunks(const Member& member, int side, int first_chunk, int count,
                                 int sharing, double* shared) const {
    const int tiles = columns / tile + 1;
    const int splits = tiles < member.team_size() ? member.team_size() / tiles : 1;
    const int num_sums = sumsOfVector(Again) * columns + 3;
    const int first_sum = side * sumsOfSide();
    const int items = tiles * splits;
    for (int k = member.team_rank(); k < count * items; k += member.team_size()) {
      const int chunk = on_gpu ? k / items : k % count;
      const int item = on_gpu ? k % items : k / count;
      double* to = splits > 1 ? shared + (chunk * splits + item / tiles) * num_sums : nullptr;
      sumItem<Again>(member, side, item, tiles, splits, chunkAt(first_chunk + chunk), to);
    }
    if (splits > 1) {
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, count * num_sums), [&](const int k) {
        const double* of_chunk = shared + k / num_sums * splits * num_sums;
        double sum = 0;
        for (int split = 0; split < splits; ++split)
          sum += of_chunk[split * num_sums + k % num_sums];
        sums.partial(first_sum + k % num_sums, first_chunk + k / num_sums) = sum;
      });
    }
    if (isLastTeam(sums, member, side, sharing)) {
      addUp<Again>(member, side);
      if (all_rows)
        concludeRecord(member, on.step, side, columns, loss);
    }
  }

  struct Chunk {
    int number;
    Offset begin, rows;
  };
  KOKKOS_INLINE_FUNCTION Chunk chunkAt(int number) const {
    const Offset begin = number * rows_per_chunk;
    return {number, begin, begin + rows_per_chunk < num_rows ? rows_per_chunk : num_rows - begin};
  }

  /// The tile of an item for its split of a chunk.
  template <bool Again>
  KOKKOS_FORCEINLINE_FUNCTION void sumItem(const Member& member, int side, int item, int tiles,
                                           int splits, const Chunk& chunk, double* to) const {
    const int split = item / tiles;
    const Offset begin = chunk.begin + beginOfSplit(split, splits, chunk.rows);
    const Offset end = chunk.begin + beginOfSplit(split + 1, splits, chunk.rows);
    const int in_first = columns % tile;
    const int first = item % tiles == 0 ? 0 : in_first + (item % tiles - 1) * tile;
    if (item % tiles > 0)
      sumTile<tile, Again, false>(member, side, chunk.number, first, begin, end, to);
    else if (in_first == 3)
      sumTile<3, Again, true>(member, side, chunk.number, first, begin, end, to);
    else if (in_first == 2)
      sumTile<2, Again, true>(member, side, chunk.number, first, begin, end, to);
    else if (in_first == 1)
      sumTile<1, Again, true>(member, side, chunk.number, first, begin, end, to);
    else
      sumTile<0, Again, true>(member, side, chunk.number, first, begin, end, to);
  }

  /// Whole in what the lanes have under way at a time, as the chunks are.
  KOKKOS_INLINE_FUNCTION Offset beginOfSplit(int split, int splits, Offset rows) const {
    const int whole = on_gpu ? gpu_rows * lanes : 1;
    const Offset begin = (rows + whole - 1) / whole * split / splits * whole;
    return begin < rows ? begin : rows;
  }

  /// What there is room for.
  KOKKOS_INLINE_FUNCTION int sumsOfSide() const { return 2 * on.step.capacity; }
  /// Inner products with a basis vector.
  KOKKOS_INLINE_FUNCTION static constexpr int sumsOfVector(bool again) { return again ? 2 : 1; }

  /// Sums of a tile, to shared memory or, if `to` is null, to the partial sums: one or two a
  /// basis vector, then those of u and z alone.
  template <int Width, bool Again, bool Own>
  KOKKOS_FUNCTION void sumTile(const Member& member, int side, int chunk, int first, Offset begin,
                               Offset end, double* to) const {
    using Tile = ArnoldiTile<Width, Again, Own, Index, Stored, Scalar>;
    // On hosts the sums of a column do not depend on the columns beside it.
    constexpr int strands = 8;
    KernelColumn<const Scalar> u = on.u, z = on.z;
    u.moveTo(side);
    z.moveTo(side);
    const int first_sum = side * sumsOfSide();
    const auto mine = sumRange<typename Device::execution_space, Tile::num_sums, strands, gpu_rows>(
        member, lanes, Index(0), static_cast<Index>(end - begin),
        Tile{on.v.of(side) + first * on.v.vector_stride + begin,
             static_cast<Index>(on.v.vector_stride), u.data() + begin, z.data() + begin});
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      for (int k = 0; k < Tile::num_sums; ++k) {
        const int sum =
            k + sumsOfVector(Again) * (k < Tile::num_products ? first : columns - Width);
        if (to != nullptr)
          to[sum] = mine.value[k];
        else
          sums.partial(first_sum + sum, chunk) = mine.value[k];
      }
    });
  }

  /// A thread takes two basis vectors at a time, and one of them the products of u and z.
  template <bool Again>
  KOKKOS_FUNCTION void addUp(const Member& member, int side) const {
    constexpr int of_vector = sumsOfVector(Again);
    const ArnoldiRecord record = on.step.record(side);
    const int first_sum = side * sumsOfSide(), team_size = member.team_size();
    for (int c = member.team_rank(); c < columns; c += 2 * team_size) {
      const int next = c + team_size < columns ? c + team_size : c;
      const auto total = totalOf<2 * of_vector>(sums, member, lanes, shares.chunks, [&](int k) {
        return first_sum + (k < of_vector ? of_vector * c + k : of_vector * next + k - of_vector);
      });
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        record.dotU(c) = Again ? total.value[0] : 0.0;
        record.dotZ(c) = total.value[of_vector - 1];
        record.dotU(next) = Again ? total.value[of_vector] : 0.0;
        record.dotZ(next) = total.value[2 * of_vector - 1];
      });
    }
    if (member.team_rank() == columns % team_size) {
      const auto total = totalOf<3>(sums, member, lanes, shares.chunks,
                                    [&](int k) { return first_sum + of_vector * columns + k; });
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        record.dotU(columns) = total.value[0];
        record.dotZ(columns) = total.value[1];
        record.dotZ(columns + 1) = total.value[2];
      });
    }
  }
};

/// v_j = (u - V s) / rho,  u = (z - V p - tau v_j) sigma, for a run of rows of a right-hand side:
/// the candidate becomes a basis vector, and what is left of z the next candidate. Where u is not
/// orthogonalised again s is 0.
template <class Stored, class Scalar, class Device, ArnoldiForm Form>
struct ArnoldiUpdateKernel {
  static constexpr int longest = longestRun<typename Device::execution_space>();

  ArnoldiOperands<Stored, Scalar> on;
  ColumnRuns runs; ///< of the same columns
  Offset num_rows;
  int j;
  OrthogonalityLoss loss;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    const int side = Form == ArnoldiForm::OneColumn ? 0 : runs.columnOf(item);
    const Offset first = firstOfRun<longest>(runs, item);
    if (Form != ArnoldiForm::General || loss.again(on.step.record(side)))
      runOrRows<true>(side, first);
    else if constexpr (Form == ArnoldiForm::General)
      runOrRows<false>(side, first);
  }

  /// Runs of one row, those of GPUs, never take the second branch; without it nvcc 13 takes 40
  /// registers a thread, with it 32.
  template <bool Again>
  KOKKOS_INLINE_FUNCTION void runOrRows(int side, Offset first) const {
    if (longest > 1 || first + longest <= num_rows)
      run<Again>(side, first);
    else
      for (Offset i = first; i < num_rows; ++i)
        run<Again>(side, i);
  }

  template <bool Again>
  KOKKOS_INLINE_FUNCTION void run(int side, Offset first) const {
    const int rows = rowsOfRun<longest>(runs, first, num_rows);
    const ArnoldiRecord record = on.step.record(side);
    const Offset stride = on.v.vector_stride;
    Stored* const v_0 = on.v.of(side) + first;
    KernelColumn<Scalar> u = on.u;
    KernelColumn<const Scalar> z = on.z;
    u.moveTo(side);
    z.moveTo(side);
    double u_new[Again ? longest : 1], z_new[longest];
    for (int r = 0; r < rows; ++r) {
      if constexpr (Again)
        u_new[r] = u[first + r];
      z_new[r] = z[first + r];
    }
    forColumnsByFour(j, [&](const auto width, const int c) {
      constexpr int w = decltype(width)::value;
      const Stored* v_c[w];
      double s[w], p[w];
      for (int k = 0; k < w; ++k) {
        v_c[k] = v_0 + (c + k) * stride;
        s[k] = record.dotU(c + k);
        p[k] = record.dotZ(c + k);
      }
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < w; ++k) {
          if constexpr (Again)
            u_new[r] -= double(v_c[k][r]) * s[k];
          z_new[r] -= double(v_c[k][r]) * p[k];
        }
    });
    const double inverse_norm = record.inverseNorm();
    const double tau = record.dotNew();
    const double scale = record.scale();
    Stored* const v_j = v_0 + j * stride;
    for (int r = 0; r < rows; ++r) {
      const double v_new = (Again ? u_new[r] : double(u[first + r])) * inverse_norm;
      v_j[r] = static_cast<Stored>(v_new);
      u[first + r] = static_cast<Scalar>((z_new[r] - tau * v_new) * scale);
    }
  }
};

} // namespace detail
} // namespace ainvil
