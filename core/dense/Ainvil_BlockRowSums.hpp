// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Products of small blocks with vectors, added up by a thread of a host.

#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// On hosts: s = x - sum of B y over blocks B of BS x BS and vectors y. Even and odd columns have
/// sums of their own, two numbers of a vector register: row-major blocks are read as they stand,
/// and fewer additions wait for each other.
template <int BS, class Scalar>
class BlockRowSums {
public:
  KOKKOS_FORCEINLINE_FUNCTION void start(int r, Scalar x_r) { sums_[r] = Two{x_r, 0}; }

  /// s -= B y
  template <class Stored>
  KOKKOS_FORCEINLINE_FUNCTION void subtract(const Stored* block, const Scalar* y) {
    constexpr int pairs = (BS + 1) / 2; // of columns; an odd one has a zero beside it
    Two y_pairs[pairs];
    for (int c = 0; c < pairs; ++c)
      y_pairs[c] = Two{y[2 * c], 2 * c + 1 < BS ? y[2 * c + 1] : 0};
    for (int r = 0; r < BS; ++r)
      for (int c = 0; c < pairs; ++c) {
        const Stored* const b = block + r * BS + 2 * c;
        sums_[r] -= Two{Scalar(b[0]), 2 * c + 1 < BS ? Scalar(b[1]) : 0} * y_pairs[c];
      }
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar operator[](int r) const { return sums_[r][0] + sums_[r][1]; }

private:
  using Two = compat::Pair<Scalar>;

  Two sums_[BS];
};

} // namespace detail
} // namespace ainvil
