// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparsePeer.hpp"
#include "program/Measure.hpp"
#include "studies/SweepsStudy.hpp"

#include "ilu/Ainvil_BlockIlu.hpp"

#include <cmath>

namespace ainvil {
namespace perf {
namespace {

/// The point pivots of every diagonal block: what stands on the diagonal of its U without pivoting.
struct Pivots {
  int block_size;
  std::vector<double> values;

  /// Of blocks that are factored already, or not yet.
  void add(const double* block, bool factored) {
    const int bs = block_size;
    std::vector<double> u(block, block + bs * bs);
    for (int k = 0; k < bs && !factored; ++k)
      for (int r = k + 1; r < bs; ++r)
        for (int c = bs - 1; c >= k; --c)
          u[r * bs + c] -= u[r * bs + k] / u[k * bs + k] * u[k * bs + c];
    for (int k = 0; k < bs; ++k)
      values.push_back(u[k * bs + k]);
  }
};

/// Of L = D + S, whose diagonal blocks come last in their rows.
template <class Device>
Pivots pivotsOf(const TriangularFactor<double, Device>& lower) {
  const auto l = copyTo<HostDevice>(lower.matrix);
  Pivots pivots{l.block_size, {}};
  for (Ordinal row = 0; row < l.numRows(); ++row)
    pivots.add(l.values.data() + (l.graph.row_map(row + 1) - 1) * l.block_size * l.block_size,
               false);
  return pivots;
}

/// Of factors in place of the values of the matrix.
template <class View>
Pivots pivotsOf(const BsrMatrix<double, HostDevice>& a, const View& factors_in) {
  const auto factors = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), factors_in);
  Pivots pivots{a.block_size, {}};
  for (Ordinal row = 0; row < a.numRows(); ++row)
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
      if (a.graph.entries(e) == row)
        pivots.add(factors.data() + e * a.block_size * a.block_size, true);
  return pivots;
}

double largestDifference(const Pivots& a, const Pivots& b) {
  double largest = a.values.size() == b.values.size() ? 0 : not_measured;
  for (size_t i = 0; i < a.values.size() && i < b.values.size(); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]) / std::abs(b.values[i]);
    if (difference > largest || std::isnan(difference)) // no number is larger than a NaN
      largest = difference;
  }
  return largest;
}

double secondsOfPhases(const Report& report, const std::vector<std::string>& names) {
  double seconds = 0;
  for (const PhaseTimes::Phase& phase : report.phases.phases())
    if (std::find(names.begin(), names.end(), phase.first) != names.end())
      seconds += phase.second;
  return seconds;
}

} // namespace

std::vector<Column> factorColumns() {
  return {{"method", "method", -8},
          {"sweeps", "sweeps", 6},
          milliseconds("setup_seconds", "setup ms"),
          milliseconds("numeric_seconds", "numeric ms"),
          {"residual", "residual"},
          {"pivot_difference", "pivots"}}; // from those of the factorisation level by level
}

template <class Device>
void studyFactor(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  const typename Device::execution_space exec;
  const BsrMatrix<double, Device> a = copyTo<Device>(system.matrix);
  Pivots exact;
  for (int sweeps = 0; sweeps <= options.factor_sweeps; ++sweeps) {
    BlockIluParameters parameters;
    parameters.sweeps = sweeps;
    BlockIlu<double, Device> ilu(parameters);
    std::vector<double> setup_seconds, numeric_seconds;
    double residual = not_measured;
    for (int repetition = 0; repetition <= options.repeat; ++repetition) { // the first warms up
      Report report;
      ilu.initialize(exec, a, report);
      try {
        ilu.compute(exec, a, report);
        residual = sweeps > 0 ? ilu.residual(exec, a) : not_measured;
      } catch (const BreakdownError&) {
        break; // the times stay empty
      }
      if (repetition == 0)
        continue;
      setup_seconds.push_back(secondsOfPhases(report, {"ilu_symbolic", "ilu_levels"}));
      numeric_seconds.push_back(secondsOfPhases(report, {"ilu_numeric"}));
    }
    const Pivots pivots = pivotsOf(ilu.lower());
    if (sweeps == 0)
      exact = pivots;
    results.add({sweeps > 0 ? "sweeps" : "levels", Offset(sweeps), Statistics(setup_seconds).median,
                 Statistics(numeric_seconds).median, residual, largestDifference(pivots, exact)});
  }
  if constexpr (compat::IsGpu<typename Device::execution_space>::value) {
    const auto factors = allocate<double, Device>(exec, "Ainvil::perf", a.numScalars());
    const PeerTimes times = cusparseIlu(a, factors, options.repeat);
    if (!std::isnan(times.seconds))
      results.add({"cusparse", Offset(0), times.setup_seconds, times.seconds, not_measured,
                   largestDifference(pivotsOf(system.matrix, factors), exact)});
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyFactor<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
