// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Programs that end in good order when the user or the system asks them to.

#include <stdexcept>

namespace ainvil {
namespace perf {

/// Thrown where a run notices that the program is to end.
class Interrupted : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// From now on the first SIGINT, SIGTERM or SIGHUP is remembered, and announced on stderr if so
/// asked; a second one ends the program at once.
void catchSignals(bool announced = true);

/// Whether standard output is a pipe, whose reader may go.
bool outputIsPipe();

/// From now on a closed pipe (SIGPIPE) and a file that may not grow (SIGXFSZ) do not end the
/// program: the stream tells, as on a full disk.
void ignoreFailedWrites();

/// The signal that came, or 0.
int caughtSignal();

/// \throws Interrupted if a signal came: caughtSignal() or the one given.
void throwIfInterrupted(int signal = caughtSignal());

} // namespace perf
} // namespace ainvil
