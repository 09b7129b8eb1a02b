// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of factored sparse approximate inverses.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// B_power of B_0 = I, B_{k+1} = Low(B_k A), for A with its diagonal: lower triangular, with its
/// diagonal too. Ends early at a B_{k+1} = B_k.
template <class Device>
Graph<Device> lowerPower(const typename Device::execution_space& exec, const Graph<Device>& a,
                         int power);

/// The same with rows of at most max_row > 0 entries. B_k and A~, whose graph is `sparse`, carry
/// weights: those of A~ are ||A_ij||_F / sqrt(||A_ii||_F ||A_jj||_F), those of B_{k+1} the
/// products'. Each step keeps the diagonal and the entries of the largest weights, of equal ones
/// those nearest to the diagonal. Ends early at a step that changes no row. Cost: of a step,
/// entries of B_k A~ x (max_row log(row length) + row length).
template <class Scalar, class Device>
Graph<Device> largestLowerPower(const typename Device::execution_space& exec,
                                const BsrMatrix<Scalar, Device>& a, const Graph<Device>& sparse,
                                int power, Ordinal max_row);

} // namespace detail
} // namespace ainvil
