// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveOutputs.hpp"

#include "solve/SolveReport.hpp"

#include "io/Ainvil_Files.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <algorithm>
#include <iostream>

namespace ainvil {
namespace perf {

void SolveOutputs::add(RunRecord record, const std::string& json) {
  const auto solution = record.solution;
  record.solution = {}; // one is kept, that of the best run
  records_.push_back(std::move(record));
  json_ += json;
  if (command_.json == "-")
    std::cout << json << std::flush;
  else if (!command_.json.empty())
    attempt(command_.json, [&] { writeFile(command_.json, json_); });
  if (!command_.history.empty())
    attempt(command_.history, [&] { writeFile(command_.history, historyToCsv(records_)); });
  best_ = bestRun(records_);
  if (!command_.solution.empty() && best_ + 1 == records_.size()) {
    solution_ = solution;
    attempt(command_.solution, [&] { writeSolution(); });
  }
}

void SolveOutputs::writeSolution() {
  const RunRecord& record = records_[best_];
  writeMatrixMarket(command_.solution, originalSolution(system_, solution_),
                    message("solution of ", command_.problemName(), "\nby ", command_.solver,
                            " with ", record.precond, ": ", record.status, ", relative residual ",
                            record.rel_residual));
}

template <class Write>
void SolveOutputs::attempt(const std::string& path, const Write& write) {
  const auto known = std::find(failed_.begin(), failed_.end(), path);
  try {
    write();
    if (known != failed_.end()) // there is room again
      failed_.erase(known);
  } catch (const Error& error) {
    if (known != failed_.end())
      return;
    failed_.push_back(path);
    std::cerr << nameOf(command_.program) << ": " << error.what() << std::endl;
  }
}

bool SolveOutputs::allConverged() const {
  return std::all_of(records_.begin(), records_.end(),
                     [](const RunRecord& record) { return record.converged; });
}

} // namespace perf
} // namespace ainvil
