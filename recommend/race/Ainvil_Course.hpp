// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How fast a residual falls, and when it will be small enough.

#include <cstddef>
#include <vector>

namespace ainvil {
namespace detail {

/// The digits that a solve has gained over time: digits(t) = -log10 of the smallest relative
/// residual up to t.
class Course {
public:
  /// The times begin here, with the residual 1.
  explicit Course(double seconds = 0) : times_{seconds}, digits_{0} {}

  void add(double seconds, double residual); ///< seconds ascend; NaN gains nothing
  std::size_t looks() const { return times_.size() - 1; }
  double seconds() const { return times_.back(); } ///< of the last look
  double digits() const { return digits_.back(); } ///< gained so far
  double digitsAt(double seconds) const;           ///< gained until then
  /// Digits a second over the last two thirds of the time: a restart forgets what came before, and
  /// the first steps of a solve tell little.
  double rate() const;
  /// When so many digits are gained if it goes on like that; infinite if it does not go on.
  double secondsUntil(double digits) const;

private:
  std::vector<double> times_, digits_;
};

} // namespace detail
} // namespace ainvil
