// SPDX-License-Identifier: BSD-3-Clause
#include "SolveOutput.hpp"

#include "Ainvil_Error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ainvil {
namespace perf {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string temporaryName(const std::string& path) {
  return path + ".part" + std::to_string(getpid());
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw FileError(message("cannot write '", path, "': ", reason));
}

} // namespace

void checkWritable(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    refuse(path, "expected a new or a regular file");
  const std::string part = temporaryName(path);
  const File file(std::fopen(part.c_str(), "wb"), std::fclose);
  if (!file)
    refuse(path, std::strerror(errno));
  std::remove(part.c_str());
}

void writeFile(const std::string& path, const std::string& text) {
  const std::string part = temporaryName(path);
  File file(std::fopen(part.c_str(), "wb"), std::fclose);
  const bool ok = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                  std::fclose(file.release()) == 0 && std::rename(part.c_str(), path.c_str()) == 0;
  if (!ok) {
    const std::string reason = std::strerror(errno);
    std::remove(part.c_str());
    refuse(path, reason);
  }
}

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
