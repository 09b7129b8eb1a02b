// SPDX-License-Identifier: BSD-3-Clause
#include "studies/SweepsStudy.hpp"
#include "studies/SweepsTriangle.hpp"

namespace ainvil {
namespace perf {

std::vector<Column> residualColumns() {
  return {{"factor", "factor", -6},  {"levels", "levels", 6},
          {"method", "method", -13}, {"sweep", "sweep", 5},
          {"runs", "", 0},           {"residual_mean", "residual"},
          {"residual_std", "std"},   {"residual_min", "min"},
          {"residual_max", "max"},   {"error_mean", "error"},
          {"error_std", "std"},      {"error_min", "", 0},
          {"error_max", "", 0},      microseconds("seconds_per_sweep", "us/sweep")};
}

template <class Device>
void studyResiduals(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  const typename Device::execution_space exec;
  forBothFactors<Device>(system, [&](const Triangle<Device>& triangle) {
    const auto x = triangle.vector();
    for (const SweepMethod& method : {jacobi_sweeps, async_sweeps, against_sweeps}) {
      const double seconds = secondsPerSweep(exec, options.repeat, triangle, method);
      const int runs = method.mode == SweepMode::Async ? options.runs : 1;
      for (int sweep = 0; sweep <= options.sweeps; ++sweep) {
        const auto solver = makeTriangularSolver<Sweeps<Device>>(exec, triangle.factor(),
                                                                 sweepParameters(method, sweep));
        std::vector<double> residuals, errors;
        for (int run = 0; run < runs; ++run) {
          solver->apply(exec, asColumn(triangle.b()), asColumn(x), Trans::No);
          residuals.push_back(triangle.residual(x));
          errors.push_back(triangle.error(x));
        }
        const Statistics r(residuals), e(errors);
        results.add({triangle.name(), Offset(triangle.numLevels()), method.name, Offset(sweep),
                     Offset(runs), r.mean, r.deviation, r.min, r.max, e.mean, e.deviation, e.min,
                     e.max, seconds});
      }
    }
  });
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyResiduals<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
