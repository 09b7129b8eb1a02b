// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sums over all rows that finish inside the kernel that takes them, and the vector operations
/// built on them. Sums are taken in double whatever the vectors hold, always in the same order: a
/// result does not depend on the schedule.

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

/// True in every thread of one team: the one after whose stores no other team stores any more.
template <class Device, class Member>
KOKKOS_FUNCTION bool isLastTeam(const PartialSums<Device>& sums, const Member& member) {
  member.team_barrier();
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(member),
      [&](int& out) {
        Kokkos::memory_fence();
        out = Kokkos::atomic_fetch_add(&sums.teams_done(0), 1) == member.league_size() - 1;
        if (out != 0)
          sums.teams_done(0) = 0;
        Kokkos::memory_fence();
      },
      last);
  return last != 0;
}

/// Sums first .. first + Count - 1 over all teams, the lanes spread over the teams. For the last
/// team; the loads go to memory because other teams wrote during the kernel.
template <int Count, class Device, class Member>
KOKKOS_FUNCTION Sums<Count> totalOf(const PartialSums<Device>& sums, const Member& member,
                                    int lanes, int first) {
  Sums<Count> result;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, lanes),
      [&](const int lane, Sums<Count>& reduced) {
        Sums<Count> mine;
        unrolledBy<4, int>(lane, member.league_size(), lanes, [&](int team) {
          for (int k = 0; k < Count; ++k)
            mine.value[k] += compat::volatileLoad(&sums.partials(first + k, team));
        });
        reduced += mine;
      },
      result);
  return result;
}

/// Rows that one iteration of a host loop takes together, so that loops over columns inside it run
/// on vectors.
template <class Exec>
constexpr int rowsAtOnce() {
  return compat::IsGpu<Exec>::value ? 1 : 256;
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
template <class Exec, int Count, int Strands = (Count > 2 ? 8 : 16), class Member, class Body>
KOKKOS_INLINE_FUNCTION Sums<Count> sumRange(const Member& member, [[maybe_unused]] int lanes,
                                            Offset begin, Offset end, const Body& body) {
  Sums<Count> total;
  if constexpr (compat::IsGpu<Exec>::value) {
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, lanes),
        [&](const int lane, Sums<Count>& sums) {
          Sums<Count> mine;
          unrolledBy<2, Offset>(begin + lane, end, lanes, [&](Offset i) { mine += body.row(i); });
          sums += mine;
        },
        total);
  } else {
    double strands[Count][Strands] = {};
    Offset i = begin;
    for (; i + Strands <= end; i += Strands)
      for (int l = 0; l < Strands; ++l) {
        const Sums<Count> row = body.row(i + l);
        for (int k = 0; k < Count; ++k)
          strands[k][l] += row.value[k];
      }
    for (; i < end; ++i)
      total += body.row(i);
    for (int k = 0; k < Count; ++k)
      for (int l = 0; l < Strands; ++l)
        total.value[k] += strands[k][l];
  }
  return total;
}

/// s = sum over all rows i of body.row(i), which may update vectors on the way. body.begin() runs
/// first and tells whether there is anything to do; body.finish(s) runs once at the end, in one
/// thread.
template <int Count, class Device, class Body>
struct RowSumKernel {
  using Member = typename Kokkos::TeamPolicy<typename Device::execution_space>::member_type;

  Body body_in;
  PartialSums<Device> sums;
  Offset num_rows;
  Offset rows_per_team;
  int lanes;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Body body = body_in;
    if (!body.begin())
      return;
    const Offset rows_per_thread = (rows_per_team + member.team_size() - 1) / member.team_size();
    const Offset team_begin = Offset(member.league_rank()) * rows_per_team;
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
        sums.partials(k, member.league_rank()) = of_thread[0].value[k];
    });
    if (isLastTeam(sums, member) && member.team_rank() == 0) {
      const Sums<Count> total = totalOf<Count>(sums, member, lanes, 0);
      Kokkos::single(Kokkos::PerThread(member), [&]() { body.finish(total); });
    }
  }

  KOKKOS_INLINE_FUNCTION static Offset min(Offset a, Offset b) { return a < b ? a : b; }
};

/// Ends with the sums of the process kept, for the Body to finish with those of all processes.
template <int Count, class Device, class Body>
struct KeepSumsBody {
  Body body;
  Kokkos::View<double*, Device> kept;

  KOKKOS_INLINE_FUNCTION bool begin() { return body.begin(); }
  KOKKOS_INLINE_FUNCTION Sums<Count> row(Offset i) const { return body.row(i); }
  KOKKOS_INLINE_FUNCTION void finish(const Sums<Count>& sums) const {
    for (int k = 0; k < Count; ++k)
      kept(k) = sums.value[k];
  }
};

/// body.finish(s) for the sums s of all processes.
template <int Count, class Device, class Body>
struct FinishSumsKernel {
  Body body_in;
  Kokkos::View<const double*, Device> kept;

  KOKKOS_FUNCTION void operator()(const Offset) const {
    Body body = body_in;
    if (!body.begin())
      return;
    Sums<Count> sums;
    for (int k = 0; k < Count; ++k)
      sums.value[k] = kept(k);
    body.finish(sums);
  }
};

