// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The triangular systems of the studies: L x = b and U x = b of ILU(0), with b = 1.

#include "program/Measure.hpp"
#include "solve/SolveSystem.hpp"

#include "ilu/Ainvil_BlockIlu.hpp"
#include "product/Ainvil_Probes.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

#include <memory>

namespace ainvil {
namespace perf {

/// A solver after its set-up.
template <class Solver, class Parameters, class Device>
std::unique_ptr<Solver> makeTriangularSolver(const typename Device::execution_space& exec,
                                             const TriangularFactor<double, Device>& factor,
                                             const Parameters& parameters) {
  Report report;
  auto solver = std::make_unique<Solver>(parameters);
  solver->initialize(exec, factor, "", report);
  solver->compute(exec, factor, "", report);
  return solver;
}

template <class Device>
using Exact = ExactTriangularSolver<double, double, Device>;
template <class Device>
using Sweeps = SweepTriangularSolver<double, double, Device>;

/// How sweeps are done, as the results call it.
struct SweepMethod {
  const char* name;
  SweepMode mode;
  SweepOrder order;
};

constexpr SweepMethod jacobi_sweeps = {"jacobi", SweepMode::Jacobi, SweepOrder::Along};
constexpr SweepMethod async_sweeps = {"async", SweepMode::Async, SweepOrder::Along};
constexpr SweepMethod against_sweeps = {"async-against", SweepMode::Async, SweepOrder::Against};

inline SweepParameters sweepParameters(const SweepMethod& method, int sweeps) {
  SweepParameters parameters;
  parameters.mode = method.mode;
  parameters.order = method.order;
  parameters.sweeps = sweeps;
  return parameters;
}

/// T x = b for one of the factors, b = 1.
template <class Device>
class Triangle {
public:
  using Exec = typename Device::execution_space;

  Triangle(const Exec& exec, std::string name, const TriangularFactor<double, Device>& factor)
      : exec_(exec), name_(std::move(name)), factor_(factor), matrix_(exec, factor.matrix),
        b_(vector()), exact_(vector()), r_(vector()),
        levels_(levelSets(exec, factor.matrix.graph, factor.uplo).numLevels()) {
    Kokkos::deep_copy(exec, b_, 1.0);
    makeTriangularSolver<Exact<Device>>(exec, factor, ExactParameters())
        ->apply(exec, asColumn(b_), asColumn(exact_), Trans::No);
    compat::fence(exec, "Ainvil::perf[triangle]");
  }

  const std::string& name() const { return name_; } ///< "lower" or "upper"
  const TriangularFactor<double, Device>& factor() const { return factor_; }
  const Vector<double, Device>& b() const { return b_; }
  const Vector<double, Device>& exact() const { return exact_; } ///< T^-1 b
  int numLevels() const { return levels_; }

  Vector<double, Device> vector() const {
    return Vector<double, Device>(
        Kokkos::view_alloc(exec_, Kokkos::WithoutInitializing, "Ainvil::perf"),
        factor_.matrix.numPointRows());
  }

  /// ||b - T x|| / ||b||
  double residual(const Vector<double, Device>& x) const {
    matrix_.multiplyAdd(exec_, Trans::No, -1.0, asColumn(x), 1.0, asColumn(b_),
                        factor_.unit ? -1.0 : 0.0, asColumn(x), asColumn(r_));
    return norm(r_) / norm(b_);
  }

  /// ||x - T^-1 b|| / ||T^-1 b||
  double error(const Vector<double, Device>& x) const {
    Kokkos::deep_copy(exec_, r_, exact_);
    axpby<double, Device>(exec_, 1.0, asColumn(x), -1.0, asColumn(r_));
    return norm(r_) / norm(exact_);
  }

private:
  double norm(const Vector<double, Device>& x) const {
    return detail::norm<double, Device>(exec_, asColumn(x));
  }

  Exec exec_;
  std::string name_;
  TriangularFactor<double, Device> factor_;
  SparseOperator<double, Device> matrix_; ///< T without its diagonal where that is I
  Vector<double, Device> b_, exact_, r_;
  int levels_;
};

/// Seconds of a sweep alone, without the product D^-1 b before the first.
template <class Device>
double secondsPerSweep(const typename Device::execution_space& exec, int repetitions,
                       const Triangle<Device>& triangle, const SweepMethod& method) {
  constexpr int sweeps = 10;
  const auto x = triangle.vector();
  const auto seconds = [&](int count) {
    const auto solver = makeTriangularSolver<Sweeps<Device>>(exec, triangle.factor(),
                                                             sweepParameters(method, count));
    return medianSeconds(exec, repetitions, [&] {
      solver->apply(exec, asColumn(triangle.b()), asColumn(x), Trans::No);
    });
  };
  const double difference = (seconds(1 + sweeps) - seconds(1)) / sweeps;
  return difference > 0 ? difference : not_measured; // too short to tell from what disturbs it
}

/// Calls visit(triangle) for both factors of ILU(0).
template <class Device, class Visit>
void forBothFactors(const LinearSystem& system, const Visit& visit) {
  const typename Device::execution_space exec;
  Report report;
  BlockIlu<double, Device> ilu{BlockIluParameters()};
  const BsrMatrix<double, Device> a = copyTo<Device>(system.matrix);
  ilu.initialize(exec, a, report);
  ilu.compute(exec, a, report);
  visit(Triangle<Device>(exec, "lower", ilu.lower()));
  visit(Triangle<Device>(exec, "upper", ilu.upper()));
}

} // namespace perf
} // namespace ainvil
