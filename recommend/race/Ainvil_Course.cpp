// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Course.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace detail {

void Course::add(double seconds, double residual) {
  const double gained = residual > 0 ? -std::log10(residual) : residual == 0 ? 400.0 : 0.0;
  times_.push_back(std::max(seconds, times_.back()));
  digits_.push_back(std::max(digits_.back(), std::isfinite(gained) ? gained : 0.0));
}

double Course::digitsAt(double seconds) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), seconds);
  return after == times_.begin() ? 0.0 : digits_[after - times_.begin() - 1];
}

double Course::secondsAt(double digits) const {
  const auto first = std::lower_bound(digits_.begin(), digits_.end(), digits);
  return first == digits_.end() ? std::numeric_limits<double>::infinity()
                                : times_[first - digits_.begin()];
}

double Course::rate() const {
  const double begin = times_.front(), end = times_.back();
  const double since = begin + (end - begin) / 3;
  if (end <= since) // the clock stood still
    return 0;
  return (digits() - digitsAt(since)) / (end - since);
}

double Course::secondsUntil(double digits) const {
  const double left = digits - this->digits();
  if (left <= 0)
    return seconds();
  const double speed = rate();
  return speed > 0 ? seconds() + left / speed : std::numeric_limits<double>::infinity();
}

double Course::secondsUntil(double digits, const Course& other) const {
  const double reached = other.secondsAt(this->digits()), ends = other.secondsUntil(digits);
  const double of_other = reached - other.times_.front();
  if (this->digits() < least_digits)
    return std::numeric_limits<double>::infinity();
  if (!(of_other > 0) || !(reached < ends) || !(ends < std::numeric_limits<double>::infinity()))
    return secondsUntil(digits);
  return seconds() + (ends - reached) * (seconds() - times_.front()) / of_other;
}

} // namespace detail
} // namespace ainvil
