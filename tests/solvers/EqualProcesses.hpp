// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The seam of the solvers for vectors that several processes share, without processes.

#include "solvers/SolverSupport.hpp"

#include "backend/Ainvil_Reduction.hpp"

namespace ainvil {
namespace test {

/// As if there were `processes`, all with the same rows: A is diag(A_0, A_0, ...), b = (b_0, ...).
class EqualProcesses final : public Reduction<Device> {
public:
  explicit EqualProcesses(int processes) : processes_(processes) {}

  void sum(const Exec& exec, const Kokkos::View<double*, Device>& sums) const override {
    ++reductions;
    const auto host = Kokkos::create_mirror_view(sums);
    Kokkos::deep_copy(exec, host, sums);
    exec.fence();
    for (size_t k = 0; k < host.extent(0); ++k)
      host(k) *= processes_;
    Kokkos::deep_copy(exec, sums, host);
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
