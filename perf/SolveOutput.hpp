// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Files that are written whole or not at all, and a progress line for people who wait.

#include <chrono>
#include <string>

namespace ainvil {
namespace perf {

/// Finds out before a long run whether writeFile() and writeMatrixMarket() will be able to write
/// this file; leaves it alone. \throws FileError
void checkWritable(const std::string& path);

/// Writes beside `path` and renames, so that a file of this name is always complete.
/// \throws FileError
void writeFile(const std::string& path, const std::string& text);

/// One line on stderr that overwrites itself. Shows nothing unless stderr is a terminal.
class ProgressLine {
public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

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
