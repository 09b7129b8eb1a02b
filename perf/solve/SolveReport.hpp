// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The results of ainvil-solve as a table, as JSON and as CSV.

#include "solve/SolveRecord.hpp"
#include "solve/SolveSystem.hpp"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ostream>

namespace ainvil {
namespace perf {

/// A table that grows a row a run. On a terminal it is no wider than that: the least important
/// columns are left out.
class Table {
public:
  /// Writes nothing if the command line says --quiet.
  Table(std::ostream& out, const CommandLine& command);
  ~Table();

  void printHeader(const LinearSystem& system, const Environment& environment);
  /// The titles of the columns, with which the header ends.
  void printTitles();
  void printRow(const RunRecord& record);
  /// What the rows have no room for, and which run was the fastest.
  void printFooter(const std::vector<RunRecord>& records);

private:
  struct Layout;

  std::ostream& out_;
  const CommandLine& command_;
  std::unique_ptr<const Layout> layout_;
};

/// "OpenMP on <processor>, 16 host threads, Kokkos 4.6", with the ranks if there are several.
std::string machineText(const Environment& environment);

/// "gmres(30), tolerance 1e-8".
std::string solverText(const CommandLine& command);

/// What the JSON of a run says of solver, machine and build.
void addSetting(nlohmann::ordered_json& run, const CommandLine& command,
                const Environment& environment);

/// One run as a JSON object on a line of its own. What was not measured is null.
std::string toJson(const RunRecord& record, const CommandLine& command, const LinearSystem& system,
                   const Environment& environment);

/// Lines "precond,iteration,rel_residual" for all iterations of all runs.
std::string historyToCsv(const std::vector<RunRecord>& records);

} // namespace perf
} // namespace ainvil
