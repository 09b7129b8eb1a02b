// SPDX-License-Identifier: BSD-3-Clause
#include "program/ProgressLine.hpp"

#include <unistd.h>

#include <cstdio>

namespace ainvil {
namespace perf {

ProgressLine::ProgressLine(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

bool ProgressLine::isDue() const {
  return active_ && Clock::now() - std::chrono::milliseconds(100) >= shown_at_;
}

void ProgressLine::show(const std::string& text) {
  if (!active_)
    return;
  // A line that wraps could not be taken back.
  constexpr size_t width = 79;
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, width).c_str());
  std::fflush(stderr);
  visible_ = true;
  shown_at_ = Clock::now();
}

void ProgressLine::clear() {
  if (visible_)
    std::fputs("\r\033[K", stderr);
  visible_ = false;
}

} // namespace perf
} // namespace ainvil
