// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Measures how fast sweeps approach exact triangular solves, and what they cost.

#include "KokkosProgram.hpp"
#include "SolveOutput.hpp"
#include "SweepsStudy.hpp"

#include <iostream>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

struct Study {
  std::vector<Column> columns;
  void (*measure)(const SweepsOptions&, const LinearSystem&, Results&);
};

template <class Device>
Study studyOf(const std::string& name) {
  if (name == "residuals")
    return {residualColumns(), studyResiduals<Device>};
  if (name == "cost")
    return {costColumns(), studyCost<Device>};
  if (name == "solve")
    return {solveColumns(), studySolve<Device>};
  return {factorColumns(), studyFactor<Device>};
}

template <class Device>
void measure(const SweepsOptions& options) {
  const Study study = studyOf<Device>(options.study);
  const bool csv_on_stdout = options.csv == "-";
  Results results(csv_on_stdout ? std::cerr : std::cout, options,
                  describe(typename Device::execution_space()), study.columns);
  for (size_t k = 0; k < numSystems(options); ++k) {
    const NamedSystem named = makeSystem(options, k);
    results.start(named);
    study.measure(options, named.system, results);
    if (!options.csv.empty() && !csv_on_stdout)
      writeFile(options.csv, results.csv()); // a run that is cut short leaves what it has
  }
  if (csv_on_stdout)
    std::cout << results.csv() << std::flush;
}

ExitCode run(const Arguments& arguments) {
  const SweepsOptions options = parseSweepsOptions(arguments.own);
  if (!options.help.empty()) {
    std::cout << options.help;
    return success;
  }
  if (!options.csv.empty() && options.csv != "-")
    checkWritable(options.csv);
  const KokkosScope scope(arguments);
  if (options.on_host)
    measure<HostDevice>(options);
  else
    measure<DefaultDevice>(options);
  return success;
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-triangular-sweeps", argc, argv, run);
}
