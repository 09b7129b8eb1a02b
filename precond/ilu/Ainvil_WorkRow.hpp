// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Scratch memory of a host thread that factors rows of ILU or IC.

#include "Ainvil_Types.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace ainvil {
namespace detail {

/// max |x_i| over the numbers taken, NaN if one of them is: its bits are above those of infinity,
/// which are above those of all numbers.
template <class Scalar>
class RunningModulus {
public:
  void take(Scalar x) {
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits &= std::numeric_limits<Bits>::max(); // without the sign
    most_ = bits > most_ ? bits : most_;
  }
  Scalar value() const {
    Scalar largest;
    std::memcpy(&largest, &most_, sizeof largest);
    return largest;
  }

private:
  using Bits = std::conditional_t<sizeof(Scalar) == 8, std::int64_t, std::int32_t>;
  static_assert(sizeof(Bits) == sizeof(Scalar), "");
  Bits most_ = 0;
};

/// The same over n numbers, four at a time: none of them waits for the one before.
template <class Scalar>
inline Scalar largestModulus(const Scalar* x, Offset n) {
  RunningModulus<Scalar> largest[4];
  Offset i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k)
      largest[k].take(x[i + k]);
  for (; i < n; ++i)
    largest[0].take(x[i]);
  for (int k = 1; k < 4; ++k)
    largest[0].take(largest[k].value());
  return largest[0].value();
}

/// The largest of what rows have, and the first row that has it.
template <class Scalar>
struct LargestRow {
  Scalar size = 0;
  Ordinal row = 0;

  void take(const LargestRow& other) {
    if (other.size > size || (other.size == size && other.row < row))
      *this = other;
  }
};

/// The memory in which a thread factors one row after the other. Between rows every `position` is
/// -1; w, room and pivots hold anything.
template <class Scalar>
struct WorkRow {
  std::vector<Scalar> w;                 ///< the row: scalars by column, blocks one after the other
  std::vector<int> position;             ///< of the block in column j, -1 where there is none
  std::vector<Scalar> room;              ///< workspace for the inversion of a pivot block
  std::vector<int> pivots;               ///< row exchanges of that inversion
  bool read_finite = true;               ///< whether all values of A that it read are
  bool finite = true;                    ///< whether all values that it wrote are
  Scalar largest_read = 0;               ///< modulus of the values of A that it read
  LargestRow<Scalar> in_lower, in_upper; ///< moduli of the values of L and U that it wrote

  /// A row of A with entries up to `size` has been read.
  void read(Scalar size) {
    read_finite = read_finite && isFinite(size);
    largest_read = size > largest_read ? size : largest_read;
  }
  /// Reads `count` row-major blocks that lie one after the other, a block row of A: sizes[r] is the
  /// largest modulus in its point row r. BS = 0 takes the `size` of blocks at run time.
  template <int BS>
  void readBlocks(const Scalar* blocks, Offset count, int size, Scalar* sizes) {
    constexpr int rows = BS > 0 ? BS : 1; // at a time: none of them waits for another
    const int bs = BS > 0 ? BS : size;
    for (int first = 0; first < bs; first += rows) {
      RunningModulus<Scalar> largest[rows];
      for (Offset b = 0; b < count; ++b)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < bs; ++c)
            largest[r].take(blocks[(b * bs + first + r) * bs + c]);
      for (int r = 0; r < rows; ++r) {
        sizes[first + r] = largest[r].value();
        read(sizes[first + r]);
      }
    }
  }
  /// Row i of the factors has been written, with these moduli.
  void wrote(Ordinal i, Scalar largest_in_lower, Scalar largest_in_upper) {
    finite = finite && isFinite(largest_in_lower) && isFinite(largest_in_upper);
    in_lower.take({largest_in_lower, i});
    in_upper.take({largest_in_upper, i});
  }
  /// Forgets what there was to say of the values.
  void forget() {
    read_finite = finite = true;
    largest_read = 0;
    in_lower = in_upper = {};
  }

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
