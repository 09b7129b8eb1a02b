// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Measures how fast sweeps approach exact triangular solves, and what they cost.

#include "program/KokkosProgram.hpp"
#include "studies/SweepsStudy.hpp"

#include "io/Ainvil_Files.hpp"

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
  if (name == "product")
    return {productColumns(), studyProduct<Device>};
  if (name == "pattern")
    return {patternColumns(), studyPattern<Device>};
  if (name == "solve")
    return {solveColumns(), studySolve<Device>};
  return {factorColumns(), studyFactor<Device>};
}

template <class Device>
void measure(const SweepsOptions& options) {
  const Study study = studyOf<Device>(options.study);
  const Environment environment = describe(typename Device::execution_space());
  runStudy(
      options, study.columns, [&](size_t k) { return makeSystem(options, k); },
      [&](const NamedSystem& named, Results& results) {
        results.start(named, environment);
        study.measure(options, named.system, results);
      });
}

ExitCode run(const Arguments& arguments) {
  const SweepsOptions options = parseSweepsOptions(arguments.own);
  if (!options.help.empty()) {
    std::cout << options.help;
    return success;
  }
  for (const std::string& path : {options.csv, options.json})
    if (!path.empty() && path != "-")
      checkWritable(path);
  const KokkosScope scope(arguments);
  if (options.exec == "host")
    measure<HostDevice>(options);
  else
    measure<DefaultDevice>(options);
  return success;
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-triangular-sweeps", argc, argv, run);
}
