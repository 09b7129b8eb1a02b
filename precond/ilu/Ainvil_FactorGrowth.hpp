// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How far the entries of incomplete factors have grown.

#include "triangular/Ainvil_TriangularFactor.hpp"

#include <string>

namespace ainvil {
namespace detail {

/// The largest entry of a factor over what it is compared with.
struct Growth {
  double factor = 0; ///< 0 if there is nothing to compare
  Ordinal row = -1;  ///< the first block row that has the entry, from 0; where it is large

  /// Whether a user should know.
  bool isLarge() const { return factor > 1e3; }
  /// "growth=12 (block row 3)", the row counted from 1.
  std::string note() const;
};

/// max |T_ij| / max |A_ij| over scalar entries, or max |S_ij| for a unit factor T = I + S, whose
/// entries are multipliers. What the factor says of itself is taken; else it waits for a pass over
/// T and one over A, and for one over T more that finds the row where the growth is large.
template <class Scalar, class Device>
Growth growthOf(const typename Device::execution_space& exec,
                const TriangularFactor<Scalar, Device>& t, const BsrMatrix<Scalar, Device>& a);

/// The largest moduli of three arrays of values.
struct LargestModuli {
  double of_lower = 0; ///< of L; infinite if a value is NaN or infinite, 0 without values
  double of_upper = 0; ///< of U; infinite if a value is NaN or infinite, 0 without values
  double of_a = 0;     ///< of A; infinite if a value is NaN or infinite, 0 without values
};

/// Those of the values of L and U, and of the sizes of the rows of A, which are moduli: whether L
/// and U are finite, and how far they have grown, by one pass and one wait.
template <class Scalar, class Device>
LargestModuli largestModuli(const typename Device::execution_space& exec,
                            const Kokkos::View<const Scalar*, Device>& lower,
                            const Kokkos::View<const Scalar*, Device>& upper,
                            const Kokkos::View<const Scalar*, Device>& row_sizes);

} // namespace detail
} // namespace ainvil