/// Launches a RowSumKernel: one kernel, asynchronous. Over the rows of several processes, where
/// `reduction` is not null and this one may have none: the kernel, one reduction, and one more
/// kernel of one thread.
template <int Count, class Device, class Body>
void sumRows(const typename Device::execution_space& exec, const char* label, const SumTeams& shape,
             const PartialSums<Device>& sums, Offset num_rows, const Body& body,
             const Reduction<Device>* reduction = nullptr) {
  const auto launch = [&](const auto& of_rows) {
    using Kernel = RowSumKernel<Count, Device, std::decay_t<decltype(of_rows)>>;
    if (num_rows > 0)
      Kokkos::parallel_for(label, shape.policy(exec, (shape.team_size + 1) * sizeof(Sums<Count>)),
                           Kernel{of_rows, sums, num_rows, shape.rows_per_team, shape.lanes});
  };
  if (reduction == nullptr)
    return launch(body);
  const auto kept = Kokkos::subview(sums.of_process, std::make_pair(0, Count));
  if (num_rows == 0)
    Kokkos::deep_copy(exec, kept, 0.0);
  launch(KeepSumsBody<Count, Device, Body>{body, kept});
  reduction->sum(exec, kept);
  Kokkos::parallel_for("Ainvil::finishSums", Range<typename Device::execution_space>(exec, 0, 1),
                       FinishSumsKernel<Count, Device, Body>{body, kept});
}

/// sum x_i^2 and sum |x_i|.
template <class Scalar, class Device>
struct NormBody {
  MultiVectorArg<const Scalar, Device> x;
  Kokkos::View<double*, Device> result;

  KOKKOS_FUNCTION bool begin() { return true; }
  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    const double x_i = x(i, 0);
    return {{x_i * x_i, x_i < 0 ? -x_i : x_i}};
  }
  KOKKOS_FUNCTION void finish(const Sums<2>& sums) const {
    result(0) = sums.value[0];
    result(1) = sums.value[1];
  }
};

/// sum r_i^2 and sum |r_i|, both NaN if x is not finite: 0 x_i is 0 or NaN.
template <class Scalar, class Device>
struct ResidualNormBody {
  NormBody<Scalar, Device> norm;
  MultiVectorArg<const Scalar, Device> x;

  KOKKOS_FUNCTION bool begin() { return true; }
  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    Sums<2> sums = norm.row(i);
    const double nothing = double(0) * x(i, 0);
    sums.value[0] += nothing;
    sums.value[1] += nothing;
    return sums;
  }
  KOKKOS_FUNCTION void finish(const Sums<2>& sums) const { norm.finish(sums); }
};

template <class Scalar, class Device>
struct CopyKernel {
  MultiVectorArg<const Scalar, Device> x;
  MultiVectorArg<Scalar, Device> y;

  KOKKOS_FUNCTION void operator()(Offset i) const { y(i, 0) = x(i, 0); }
};

/// y = x
template <class Scalar, class Device>
void copyVector(const typename Device::execution_space& exec,
                MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y) {
  Kokkos::parallel_for("Ainvil::copy",
                       Range<typename Device::execution_space>(exec, 0, x.extent(0)),
                       CopyKernel<Scalar, Device>{x, y});
}

template <class Scalar, class Device>
struct FillKernel {
  Scalar value;
  MultiVectorArg<Scalar, Device> x;

  KOKKOS_FUNCTION void operator()(Offset i) const { x(i, 0) = value; }
};

/// x = value
template <class Scalar, class Device>
void fillVector(const typename Device::execution_space& exec, Scalar value,
                MultiVectorArg<Scalar, Device> x) {
  Kokkos::parallel_for("Ainvil::fill",
                       Range<typename Device::execution_space>(exec, 0, x.extent(0)),
                       FillKernel<Scalar, Device>{value, x});
}

/// y_i = beta y_i + sum over c < columns of V(i, c) a_c for a run of rows. beta is 0 or 1; with 0 y
/// is not read.
template <class Stored, class Scalar, class Device>
struct CombineKernel {
  static constexpr int block = rowsAtOnce<typename Device::execution_space>();

  MultiVectorArg<const Stored, Device> v;
  Kokkos::View<const double*, Device> a;
  int columns;
  int beta;
  MultiVectorArg<Scalar, Device> y;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const Offset first = item * block;
    if (first + block <= Offset(y.extent(0)))
      rows<block>(first);
    else
      for (Offset i = first; i < Offset(y.extent(0)); ++i)
        rows<1>(i);
  }

  template <int Rows>
  KOKKOS_INLINE_FUNCTION void rows(Offset first) const {
    double sum[Rows];
    for (int r = 0; r < Rows; ++r)
      sum[r] = beta != 0 ? double(y(first + r, 0)) : 0.0;
    forColumnsByFour(columns, [&](const auto width, const int c) {
      constexpr int w = decltype(width)::value;
      const Stored* v_c[w];
      double a_c[w];
      for (int k = 0; k < w; ++k) {
        v_c[k] = &v(first, c + k);
        a_c[k] = a(c + k);
      }
      for (int r = 0; r < Rows; ++r)
        for (int k = 0; k < w; ++k)
          sum[r] += double(v_c[k][r]) * a_c[k];
    });
    for (int r = 0; r < Rows; ++r)
      y(first + r, 0) = static_cast<Scalar>(sum[r]);
  }
};

/// y = beta y + V(:, 0 .. columns - 1) a, beta = 0 or 1.
template <class Stored, class Scalar, class Device>
void combineColumns(const typename Device::execution_space& exec,
                    MultiVectorArg<const Stored, Device> v, Kokkos::View<const double*, Device> a,
                    int columns, int beta, MultiVectorArg<Scalar, Device> y) {
  using Kernel = CombineKernel<Stored, Scalar, Device>;
  const Offset items = (Offset(y.extent(0)) + Kernel::block - 1) / Kernel::block;
  Kokkos::parallel_for("Ainvil::combineColumns",
                       Range<typename Device::execution_space>(exec, 0, items),
                       Kernel{v, a, columns, beta, y});
}

} // namespace detail
} // namespace ainvil
