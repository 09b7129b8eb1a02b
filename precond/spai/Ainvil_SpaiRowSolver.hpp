// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Spai: the rows of M from their least squares problems.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_SlowScratch.hpp"
#include "graph/Ainvil_RowClass.hpp"

#include <functional>
#include <vector>

namespace ainvil {
namespace detail {

/// What became of the rows.
template <class Device>
struct SpaiRowResults {
  Kokkos::View<int*, Device> failed;               ///< 1 for rank deficient problems, else 0
  Kokkos::View<double*, Device> squared_residuals; ///< ||E_i - M_i A||_F^2

  SpaiRowResults() = default;
  /// Of n rows.
  SpaiRowResults(const typename Device::execution_space& exec, Ordinal n);
};

/// Computes M on one pattern for matrices with one graph, see Spai.
template <class Scalar, class Device>
class SpaiRowSolver {
public:
  using execution_space = typename Device::execution_space;

  SpaiRowSolver() = default;
  /// Plans for a pattern with its diagonal and the graph of A, with its diagonal added. Waits.
  SpaiRowSolver(const execution_space& exec, const Graph<Device>& pattern,
                const Graph<Device>& a_with_diagonal, int block_size);

  /// values <- M, and the results. Rank deficient problems are tried again with shift > 0, and
  /// replaced; a row that was replaced counts as if it were zero. Rows with active(i) == 0 are left
  /// out; none is if `active` is empty. `progress`, if there is one, is told how many rows are
  /// done, about a hundred times, between launches. \throws OutOfMemory for problems beyond 2 GiB.
  void run(const execution_space& exec, const BsrMatrix<Scalar, Device>& a,
           const Kokkos::View<Scalar*, Device>& values, const SpaiRowResults<Device>& results,
           double shift, const Kokkos::View<const char*, Device>& active = {},
           const std::function<void(Offset)>& progress = {}) const;

  const Graph<Device>& shadow() const { return shadow_; } ///< the columns I of every row

private:
  int block_size_ = 1;
  Graph<Device> pattern_, shadow_;
  std::vector<RowClass<Device>> classes_; ///< by the scratch memory of their problems
  mutable SlowScratch<execution_space> scratch_;
};

} // namespace detail
} // namespace ainvil
