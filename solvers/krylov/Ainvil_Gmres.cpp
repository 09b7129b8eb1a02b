// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Gmres.hpp"

#include "krylov/Ainvil_KrylovKernels.hpp"

#include <algorithm>
#include <limits>

namespace ainvil {
namespace detail {
namespace {

/// v_c . u and v_c . z for Width neighbouring columns v_c of V, then if Own u . u, u . z and z . z.
template <int Width, bool Own, class Stored, class Scalar>
struct ArnoldiTile {
  static constexpr int num_sums = 2 * Width + (Own ? 3 : 0);

  const Stored* columns;
  Offset stride;
  const Scalar* u;
  const Scalar* z;

  KOKKOS_INLINE_FUNCTION Sums<num_sums> row(Offset i) const {
    const double u_i = u[i];
    const double z_i = z[i];
    Sums<num_sums> products;
    for (int c = 0; c < Width; ++c) {
      const double v_i = columns[i + c * stride];
      products.value[2 * c] = v_i * u_i;
      products.value[2 * c + 1] = v_i * z_i;
    }
    if constexpr (Own) {
      products.value[2 * Width] = u_i * u_i;
      products.value[2 * Width + 1] = u_i * z_i;
      products.value[2 * Width + 2] = z_i * z_i;
    }
    return products;
  }
};

/// s = V^T u and p = V^T z for the first `columns` columns of V, and u . u, u . z, z . z. A thread
/// of the team takes `tile` columns at a time, the first fewer and the products of u and z, and its
/// lanes neighbouring rows of the team's chunk; with fewer tiles than threads the chunk is split as
/// well. The last team adds up and computes what the update needs:
///     rho^2 = u.u - s.s,  tau = (u.z - s.p) / rho,  1 / sigma^2 = z.z - p.p - tau^2
template <class Stored, class Scalar, class Device>
struct ArnoldiDotsKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;
  static constexpr int tile = 4;

  MultiVectorArg<const Stored, Device> v;
  const Scalar* u;
  const Scalar* z;
  int columns;
  PartialSums<Device> sums;
  Offset num_rows, rows_per_team;
  int lanes;
  ArnoldiRecord record;

  /// What a team keeps in shared memory.
  KOKKOS_INLINE_FUNCTION static size_t scratchBytes(int team_size) {
    return (2 * tile + 1) * team_size * sizeof(double);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int tiles = columns / tile + 1;
    const int splits = tiles < member.team_size() ? member.team_size() / tiles : 1;
    const Offset begin = Offset(member.league_rank()) * rows_per_team;
    const Offset rows = begin + rows_per_team < num_rows ? rows_per_team : num_rows - begin;
    // Partial sums of the splits of a chunk meet here, (split, sum).
    const int num_sums = 2 * columns + 3;
    auto* shared =
        static_cast<double*>(member.team_shmem().get_shmem(scratchBytes(member.team_size())));
    for (int item = member.team_rank(); item < tiles * splits; item += member.team_size()) {
      const int split = item / tiles;
      const Offset split_begin = begin + rows * split / splits;
      const Offset split_end = begin + rows * (split + 1) / splits;
      const int in_first = columns % tile;
      const int first = item % tiles == 0 ? 0 : in_first + (item % tiles - 1) * tile;
      double* to = splits > 1 ? shared + split * num_sums : nullptr;
      if (item % tiles > 0)
        sumTile<tile, false>(member, first, split_begin, split_end, to);
      else if (in_first == 3)
        sumTile<3, true>(member, first, split_begin, split_end, to);
      else if (in_first == 2)
        sumTile<2, true>(member, first, split_begin, split_end, to);
      else if (in_first == 1)
        sumTile<1, true>(member, first, split_begin, split_end, to);
      else
        sumTile<0, true>(member, first, split_begin, split_end, to);
    }
    if (splits > 1) {
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, num_sums), [&](const int k) {
        double sum = 0;
        for (int split = 0; split < splits; ++split)
          sum += shared[split * num_sums + k];
        sums.partials(k, member.league_rank()) = sum;
      });
    }
    if (isLastTeam(sums, member))
      finish(member);
  }

