// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the executables have in common: their start and end, and the machine they run on.

#include "solve/SolveRecord.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

enum ExitCode { success = 0, other_error = 1, bad_input = 2, not_converged = 3 };

/// The arguments behind the name of a program.
struct Arguments {
  std::vector<std::string> own;
  std::vector<std::string> kokkos; ///< those that begin with --kokkos-
};

/// The arguments of main(), without the name of the program.
Arguments sorted(int argc, char** argv);

/// The text without line breaks.
std::string oneLine(std::string text);

/// Calls `run` with the arguments, unless they ask for the help of Kokkos; an exception becomes one
/// sentence on stderr and an exit code.
int runProgram(const std::string& program, int argc, char** argv,
               const std::function<ExitCode(const Arguments&)>& run);

/// To be asked before Kokkos starts, which may crash with no thread, or with more than it has room
/// for. \throws InvalidArgument, with the option or environment variable that asks for as many
void checkKokkosThreads(const Arguments& arguments);

/// Kokkos, from its options to the end of the scope.
class KokkosScope {
public:
  /// \throws InvalidArgument if Kokkos does not take the options.
  explicit KokkosScope(const Arguments& arguments);
  ~KokkosScope() { Kokkos::finalize(); }
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
};

/// What the operating system calls the processor.
std::string cpuName();

template <class Exec>
Environment describe(const Exec& exec) {
  const std::string device = compat::deviceName(exec);
  return {exec.name(), device.empty() ? cpuName() : device,
          static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency())};
}

} // namespace perf
} // namespace ainvil
