// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Scratch memory of a host thread that factors rows of ILU or IC.

#include "Ainvil_Types.hpp"

#include <cstddef>
#include <vector>

namespace ainvil {
namespace detail {

/// The memory in which a thread factors one row after the other. Between rows every `position` is
/// -1; w, room and pivots hold anything.
template <class Scalar>
struct WorkRow {
  std::vector<Scalar> w;     ///< the row: scalars by column, blocks one after the other
  std::vector<int> position; ///< of the block in column j, -1 where there is none
  std::vector<Scalar> room;  ///< workspace for the inversion of a pivot block
  std::vector<int> pivots;   ///< row exchanges of that inversion
  bool read_finite = true;   ///< whether all values of A that it read are
  bool finite = true;        ///< whether all values that it wrote are

  /// For rows of at most `longest` blocks out of n. Memory: n scalars where bs is 1, else n
  /// integers and the longest row. Positions of scalars are there only if they are asked for.
  WorkRow(Ordinal n, Ordinal longest, int bs, bool with_positions = false)
      : w(bs == 1 ? std::size_t(n) : std::size_t(longest) * bs * bs),
        position(bs == 1 && !with_positions ? 0 : std::size_t(n), -1),
        room(std::size_t(bs) * (2 * bs + 3)), pivots(bs) {}
};

/// c -= a b for row-major blocks. The order of the sums is that of a product by hand.
template <int BS, class Scalar>
inline void subtractProduct(Scalar* c, const Scalar* a, const Scalar* b, int size) {
  const int bs = BS > 0 ? BS : size;
  for (int r = 0; r < bs; ++r) {
    Scalar sums[BS > 0 ? BS : 1];
    if constexpr (BS > 0) {
      for (int j = 0; j < BS; ++j)
        sums[j] = a[r * BS] * b[j];
      for (int m = 1; m < BS; ++m)
        for (int j = 0; j < BS; ++j)
          sums[j] += a[r * BS + m] * b[m * BS + j];
      for (int j = 0; j < BS; ++j)
        c[r * BS + j] -= sums[j];
    } else {
      for (int m = 0; m < bs; ++m)
        for (int j = 0; j < bs; ++j)
          c[r * bs + j] -= a[r * bs + m] * b[m * bs + j];
    }
  }
}

} // namespace detail
} // namespace ainvil
