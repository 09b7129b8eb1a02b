// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The files of ainvil-solve and its kin, brought up to date as runs end.

#include "solve/SolveRecord.hpp"
#include "solve/SolveSystem.hpp"

#include "io/Ainvil_Files.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// Writes what --json, --history and --solution ask for anew after every run, so that whatever ends
/// the program leaves the results of the runs before. Each file is whole at any time. A stream
/// (a pipe, /dev/null) gets the lines of a run as it ends, and the solution from finish().
class SolveOutputs {
public:
  /// All must outlive it.
  SolveOutputs(const CommandLine& command, const LinearSystem& system)
      : command_(command), system_(system), json_file_(command.json),
        history_file_(command.history) {}

  /// Takes the record of a run; `json` is its line. An output that fails is told on stderr, once,
  /// and does not keep the others from being written.
  void add(RunRecord record, const std::string& json);

  /// Takes the records of all runs once more, whose times may be better than when they ended, with
  /// the solution of the best; `json` has all lines. What is on stdout or in a stream stays.
  void update(std::vector<RunRecord> records, const Vector<double, HostDevice>& solution,
              const std::string& json);

  /// After the last run.
  void finish();

  const std::vector<RunRecord>& records() const { return records_; } ///< solutions left out
  bool allConverged() const;
  bool anyConverged() const;
  /// Some output does not hold what it should.
  bool failed() const { return !failed_.empty(); }

private:
  template <class Write>
  void attempt(const std::string& path, const Write& write);
  void updateJson();
  /// `solution_`, unless it goes to a stream and may not be the best in the end.
  void updateSolution();
  void writeSolution();

  const CommandLine& command_;
  const LinearSystem& system_;
  std::vector<RunRecord> records_;
  std::string json_;
  GrowingFile json_file_, history_file_;
  size_t best_ = 0;
  std::vector<Vector<double, HostDevice>> solution_; ///< of the best run, each column
  std::vector<std::string> failed_;                  ///< paths
};

} // namespace perf
} // namespace ainvil
