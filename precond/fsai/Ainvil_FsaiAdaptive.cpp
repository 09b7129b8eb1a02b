// SPDX-License-Identifier: BSD-3-Clause
#include "fsai/Ainvil_FsaiAdaptive.hpp"

#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_LoopProgress.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "fsai/Ainvil_FsaiRows.hpp"
#include "graph/Ainvil_BestCandidates.hpp"
#include "graph/Ainvil_CollectRows.hpp"

#include <cmath>

namespace ainvil {
namespace {

using detail::BestCandidates;
using detail::CommonColumns;
using detail::findEntry;
using detail::Range;
using detail::Rank;

/// C_k^-1 of every pivot block A_kk = C_k C_k^T, the identity where it is missing or not SPD.
template <class Scalar, class Device>
Kokkos::View<Scalar*, Device> invertedPivots(const typename Device::execution_space& exec,
                                             const BsrMatrix<Scalar, Device>& a) {
  using Exec = typename Device::execution_space;
  const int bs = a.block_size, bs2 = bs * bs;
  const auto pivots =
      allocate<Scalar, Device>(exec, "Ainvil::FsaiAdaptive::pivots", size_t(a.numRows()) * bs2);
  Kokkos::parallel_for(
      "Ainvil::FsaiAdaptive[pivots]", Range<Exec>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset k) {
        const Offset at = findEntry(a.graph.entries, a.graph.row_map(k), a.graph.row_map(k + 1),
                                    static_cast<Ordinal>(k));
        for (int e = 0; e < bs2; ++e)
          pivots(k * bs2 + e) = at < 0 ? Scalar(0) : a.values(at * bs2 + e);
        detail::invertCholeskyFactor(pivots.data() + k * bs2, bs);
      });
  return pivots;
}

/// What is known of every row between its steps.
template <class Device>
struct Growth {
  Kokkos::View<char*, Device> active;    ///< 0: the row is complete
  Kokkos::View<double*, Device> log_psi; ///< of the step before
  Kokkos::View<Ordinal*, Device> chosen; ///< per_step columns a row, -1 where there are fewer
};

template <class Device>
Growth<Device> startGrowth(const typename Device::execution_space& exec, Ordinal n, int per_step) {
  using Exec = typename Device::execution_space;
  const Growth<Device> growth{
      allocate<char, Device>(exec, "Ainvil::FsaiAdaptive::active", n),
      allocate<double, Device>(exec, "Ainvil::FsaiAdaptive::log_psi", n),
      allocate<Ordinal, Device>(exec, "Ainvil::FsaiAdaptive::chosen", size_t(n) * per_step)};
  Kokkos::parallel_for(
      "Ainvil::FsaiAdaptive[start]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset i) {
        growth.active(i) = 1;
        growth.log_psi(i) = 1e300; // above all logarithms: the first decrease is large enough
      });
  return growth;
}

/// Chooses what row i with pattern P takes next: the k < i outside of P with the largest
///   || (G A)_ik C_k^-T ||_F^2,   (G A)_ik = sum over j in P of G_ij A_kj^T,
/// among the neighbours of P. A warp a row, a lane a candidate. A k that is a neighbour of several
/// j in P counts for the first of them only.
template <class Scalar, class Device>
struct GrowRow {
  BsrMatrix<Scalar, Device> a;
  Graph<Device> neighbours;
  Graph<Device> pattern;
  Kokkos::View<const Scalar*, Device> values; ///< of G
  Kokkos::View<const Scalar*, Device> pivots;
  Kokkos::View<const int*, Device> info;
  Growth<Device> growth;
  int per_step;
  Ordinal max_row;
  double log_decrease; ///< log(1 - tolerance), infinity for tolerance 0

  std::size_t scratchBytes() const {
    return BestCandidates::bytes(per_step) +
           size_t(BestCandidates::batch) * a.block_size * sizeof(double);
  }

  /// psi_i = det(G_ii)^(-2 / b).
  KOKKOS_INLINE_FUNCTION double logPsi(Ordinal row) const {
    const int bs = a.block_size;
    const Scalar* block = values.data() + (pattern.row_map(row + 1) - 1) * bs * bs;
    double sum = 0;
    for (int r = 0; r < bs; ++r)
      sum += compat::math::log(double(block[r * bs + r]));
    return -2 * sum / bs;
  }

  /// || (G A)_ik C_k^-T ||_F^2, row by row in the b `sums`.
  KOKKOS_INLINE_FUNCTION double gain(Ordinal row, Ordinal k, double* sums) const {
    const int bs = a.block_size, bs2 = bs * bs;
    const Scalar* pivot = pivots.data() + Offset(k) * bs2;
    double total = 0;
    for (int r = 0; r < bs; ++r) {
      for (int c = 0; c < bs; ++c)
        sums[c] = 0;
      for (CommonColumns<Device> common(a.graph, k, pattern, row); common.find();
           common.advance()) {
        const Scalar* g = values.data() + common.q * bs2 + r * bs;
        const Scalar* block = a.values.data() + common.p * bs2;
        for (int c = 0; c < bs; ++c)
          for (int d = 0; d < bs; ++d)
            sums[c] += double(g[d]) * double(block[c * bs + d]);
      }
      for (int c = 0; c < bs; ++c) {
        double entry = 0;
        for (int d = 0; d <= c; ++d)
          entry += double(pivot[c * bs + d]) * sums[d];
        total += entry * entry;
      }
    }
    return total;
  }

