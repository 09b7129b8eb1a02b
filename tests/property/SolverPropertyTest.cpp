// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What a solver reports is true, whatever the system.

#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"
#include "property/MethodSupport.hpp"

#include <memory>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Solver = KrylovSolver<double, Device>;

struct Named {
  std::string name;
  std::unique_ptr<Solver> solver;
};

std::vector<Named> allSolvers(const SolverOptions& options) {
  std::vector<Named> solvers;
  solvers.push_back({"cg", std::make_unique<Cg<double, Device>>(options)});
  solvers.push_back({"gmres", std::make_unique<Gmres<double, Device>>(options)});
  solvers.push_back({"fgmres", std::make_unique<Gmres<double, Device>>(options, Flexible::Yes)});
  solvers.push_back({"bicgstab", std::make_unique<BiCgStab<double, Device>>(options)});
  return solvers;
}

/// ||b - A x|| / ||b||, and what rounding may change of it, in long double: its exponents reach
/// further than those of squares of doubles.
struct Residual {
  long double relative = 0, rounding = 0;

  Residual(const HostBsr& a, const std::vector<double>& b, const std::vector<double>& x) {
    const Offset bs = a.block_size;
    long double residual = 0, size = 0, norm = 0;
    for (Ordinal i = 0; i < a.numRows(); ++i)
      for (Offset r = 0; r < bs; ++r) {
        long double sum = b[i * bs + r], magnitude = std::abs(b[i * bs + r]);
        for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
          for (Offset c = 0; c < bs; ++c) {
            const long double term = static_cast<long double>(a.values((e * bs + r) * bs + c)) *
                                     x[a.graph.entries(e) * bs + c];
            sum -= term;
            magnitude += std::abs(term);
          }
        residual += sum * sum;
        size += magnitude * magnitude;
        norm += static_cast<long double>(b[i * bs + r]) * b[i * bs + r];
      }
    if (norm > 0) {
      relative = std::sqrt(residual / norm);
      rounding = roundingBound(double(x.size()) + 10) * (std::sqrt(size / norm) + relative);
    }
  }
};

void checkReport(const SolveResult& result, const SolverOptions& options, const HostBsr& a,
                 const std::vector<double>& b, const std::vector<double>& x) {
  EXPECT_GE(result.iterations, 0);
  EXPECT_LE(result.iterations, options.max_iterations);
  EXPECT_EQ(result.history.size(), size_t(result.iterations) + 1);
  EXPECT_EQ(result.message.empty(), result.status == SolveStatus::Converged);
  if (result.status == SolveStatus::Converged) {
    EXPECT_LE(result.true_rel_residual, options.tolerance);
  }
  if (!std::isfinite(result.true_rel_residual)) {
    EXPECT_EQ(result.status, SolveStatus::Diverged);
    return;
  }
  EXPECT_TRUE(allFinite(x));
  const Residual residual(a, b, x);
  EXPECT_LE(std::abs(static_cast<long double>(result.true_rel_residual) - residual.relative),
            residual.rounding)
      << "reported " << result.true_rel_residual << ", recomputed " << double(residual.relative)
      << ", status " << toString(result.status);
}

void checkSystem(const RandomSystem& system) {
  const size_t n = system.size();
  Random random(system.seed + 30);
  SolverOptions options;
  options.tolerance = std::pow(10.0, -random.uniform(2, 14));
  options.max_iterations = random.below(4) == 0 ? random.below(5) : 60;
  options.restart = 1 + random.below(40);
  options.basis = random.below(2) == 0 ? Storage::Native : Storage::Float;
  const MatrixOperator<double, Device> a(copyTo<Device>(system.matrix));
  const std::vector<double> b = random.below(8) == 0 ? std::vector<double>(n) : random.vector(n);
  const std::vector<double> x0 = random.below(2) == 0 ? std::vector<double>(n) : random.vector(n);
  for (const std::string specification :
       {"none", "jacobi:breakdown=replace", "ilu:breakdown=shift", "ilu:solve=async,sweeps=1"}) {
    MethodPtr m;
    try {
      m = built(specification, system.matrix);
    } catch (const Error&) {
      continue;
    }
    for (const Named& method : allSolvers(options)) {
      if (!isDeterministic(specification) && (method.name == "cg" || method.name == "gmres"))
        continue;
      SCOPED_TRACE(message(method.name, " with ", specification));
      const auto x = toDevice(x0);
      const SolveResult result = method.solver->solve(
          Exec(), a, specification == "none" ? nullptr : m.get(), toDevice(b), x);
      checkReport(result, options, system.matrix, b, toHost(x));
    }
  }
}

TEST(SolverProperty, ReportsAreTrue) {
  Wanted wanted;
  wanted.values = {Values::Dominant, Values::Spd, Values::Symmetric, Values::Any};
  wanted.flaws = {Flaw::None, Flaw::None, Flaw::ZeroRow, Flaw::EmptyColumn, Flaw::EqualRows};
  forSystems(40, wanted, checkSystem);
}

TEST(SolverProperty, ReportsAreTrueForExtremeScales) {
  Wanted wanted;
  wanted.values = {Values::Dominant, Values::Spd, Values::Symmetric, Values::Any};
  wanted.scales = {Scales::Global, Scales::Diagonal, Scales::RowsColumns};
  wanted.flaws = {Flaw::None, Flaw::TinyPivot, Flaw::NotANumber, Flaw::Infinity};
  forSystems(40, wanted, checkSystem);
}

/// SPD and dominant systems are solved, by all solvers that they are for.
TEST(SolverProperty, SafeSystemsConverge) {
  Wanted wanted;
  wanted.values = {Values::Dominant, Values::Spd};
  forSystems(40, wanted, [](const RandomSystem& system) {
    SolverOptions options;
    options.basis = system.seed % 2 == 0 ? Storage::Native : Storage::Float;
    const std::vector<double> b = Random(system.seed + 31).vector(system.size());
    const MatrixOperator<double, Device> a(copyTo<Device>(system.matrix));
    const auto m = built("ilu", system.matrix);
    const auto jacobi = built("jacobi", system.matrix);
    for (const Named& method : allSolvers(options)) {
      SCOPED_TRACE(method.name);
      const auto x = toDevice(std::vector<double>(b.size()));
      const bool spd_only = method.name == "cg";
      if (spd_only && system.values != Values::Spd)
        continue;
      const SolveResult result =
          method.solver->solve(Exec(), a, spd_only ? jacobi.get() : m.get(), toDevice(b), x);
      EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
      EXPECT_LE(Residual(system.matrix, b, toHost(x)).relative, options.tolerance * (1 + 1e-3));
    }
  });
}

} // namespace
