// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A progress line for people who wait.

#include <chrono>
#include <string>

namespace ainvil {
namespace perf {

/// One line on stderr that overwrites itself. Shows nothing unless stderr is a terminal.
class ProgressLine {
public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool isActive() const { return active_; } ///< it would show what it is told
  /// True at most ten times a second: for callers who would show something at every iteration.
  bool isDue() const;
  void show(const std::string& text);
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  bool active_;
  bool visible_ = false;
  Clock::time_point shown_at_ = Clock::time_point::min();
};

} // namespace perf
} // namespace ainvil
