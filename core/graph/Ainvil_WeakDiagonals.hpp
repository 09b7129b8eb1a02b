// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Zeros on the diagonal of a matrix.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// Scalar rows that have nothing in their diagonal block, the diagonal entry where blocks are of
/// size 1, that is not rounding beside their largest entry: at most 10 eps of it, eps of Scalar, as
/// for pivots. Duplicates and unsorted rows do not matter. One pass in parallel; waits.
template <class Scalar>
Offset countWeakDiagonals(const BsrMatrix<Scalar, HostDevice>& a);

} // namespace detail
} // namespace ainvil
