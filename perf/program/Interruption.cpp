// SPDX-License-Identifier: BSD-3-Clause
#include "program/Interruption.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace ainvil {
namespace perf {
namespace {

volatile std::sig_atomic_t caught = 0;
volatile std::sig_atomic_t is_announced = 1;

// Only what POSIX allows in a handler.
extern "C" void remember(int signal) {
  caught = signal;
  if (!is_announced)
    return;
  constexpr char text[] =
      "\ninterrupted: ends after this step; again: at once. Results of finished "
      "runs are kept.\n";
  const int saved = errno;
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) { // nobody is there to read it
  }
  errno = saved;
}

} // namespace

void catchSignals(bool announced) {
  is_announced = announced ? 1 : 0;
  struct sigaction once = {};
  once.sa_handler = remember;
  once.sa_flags = SA_RESTART | SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) // as under nohup
      sigaction(signal, &once, nullptr);
  }
}

bool outputIsPipe() {
  struct stat status = {};
  return fstat(STDOUT_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

void ignoreFailedWrites() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int caughtSignal() {
  return caught;
}

void throwIfInterrupted(int signal) {
  if (signal != 0)
    throw Interrupted(std::string("interrupted by the signal '") + strsignal(signal) + "'");
}

} // namespace perf
} // namespace ainvil