  /// Sums of a tile, to shared memory or, if `to` is null, to the partial sums: two a column, then
  /// those of u and z alone.
  template <int Width, bool Own>
  KOKKOS_FUNCTION void sumTile(const Member& member, int first, Offset begin, Offset end,
                               double* to) const {
    using Tile = ArnoldiTile<Width, Own, Stored, Scalar>;
    // On hosts the sums of a column do not depend on the columns beside it.
    constexpr int strands = 8;
    const auto mine = sumRange<typename Device::execution_space, Tile::num_sums, strands>(
        member, lanes, begin, end,
        Tile{v.data() + first * Offset(v.stride(1)), Offset(v.stride(1)), u, z});
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      for (int k = 0; k < Tile::num_sums; ++k) {
        const int sum = k < 2 * Width ? 2 * first + k : 2 * (columns - Width) + k;
        if (to != nullptr)
          to[sum] = mine.value[k];
        else
          sums.partials(sum, member.league_rank()) = mine.value[k];
      }
    });
  }

  KOKKOS_FUNCTION void finish(const Member& member) const {
    for (int c = member.team_rank(); c < columns; c += member.team_size()) {
      const Sums<2> total = totalOf<2>(sums, member, lanes, 2 * c);
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        record.dotU(c) = total.value[0];
        record.dotZ(c) = total.value[1];
      });
    }
    if (member.team_rank() == columns % member.team_size()) {
      const Sums<3> total = totalOf<3>(sums, member, lanes, 2 * columns);
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        record.dotU(columns) = total.value[0];
        record.dotZ(columns) = total.value[1];
        record.dotZ(columns + 1) = total.value[2];
      });
    }
    member.team_barrier();
    if (member.team_rank() != 0)
      return;
    Sums<3> inner; // s.s, s.p, p.p
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, columns),
        [&](const int c, Sums<3>& sum) {
          const double s = record.dotU(c);
          const double p = record.dotZ(c);
          sum.value[0] += s * s;
          sum.value[1] += s * p;
          sum.value[2] += p * p;
        },
        inner);
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      // A candidate that keeps less than a tenth of its length in the second pass was rounding
      // (twice is enough: Kahan and Parlett): the basis ends here, and zeros keep what follows
      // finite.
      constexpr double kept = 0.01; // of the squared length
      const double uu = record.dotU(columns);
      const double rho2 = uu - inner.value[0];
      const double inverse_norm = rho2 > kept * uu ? 1 / compat::math::sqrt(rho2) : 0.0;
      const double tau = (record.dotZ(columns) - inner.value[1]) * inverse_norm;
      // The scale only has to be near 1 / norm, for the next step measures the norm; the floor
      // keeps it finite where the difference of squares cancels.
      const double zz = record.dotZ(columns + 1);
      const double left = zz - inner.value[2] - tau * tau;
      const double floor = 1e-20 * zz;
      record.inverseNorm() = inverse_norm;
      record.dotNew() = tau;
      record.scale() = zz > 0 ? 1 / compat::math::sqrt(left > floor ? left : floor) : 0.0;
    });
  }
};

/// v_j = (u - V s) / rho,  u = (z - V p - tau v_j) sigma, for a run of rows: the candidate becomes
/// a basis vector, and what is left of z the next candidate.
template <class Stored, class Scalar, class Device>
struct ArnoldiUpdateKernel {
  static constexpr int block = rowsAtOnce<typename Device::execution_space>();

  MultiVectorArg<Stored, Device> v;
  Scalar* u;
  const Scalar* z;
  Offset num_rows;
  int j;
  ArnoldiRecord record;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const Offset first = item * block;
    if (first + block <= num_rows)
      rows<block>(first);
    else
      for (Offset i = first; i < num_rows; ++i)
        rows<1>(i);
  }

  template <int Rows>
  KOKKOS_INLINE_FUNCTION void rows(Offset first) const {
    double u_new[Rows], z_new[Rows];
    for (int r = 0; r < Rows; ++r) {
      u_new[r] = u[first + r];
      z_new[r] = z[first + r];
    }
    forColumnsByFour(j, [&](const auto width, const int c) {
      constexpr int w = decltype(width)::value;
      const Stored* v_c[w];
      double s[w], p[w];
      for (int k = 0; k < w; ++k) {
        v_c[k] = &v(first, c + k);
        s[k] = record.dotU(c + k);
        p[k] = record.dotZ(c + k);
      }
      for (int r = 0; r < Rows; ++r)
        for (int k = 0; k < w; ++k) {
          u_new[r] -= double(v_c[k][r]) * s[k];
          z_new[r] -= double(v_c[k][r]) * p[k];
        }
    });
    const double inverse_norm = record.inverseNorm();
    const double tau = record.dotNew();
    const double scale = record.scale();
    Stored* v_j = &v(first, j);
    for (int r = 0; r < Rows; ++r) {
      const double v_new = u_new[r] * inverse_norm;
      v_j[r] = static_cast<Stored>(v_new);
      u[first + r] = static_cast<Scalar>((z_new[r] - tau * v_new) * scale);
    }
  }
};

} // namespace
} // namespace detail

using detail::ArnoldiRecord;

template <class Scalar, class Device>
Gmres<Scalar, Device>::Gmres(SolverOptions options, Flexible flexible)
    : Base(std::move(options), flexible == Flexible::Yes ? "FGMRES" : "GMRES",
           flexible == Flexible::Yes ? nullptr : "x = x_0 + M V y holds for one fixed M only"),
      flexible_(flexible == Flexible::Yes) {}

