// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Times that can be repeated, and what many samples have in common.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

namespace ainvil {
namespace perf {

/// Seconds since its construction.
class Stopwatch {
public:
  /// Of processor time of the process, all threads together, or of wall clock.
  explicit Stopwatch(bool cpu) : cpu_(cpu), cpu_start_(std::clock()) {}
  double seconds() const {
    return cpu_ ? double(std::clock() - cpu_start_) / CLOCKS_PER_SEC : timer_.seconds();
  }

private:
  bool cpu_;
  std::clock_t cpu_start_;
  Kokkos::Timer timer_;
};

/// All NaN if there are no samples or one of them is NaN.
struct Statistics {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double mean = none;
  double deviation = none; ///< sample standard deviation; 0 of a single sample
  double min = none, max = none, median = none;

  Statistics() = default;
  explicit Statistics(std::vector<double> samples) {
    if (samples.empty())
      return;
    const size_t n = samples.size();
    double sum = 0, squares = 0;
    for (const double sample : samples)
      sum += sample;
    if (std::isnan(sum))
      return;
    mean = sum / double(n);
    for (const double sample : samples)
      squares += (sample - mean) * (sample - mean);
    deviation = n > 1 ? std::sqrt(squares / double(n - 1)) : 0.0;
    std::sort(samples.begin(), samples.end());
    min = samples.front();
    max = samples.back();
    median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  }
};

/// Wall-clock seconds of work() and of all that it enqueues on `exec`.
template <class Exec, class Work>
double secondsOnce(const Exec& exec, Work&& work) {
  compat::fence(exec, "Ainvil::perf[timer]");
  Kokkos::Timer timer;
  work();
  compat::fence(exec, "Ainvil::perf[timer]");
  return timer.seconds();
}

/// Seconds of one call of work(): the median of `repetitions` measurements, each of as many calls
/// as fill a millisecond, after one that warms up and one that counts.
template <class Exec, class Work>
double medianSeconds(const Exec& exec, int repetitions, Work&& work) {
  work();
  constexpr double shortest = 1e-3;
  const double once = std::max(1e-7, secondsOnce(exec, work));
  const int calls = std::max(1, static_cast<int>(std::ceil(shortest / once)));
  std::vector<double> samples;
  for (int k = 0; k < repetitions; ++k)
    samples.push_back(secondsOnce(exec,
                                  [&] {
                                    for (int call = 0; call < calls; ++call)
                                      work();
                                  }) /
                      calls);
  return Statistics(samples).median;
}

} // namespace perf
} // namespace ainvil
