// SPDX-License-Identifier: BSD-3-Clause
#include "program/KokkosProgram.hpp"

#include "program/Interruption.hpp"

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <thread>

namespace ainvil {
namespace perf {
namespace {

const std::string prefix = "--kokkos-";

/// Kokkos' space OpenMP keeps its threads in an array of this length, whose end it does not check.
constexpr int most_threads = 512;

/// \throws InvalidArgument unless so many threads can be asked of Kokkos
void checkThreads(const std::string& source, const std::string& text) {
  int threads = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc() || next != end || threads < 1 || threads > most_threads)
    throw InvalidArgument(message(source, " must be a number of threads from 1 to ", most_threads,
                                  ", but it is '", text, "'"));
}

/// The threads that OpenMP starts by itself.
long long defaultThreads() {
  // Of a list, one number a level of nesting, the first. OpenMP passes over what is none.
  const char* const variable = std::getenv("OMP_NUM_THREADS");
  const long long wanted = variable != nullptr ? std::strtoll(variable, nullptr, 10) : 0;
  return wanted > 0 ? wanted : std::thread::hardware_concurrency();
}

} // namespace

Arguments sorted(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool for_kokkos = argument.compare(0, prefix.size(), prefix) == 0;
    (for_kokkos ? arguments.kokkos : arguments.own).push_back(argument);
  }
  return arguments;
}

std::string oneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int runProgram(const std::string& program, int argc, char** argv,
               const std::function<ExitCode(const Arguments&)>& run) {
  const auto fail = [&](const std::string& reason, int code) {
    std::cerr << program << ": " << oneLine(reason) << std::endl;
    return code;
  };
  ignoreFailedWrites();
  try {
    const Arguments arguments = sorted(argc, argv);
    const auto& kokkos = arguments.kokkos;
    if (std::find(kokkos.begin(), kokkos.end(), prefix + "help") != kokkos.end()) {
      const KokkosScope scope(arguments); // shows it
      return success;
    }
    const ExitCode code = run(arguments);
    std::cout.flush();
    if (caughtSignal() != 0) // as shells have it
      return 128 + caughtSignal();
    return std::cout ? code : fail("cannot write to standard output", bad_input);
  } catch (const OutOfMemory& error) {
    return fail(error.what(), other_error);
  } catch (const Error& error) {
    return fail(error.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory", other_error);
  } catch (const std::exception& error) {
    return fail(error.what(), other_error);
  }
}

void checkKokkosThreads(const Arguments& arguments) {
  bool told = false;
  for (const std::string& argument : arguments.kokkos)
    for (const std::string option : {"--kokkos-threads", "--kokkos-num-threads"})
      if (argument.compare(0, option.size() + 1, option + "=") == 0) {
        checkThreads(option, argument.substr(option.size() + 1));
        told = true;
      }
  if (const char* const value = std::getenv("KOKKOS_NUM_THREADS")) {
    checkThreads("KOKKOS_NUM_THREADS", value);
    told = true;
  }
  const bool by_openmp = std::string(Kokkos::DefaultHostExecutionSpace::name()) == "OpenMP";
  if (!told && by_openmp && defaultThreads() > most_threads)
    throw InvalidArgument(message("OpenMP would start ", defaultThreads(), " threads, but Kokkos ",
                                  "takes ", most_threads,
                                  " at most: set OMP_NUM_THREADS to the number of cores"));
}

KokkosScope::KokkosScope(const Arguments& arguments) {
  checkKokkosThreads(arguments);
  std::vector<std::string> options{"ainvil"};
  options.insert(options.end(), arguments.kokkos.begin(), arguments.kokkos.end());
  std::vector<char*> argv;
  for (std::string& option : options)
    argv.push_back(option.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  // Its advice on thread binding would come between a message and its reader.
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  try {
    Kokkos::initialize(argc, argv.data());
  } catch (const std::exception& error) {
    throw InvalidArgument(
        message("Kokkos does not start with the options given to it: ", error.what()));
  }
  if (argc > 1) { // Kokkos takes out what it knows
    const std::string unknown = argv[1];
    Kokkos::finalize();
    throw InvalidArgument(message("Kokkos ", compat::kokkosVersion(), " has no option ", unknown,
                                  " (--kokkos-help lists all)"));
  }
  compat::keepFreedMemory();
}

std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.compare(0, 10, "model name") == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

} // namespace perf
} // namespace ainvil