template <class Scalar, class Device>
void Gmres<Scalar, Device>::allocate(const execution_space& exec, Offset n, bool preconditioned) {
  length_ = static_cast<int>(
      std::max<Offset>(1, std::min<Offset>({options_.restart, options_.max_iterations, n})));
  basis_ = work_ = z_ = {}; // frees memory first
  single_basis_ = {};
  const auto vectors = [&](auto& to, const char* label, int count) {
    to = allocateView<std::decay_t<decltype(to)>>(exec, label, size_t(n), size_t(count));
  };
  withBasis([&](auto& basis) { vectors(basis, "Ainvil::Gmres::basis", length_); });
  vectors(work_, "Ainvil::Gmres::candidate", 2);
  const int stored = flexible_ ? length_ : 1;
  vectors(z_, "Ainvil::Gmres::preconditioned", preconditioned ? stored : 0);
  sums_ = detail::PartialSums<Device>(exec, 2 * length_ + 3, shape_);
  // Zeros: records are read as a whole, also where a step has written nothing.
  records_ =
      allocateZeros<double, Device>(exec, "Ainvil::Gmres::records", (length_ + 1) * recordSize());
  coefficients_ = ainvil::allocate<double, Device>(exec, "Ainvil::Gmres::coefficients", length_);
  host_records_ = hostMirror(records_);
  host_coefficients_ = hostMirror(coefficients_);
}

/// The relative size at which a norm is nothing but rounding. A product carries that of its row
/// sums: 100 eps, for rows of up to 100 entries; a basis in float that of its values. Too large an
/// answer ends a cycle early, which costs a restart and no accuracy.
template <class Scalar, class Device>
double Gmres<Scalar, Device>::negligible() const {
  const double of_products = 100.0 * std::numeric_limits<Scalar>::epsilon();
  const double of_basis = std::numeric_limits<float>::epsilon();
  return options_.basis == Storage::Float ? std::max(of_products, of_basis) : of_products;
}

/// One cycle.
template <class Scalar, class Device>
typename Gmres<Scalar, Device>::Stop Gmres<Scalar, Device>::run(const System& system,
                                                                SolveResult& result) {
  if (result.iterations == 0) // the first of this solve
    arnoldi_.start(negligible());
  const int length = std::min(length_, options_.max_iterations - result.iterations);
  const int columns = runCycle(system, length, result);
  if (arnoldi_.failed())
    return {SolveStatus::Diverged, "A or the preconditioner gave NaN or Inf"};
  const int used = correct(system, columns);
  if (used < columns)
    result.rel_residual = arnoldi_.residual(used) / system.b_norm;
  if (arnoldi_.singular()) // goes on if the residual has become smaller: A M may be nearly singular
                           // only
    return {SolveStatus::Breakdown,
            system.m != nullptr ? "the preconditioned matrix is singular to rounding"
                                : "the matrix is singular to rounding",
            singularAdvice(system.m != nullptr), true};
  return {};
}

/// Where M approximates A^-1, a product with A M changes lengths little. Growth by orders of
/// magnitude says that M is to blame, not A.
template <class Scalar, class Device>
std::string Gmres<Scalar, Device>::singularAdvice(bool preconditioned) const {
  if (!preconditioned)
    return "A is singular or close to it, and b not in its range; where A is only badly scaled, "
           "scale it or take a preconditioner";
  constexpr double suspicious = 1e6;
  const double growth = arnoldi_.largestColumn();
  if (growth > suspicious)
    return message("the preconditioner and A together make vectors ", growth,
                   " times as long, so the preconditioner is far from an inverse of A; reorder or "
                   "scale A, or take another one (more fill, larger pivots)");
  return "A is singular or close to it, or the preconditioner is; where A is not, reorder or scale "
         "it, or take another preconditioner";
}

/// Runs up to `length` steps from the residual in candidate() and appends to the history. Returns
/// the number of basis vectors whose combination is the iterate to be taken. Where the open column
/// ends the cycle, or seems to, one more kernel of inner products makes it final.
template <class Scalar, class Device>
int Gmres<Scalar, Device>::runCycle(const System& system, int length, SolveResult& result) {
  const execution_space& exec = system.exec;
  const int interval = detail::checkInterval<Device>(options_);
  arnoldi_.startCycle(length);
  int columns = 0;
  int seen = 0;
  for (int j = 0; j < length; ++j) {
    multiply(system, j);
    takeInnerProducts(exec, j, product());
    update(exec, j);
    const bool last = j + 1 == length;
    if (!last && (j + 1) % interval != 0)
      continue;

    if (last)
      takeInnerProducts(exec, j + 1, candidate());
    readRecords(exec, seen, last ? j + 2 : j + 1);
    for (; seen <= j; ++seen)
      arnoldi_.add(seen, record(host_records_.data(), seen));
    const bool near = !last && arnoldi_.predictedResidual() <= options_.tolerance * system.b_norm;
    if (near) {
      takeInnerProducts(exec, j + 1, candidate());
      readRecords(exec, j + 1, j + 2);
    }
    if (last || near)
      arnoldi_.close(j + 1, record(host_records_.data(), j + 1));

    while (columns < arnoldi_.columns() && !(columns > 0 && converged(result))) {
      ++columns;
      ++result.iterations;
      result.rel_residual = arnoldi_.residual(columns) / system.b_norm;
      result.history.push_back(result.rel_residual);
    }
    if (options_.progress)
      options_.progress(result.iterations, result.rel_residual);
    if (arnoldi_.exhausted() || arnoldi_.failed() || (columns > 0 && converged(result)))
      break;
  }
  return columns;
}

