// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Spai: what its least squares problems will cost.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// Operations of the problem of m equations and u unknowns of block row i, 2 u^2 (m - u / 3).
/// `shadow` are the columns that the rows of A in the pattern of M have entries in.
template <class Device>
struct SpaiRowWork {
  Graph<Device> pattern, shadow;
  int block_size;
  Kokkos::View<const char*, Device> active; ///< empty: all rows are, else those with 0 cost nothing

  KOKKOS_FUNCTION double operator()(Offset i) const {
    if (active.extent(0) > 0 && active(i) == 0)
      return 0;
    const double u = double(pattern.row_map(i + 1) - pattern.row_map(i)) * block_size;
    const double m = double(shadow.row_map(i + 1) - shadow.row_map(i)) * block_size;
    return 2 * u * u * (m - u / 3);
  }
};

/// Throws where all problems together have more than max_work operations a point row of A, or the
/// largest alone more than this many times max_work: a single thread, or team, has to do it. 0: no
/// limit. Waits. \throws BreakdownError that names the largest problem and what to do
constexpr double spai_longest_row = 1000;
template <class Device>
void requireSpaiWork(const typename Device::execution_space& exec, const SpaiRowWork<Device>& work,
                     double max_work);

} // namespace detail
} // namespace ainvil
