// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The seam of the solvers for vectors that several processes share, without processes.

#include "solvers/SolverSupport.hpp"

#include "backend/Ainvil_Reduction.hpp"

namespace ainvil {
namespace test {

/// sums *= factor
struct MultiplySums {
  ProcessSums<Device> sums;
  double factor;

  KOKKOS_FUNCTION void operator()(const int k) const { sums(k) *= factor; }
};

/// As if there were `processes`, all with the same rows: A is diag(A_0, A_0, ...), b = (b_0, ...).
class EqualProcesses final : public Reduction<Device> {
public:
  explicit EqualProcesses(int processes) : processes_(processes) {}

  void sum(const Exec& exec, const ProcessSums<Device>& sums) const override {
    ++reductions;
    Kokkos::parallel_for("Ainvil::EqualProcesses::sum",
                         Kokkos::RangePolicy<Exec>(exec, 0, sums.extent(0)),
                         MultiplySums{sums, double(processes_)});
    exec.fence();
  }
  Offset total(Offset mine) const override { return processes_ * mine; }
  void together(const std::function<void()>& work) const override {
    ++agreements;
    work();
  }

  mutable int reductions = 0, agreements = 0;

private:
  int processes_;
};

} // namespace test
} // namespace ainvil