/// product = A M candidate
template <class Scalar, class Device>
void Gmres<Scalar, Device>::multiply(const System& system, int j) {
  if (system.m == nullptr) {
    system.a.apply(system.exec, candidate(), product());
    return;
  }
  system.m->apply(system.exec, candidate(), preconditioned(j));
  system.a.apply(system.exec, preconditioned(j), product());
}

/// Inner products of the first `columns` basis vectors with the candidate u and with z, into record
/// `columns`. With z = u what they say of z is worthless.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::takeInnerProducts(const execution_space& exec, int columns,
                                              VectorArg z) {
  withBasis([&](const auto& basis) {
    using Stored = typename std::decay_t<decltype(basis)>::value_type;
    using Kernel = detail::ArnoldiDotsKernel<Stored, Scalar, Device>;
    Kokkos::parallel_for(
        "Ainvil::Gmres::innerProducts", shape_.policy(exec, Kernel::scratchBytes(shape_.team_size)),
        Kernel{basis, candidate().data(), z.data(), columns, sums_, n_, shape_.rows_per_team,
               shape_.lanes, record(records_.data(), columns)});
  });
}

/// Makes the candidate basis vector j and what is left of the product the next candidate.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::update(const execution_space& exec, int j) {
  withBasis([&](const auto& basis) {
    using Stored = typename std::decay_t<decltype(basis)>::value_type;
    using Kernel = detail::ArnoldiUpdateKernel<Stored, Scalar, Device>;
    const Offset items = (n_ + Kernel::block - 1) / Kernel::block;
    Kokkos::parallel_for(
        "Ainvil::Gmres::update", detail::Range<execution_space>(exec, 0, items),
        Kernel{basis, candidate().data(), product().data(), n_, j, record(records_.data(), j)});
  });
}

/// Brings the records [first, last) to the host in one transfer.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::readRecords(const execution_space& exec, int first, int last) {
  const auto range = std::make_pair(first * recordSize(), last * recordSize());
  Kokkos::deep_copy(exec, Kokkos::subview(host_records_, range), Kokkos::subview(records_, range));
  compat::fence(exec, "Ainvil::Gmres::readRecords");
}

/// x += M V y, or if flexible x += Z R^-1 y. Returns the number of columns that took part.
template <class Scalar, class Device>
int Gmres<Scalar, Device>::correct(const System& system, int columns) {
  const execution_space& exec = system.exec;
  columns = arnoldi_.solve(columns, host_coefficients_.data());
  if (columns == 0)
    return 0;
  const bool from_z = flexible_ && system.m != nullptr;
  if (from_z)
    toCandidates(host_coefficients_.data(), columns);
  Kokkos::deep_copy(exec, coefficients_, host_coefficients_);
  const auto combine = [&](const auto& v, int beta, VectorArg y) {
    using Stored = typename std::decay_t<decltype(v)>::value_type;
    detail::combineColumns<Stored, Scalar, Device>(exec, v, coefficients_, columns, beta, y);
  };
  if (from_z) {
    combine(z_, 1, system.x);
  } else if (system.m == nullptr) {
    withBasis([&](const auto& basis) { combine(basis, 1, system.x); });
  } else {
    withBasis([&](const auto& basis) { combine(basis, 0, preconditioned(0)); });
    system.m->apply(exec, preconditioned(0), system.x, Trans::No, Scalar(1), Scalar(1));
  }
  return columns;
}

/// y = R^-1 y: from coefficients of the z~_j to those of the M_j u_j. Column j of R is in record j.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::toCandidates(double* y, int columns) const {
  for (int j = columns - 1; j >= 0; --j) {
    const ArnoldiRecord step = record(host_records_.data(), j);
    y[j] *= step.inverseNorm();
    for (int k = 0; k < j; ++k)
      y[k] -= step.dotU(k) * y[j];
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Gmres<double, DEVICE>;                                                            \
  template class Gmres<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