  /// The rank of the neighbour k of j; 0 if k is in P, or if a j' < j in P has it as neighbour,
  /// too.
  KOKKOS_INLINE_FUNCTION Rank rank(Ordinal row, Ordinal j, Ordinal k, double* sums) const {
    if (findEntry(pattern.entries, pattern.row_map(row), pattern.row_map(row + 1), k) >= 0)
      return 0;
    CommonColumns<Device> common(neighbours, k, pattern, row);
    if (!common.find() || pattern.entries(common.q) != j)
      return 0;
    return detail::rankOf(gain(row, k, sums), k);
  }

  template <class Member>
  KOKKOS_FUNCTION void choose(const Member& member, Ordinal row,
                              const BestCandidates& candidates) const {
    double* sums = reinterpret_cast<double*>(candidates.ranks + BestCandidates::batch);
    for (Offset p = pattern.row_map(row); p < pattern.row_map(row + 1); ++p) {
      const Ordinal j = pattern.entries(p);
      const Offset begin = neighbours.row_map(j);
      const Offset end =
          detail::lowerBound(neighbours.entries, begin, neighbours.row_map(j + 1), row);
      candidates.consider(member, begin, end, [&](const Offset at, const int lane) {
        return rank(row, j, neighbours.entries(at), sums + lane * a.block_size);
      });
    }
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    const detail::ThreadLanes<Member> lanes{member, BestCandidates::batch};
    Rank* best = static_cast<Rank*>(scratch);
    const Ordinal length = static_cast<Ordinal>(pattern.row_map(row + 1) - pattern.row_map(row));
    int room = max_row > 0 && max_row - length < per_step ? max_row - length : per_step;
    double log_psi = 0;
    if (growth.active(row) == 0 || info(row) != 0) {
      room = 0;
    } else {
      log_psi = logPsi(row);
      if (!(log_psi <= growth.log_psi(row) + log_decrease))
        room = 0;
    }
    lanes.forEach(per_step, [&](const int q) { best[q] = 0; });
    if (room > 0)
      choose(member, row, {best, best + per_step, room});
    lanes.forEach(per_step, [&](const int q) {
      growth.chosen(Offset(row) * per_step + q) = best[q] > 0 ? detail::columnOf(best[q]) : -1;
    });
    lanes.forEach(1, [&](int) {
      growth.active(row) = best[0] > 0 ? 1 : 0;
      growth.log_psi(row) = log_psi;
    });
  }
};

} // namespace

template <class Scalar, class Device>
Graph<Device> detail::adaptivePattern(const typename Device::execution_space& exec,
                                      const BsrMatrix<Scalar, Device>& a,
                                      const AdaptiveParameters<Device>& parameters,
                                      const std::function<void(Offset)>& progress) {
  const Ordinal n = a.numRows();
  const int bs = a.block_size, per_step = parameters.growth.per_step;
  const double tolerance = parameters.growth.tolerance;
  const double log_decrease = tolerance > 0 ? std::log1p(-tolerance) : HUGE_VAL;
  const auto pivots = invertedPivots(exec, a);
  const auto info = allocate<int, Device>(exec, "Ainvil::FsaiAdaptive::info", n);
  const Growth<Device> growth = startGrowth<Device>(exec, n, per_step);
  Graph<Device> pattern = parameters.start;
  const Offset steps = parameters.growth.steps;
  SlowScratch<typename Device::execution_space> scratch; // of long rows, for all steps
  for (Offset step = 0; step < steps; ++step) {
    const auto values = allocate<Scalar, Device>(exec, "Ainvil::FsaiAdaptive::values",
                                                 size_t(pattern.numEntries()) * bs * bs);
    FsaiRowSolver<Scalar, Device>(exec, pattern, bs, parameters.chunk_bytes, growth.active)
        .run(exec, a, values, info, 0, shareOf(progress, step * n, steps));
    const GrowRow<Scalar, Device> grow{
        a,        parameters.neighbours, pattern,     values, pivots, info, growth,
        per_step, parameters.max_row,    log_decrease};
    forEachRow(exec, "Ainvil::FsaiAdaptive[grow]", n, teamsForRowsOf(parameters.neighbours), grow,
               grow.scratchBytes(), &scratch);
    const Offset before = pattern.numEntries();
    pattern = unionGraph<Device>(exec, "Ainvil::FsaiAdaptive[pattern]", n, n,
                                 GrownLists<Device>{pattern, growth.chosen, per_step},
                                 pattern.meanRowLength() + per_step);
    if (pattern.numEntries() == before) {
      if (progress && step + 1 < steps)
        progress(n);
      break;
    }
  }
  return pattern;
}

#define AINVIL_INSTANTIATE_TYPE(SCALAR, DEVICE)                                                    \
  template Graph<DEVICE> detail::adaptivePattern<SCALAR, DEVICE>(                                  \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const AdaptiveParameters<DEVICE>&, const std::function<void(Offset)>&);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_TYPE(double, DEVICE)                                                          \
  AINVIL_INSTANTIATE_TYPE(float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
