// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a thread of a host takes to factor a row.

#include "Ainvil_Types.hpp"

#include <cstddef>
#include <vector>

namespace ainvil {
namespace detail {

/// What a thread works on a row in. It is left as it was found, but for w and the room.
template <class Scalar>
struct WorkRow {
  std::vector<Scalar> w;     ///< the row: scalars by column, blocks one after the other
  std::vector<int> position; ///< of the block in column j, -1 where there is none; not for scalars
  std::vector<Scalar> room;  ///< what the inversion of a pivot block takes
  std::vector<int> pivots;   ///< likewise
  bool read_finite = true;   ///< whether all values of A that it read are
  bool finite = true;        ///< whether all values that it wrote are

  /// For rows of at most `longest` blocks out of n. Memory: n scalars where bs is 1, else n
  /// integers and the longest row.
  WorkRow(Ordinal n, Ordinal longest, int bs)
      : w(bs == 1 ? std::size_t(n) : std::size_t(longest) * bs * bs),
        position(bs == 1 ? 0 : std::size_t(n), -1), room(std::size_t(bs) * (2 * bs + 3)),
        pivots(bs) {}
};

} // namespace detail
} // namespace ainvil
