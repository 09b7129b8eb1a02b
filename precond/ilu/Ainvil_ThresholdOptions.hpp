// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What ILU and IC by threshold are told about their patterns.

namespace ainvil {

/// How a pattern that follows the values is found.
enum class PatternSearch {
  Auto,       ///< Sequential on hosts, Parallel on GPUs
  Sequential, ///< row after row, one thread of the host
  Parallel    ///< by detail::ilutPatternBySteps()
};

/// Thresholds of an incomplete factorisation, and how the pattern is found.
struct ThresholdOptions {
  double drop = 1e-3;   ///< entries of row i below so many times ||A_i||_F are dropped; >= 0
  double max_fill = 10; ///< bound of the entries of L and U together, in entries of A; > 0
  /// 0: the pattern of the first compute() is kept. n > 0: every n-th compute() finds a new one.
  int repattern = 0;
  PatternSearch search = PatternSearch::Auto; ///< how a pattern is found
  int steps = 5; ///< of PatternSearch::Parallel, if that is what it says
};

namespace detail {

/// How many computes a pattern has served.
class PatternAge {
public:
  /// For another compute: whether the pattern stays, which it does if it may, until it has served
  /// `repattern` times. If not, a new one is to be found, and this is its first compute.
  bool keeps(bool may_keep, int repattern) {
    const bool stays = may_keep && (repattern == 0 || computes_ < repattern);
    computes_ = stays ? computes_ + (repattern == 0 ? 0 : 1) : 1;
    return stays;
  }

private:
  int computes_ = 0;
};

} // namespace detail
} // namespace ainvil
