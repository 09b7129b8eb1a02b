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
  /// Fewer tell nothing.
  static constexpr double least_digits = 0.3;

  /// The times begin here, with the residual 1.
  explicit Course(double seconds = 0) : times_{seconds}, digits_{0} {}

  void add(double seconds, double residual); ///< seconds ascend; NaN gains nothing
  std::size_t looks() const { return times_.size() - 1; }
  double seconds() const { return times_.back(); } ///< of the last look
  double digits() const { return digits_.back(); } ///< gained so far
  double digitsAt(double seconds) const;           ///< gained until then
  double secondsAt(double digits) const;           ///< when they were gained; infinite if not yet
  /// Digits a second over the last two thirds of the time: a restart forgets what came before, and
  /// the first steps of a solve tell little.
  double rate() const;
  /// When so many digits are gained if it goes on like that; infinite if it does not go on.
  double secondsUntil(double digits) const;
  /// The same by the course of another method on the same system that has come further: residuals
  /// are taken to fall alike but for their speed, the ratio of both times since the beginning to as
  /// many digits as this one has now. Many courses slow down behind their first digits, and a
  /// method that has just begun would look better than all others. Infinite below least_digits.
  double secondsUntil(double digits, const Course& other) const;

private:
  std::vector<double> times_, digits_;
};

} // namespace detail
} // namespace ainvil
