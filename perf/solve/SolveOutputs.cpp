// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveOutputs.hpp"

#include "solve/SolveReport.hpp"

#include "io/Ainvil_MatrixMarket.hpp"

#include <algorithm>
#include <iostream>

namespace ainvil {
namespace perf {

void SolveOutputs::add(RunRecord record, const std::string& json) {
  // One is kept, that of the best run.
  std::vector<Vector<double, HostDevice>> solution;
  if (record.columns.empty())
    solution.push_back(record.solution);
  for (RunRecord& column : record.columns) {
    solution.push_back(column.solution);
    column.solution = {};
  }
  record.solution = {};
  records_.push_back(std::move(record));
  json_ += json;
  if (command_.json == "-")
    std::cout << json << std::flush;
  updateJson();
  if (!command_.history.empty())
    attempt(command_.history, [&] { history_file_.update(historyToCsv(records_)); });
  best_ = bestRun(records_);
  if (!command_.solution.empty() && best_ + 1 == records_.size()) {
    solution_ = solution;
    updateSolution();
  }
}

void SolveOutputs::update(std::vector<RunRecord> records,
                          const Vector<double, HostDevice>& solution, const std::string& json) {
  records_ = std::move(records);
  json_ = json;
  best_ = bestRun(records_);
  if (!isStream(command_.json))
    updateJson();
  if (!command_.solution.empty() && best_ < records_.size()) {
    solution_ = {solution};
    updateSolution();
  }
}

void SolveOutputs::updateJson() {
  if (!command_.json.empty() && command_.json != "-")
    attempt(command_.json, [&] { json_file_.update(json_); });
}

void SolveOutputs::updateSolution() {
  if (!isStream(command_.solution))
    attempt(command_.solution, [&] { writeSolution(); });
}

void SolveOutputs::finish() {
  if (!solution_.empty() && isStream(command_.solution))
    attempt(command_.solution, [&] { writeSolution(); });
}

void SolveOutputs::writeSolution() {
  const RunRecord& record = records_[best_];
  const auto columns = allocateView<MultiVector<double, HostDevice>>(
      HostDevice::execution_space(), "Ainvil::solution", solution_[0].extent(0), solution_.size());
  for (size_t c = 0; c < solution_.size(); ++c)
    Kokkos::deep_copy(Kokkos::subview(columns, Kokkos::ALL(), c),
                      originalSolution(system_.withColumn(static_cast<int>(c)), solution_[c]));
  writeMatrixMarket(command_.solution, columns,
                    message("solution of ", command_.problemName(), "\nby ",
                            record.solver.empty() ? command_.solver : record.solver, " with ",
                            record.precond, ": ", record.status, ", relative residual ",
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

bool SolveOutputs::anyConverged() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const RunRecord& record) { return record.converged; });
}

} // namespace perf
} // namespace ainvil
