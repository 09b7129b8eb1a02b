// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveReport.hpp"

#include "Ainvil_BuildInfo.hpp"
#include "Ainvil_Solver.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ainvil {
namespace perf {
namespace {

template <class Number>
std::string formatted(const char* format, Number number) {
  char text[64];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

std::string seconds(double s) {
  if (std::isnan(s))
    return "-";
  return formatted(s < 10 ? "%.5f" : s < 1000 ? "%.3f" : "%.0f", s);
}

std::string mebibytes(Offset bytes) {
  if (bytes == 0)
    return "-";
  return formatted(bytes < 100 << 20 ? "%.1f" : "%.0f", double(bytes) / (1 << 20));
}

std::string residual(double r) {
  return std::isnan(r) ? "-" : formatted("%.2e", r);
}

/// A column behind that of the preconditioners, with the cell of a record.
struct Column {
  const char* title;
  size_t width;
  int importance; ///< where a terminal is narrow, the least important go first
  std::string (*cell)(const RunRecord&);
};

/// The order in the table.
/// `of_scaled` is the title of the residual of the scaled system, empty: there is none.
std::vector<Column> allColumns(const char* of_scaled, bool of_race) {
  std::vector<Column> columns = {
      {"setup s", 7, 3, [](const RunRecord& r) { return seconds(r.setup_seconds); }},
      {"apply30 s", 9, 1, [](const RunRecord& r) { return seconds(r.apply30_seconds); }},
      {"iters", 6, 6,
       [](const RunRecord& r) {
         return std::isnan(r.solve_seconds) ? "-" : std::to_string(r.iterations);
       }},
      {"status", 14, 6, [](const RunRecord& r) { return r.status; }},
      {"residual", 8, 6, [](const RunRecord& r) { return residual(r.rel_residual); }},
      {"solve s", 7, 4, [](const RunRecord& r) { return seconds(r.solve_seconds); }},
      {"total s", 7, 5, [](const RunRecord& r) { return seconds(r.totalSeconds()); }},
      {"MiB", 7, 0, [](const RunRecord& r) { return mebibytes(r.peak_bytes); }}};
  if (of_race) {
    columns.erase(columns.begin() + 1); // no applications are timed, and runs take turns
    columns.back() = {"factors MiB", 11, 0,
                      [](const RunRecord& r) { return mebibytes(r.factor_bytes); }};
  }
  if (*of_scaled != '\0')
    columns.insert(columns.begin() + (of_race ? 4 : 5), {of_scaled, 8, 2, [](const RunRecord& r) {
                                                           return residual(r.scaled_rel_residual);
                                                         }});
  return columns;
}

constexpr size_t gap = 2; ///< between two columns

/// Columns of the terminal that a stream shows on; as many as can be if it is none.
size_t widthOf(const std::ostream& out) {
  const int descriptor = &out == &std::cerr   ? STDERR_FILENO
                         : &out == &std::cout ? STDOUT_FILENO
                                              : -1;
  struct winsize size = {};
  if (isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return std::numeric_limits<size_t>::max();
}

} // namespace

std::string machineText(const Environment& environment) {
  return (environment.ranks > 1 ? message(environment.ranks, " ranks, each ") : "") +
         message(environment.exec_space, " on ", environment.device, ", ", environment.threads,
                 " host threads, Kokkos ", compat::kokkosVersion());
}

std::string solverText(const CommandLine& command) {
  return (command.belos.empty() ? command.solver : command.belos) +
         (command.hasRestart() ? message("(", command.restart, ")") : "") +
         (command.hasRestart() && command.float_basis ? ", basis in float" : "") +
         (command.by_belos ? " of Belos" : "") + message(", tolerance ", command.tolerance) +
         (command.relative_to_guess ? " of the initial residual" : "") +
         (command.absolute_tolerance > 0 ? message(" or ", command.absolute_tolerance, " absolute")
                                         : "");
}

void addSetting(nlohmann::ordered_json& run, const CommandLine& command,
                const Environment& environment) {
  run["solver"] = command.solver;
  run["restart"] = command.restart;
  run["tolerance"] = command.tolerance;
  if (!command.guess_file.empty())
    run["relative_to"] = command.relative_to_guess ? "initial" : "rhs";
  if (command.absolute_tolerance > 0)
    run["absolute_tolerance"] = command.absolute_tolerance;
  run["exec_space"] = environment.exec_space;
  run["device"] = environment.device;
  run["threads"] = environment.threads;
  run["ranks"] = environment.ranks;
  if (command.program == Program::SolveMpi) {
    run["partition"] = command.by_metis ? "metis" : "rows";
    run["overlap"] = command.overlap;
    run["format"] = command.in_blocks ? "blocks" : "points";
    run["krylov"] = command.by_belos ? "belos" : "ainvil";
    if (!command.belos.empty())
      run["belos"] = command.belos;
  }
  run["kokkos_version"] = compat::kokkosVersion();
  run["git"] = build_info::git;
}

struct Table::Layout {
  size_t precond_width = 7;
  std::vector<Column> columns;

  Layout(const CommandLine& command, size_t width)
      : columns(allColumns(!command.isScaled()                                  ? ""
                           : command.match != "none" || command.scale == "ruiz" ? "of R A C"
                                                                                : "of S A S",
                           command.recommend)) {
    for (const std::string& precond : command.preconds)
      precond_width = std::max(precond_width, precond.size());
    // Longer names get a line of their own before columns are left out.
    constexpr size_t longest_of_all = 26;
    if (needed() > width)
      precond_width = std::min(precond_width, longest_of_all);
    for (int importance = 0; needed() > width && importance < 6; ++importance)
      columns.erase(
          std::remove_if(columns.begin(), columns.end(),
                         [&](const Column& column) { return column.importance == importance; }),
          columns.end());
  }

  size_t needed() const {
    size_t sum = precond_width;
    for (const Column& column : columns)
      sum += gap + column.width;
    return sum;
  }

  template <class CellOf>
  std::string line(const std::string& precond, const CellOf& cellOf) const {
    std::string text = precond;
    if (text.size() > precond_width)
      text += "\n" + std::string(precond_width, ' ');
    else
      text.resize(precond_width, ' ');
    for (const Column& column : columns) {
      const std::string cell = cellOf(column);
      text += std::string(gap + column.width - std::min(column.width, cell.size()), ' ') + cell;
    }
    return text + "\n";
  }
};

Table::Table(std::ostream& out, const CommandLine& command)
    : out_(out), command_(command), layout_(std::make_unique<Layout>(command, widthOf(out))) {}

Table::~Table() = default;

void Table::printHeader(const LinearSystem& system, const Environment& environment) {
  if (command_.quiet)
    return;
  const auto& a = system.matrix;
  out_ << "problem   " << command_.problemName() << ": " << a.numPointRows() << " rows, "
       << a.numScalars() << " entries";
  if (a.block_size > 1)
    out_ << " in " << a.numEntries() << " blocks of size " << a.block_size;
  if (command_.scale != "none")
    out_ << ", scaled (" << command_.scale << ")";
  if (system.numColumns() > 1)
    out_ << ", " << system.numColumns() << " right-hand sides";
  if (command_.match != "none")
    out_ << ", rows exchanged and scaled (" << command_.match << ")";
  if (system.num_weak_diagonals > 0)
    out_ << "\ndiagonal  zero to rounding in " << system.num_weak_diagonals << " rows";
  if (command_.reorder != "none")
    out_ << "\nreorder   " << command_.reorder << ", " << seconds(system.reorder_seconds) << " s";
  out_ << "\nmachine   " << machineText(environment) << "\nsolver    "
       << (command_.recommend
               ? message("a race",
                         command_.solver_is_given ? " of preconditioners for " + command_.solver
                                                  : std::string(),
                         ", at most ", command_.budget, " s, tolerance ", command_.tolerance)
               : solverText(command_))
       << ", at most " << command_.max_iterations << " iterations, "
       << (command_.single_precision ? "float" : "double");
  if (command_.repeat > 1)
    out_ << ", fastest of " << command_.repeat;
  if (command_.cpu_clock)
    out_ << ", times of the processor";
  out_ << "\n\n";
  if (!command_.recommend) // the rows come when the race is over, in their order
    printTitles();
}

void Table::printTitles() {
  if (command_.quiet)
    return;
  out_ << layout_->line(command_.recommend ? "configuration" : "precond", [](const Column& column) {
    return column.title;
  }) << std::flush;
}

void Table::printRow(const RunRecord& record) {
  if (!command_.quiet)
    out_ << layout_->line(record.precond, [&](const Column& column) { return column.cell(record); })
         << std::flush;
}

void Table::printFooter(const std::vector<RunRecord>& records) {
  if (command_.quiet)
    return;
  std::string text;
  for (const RunRecord& record : records) {
    const auto add = [&](const std::string& remark) {
      if (!remark.empty())
        text += record.precond + ": " + remark + "\n";
    };
    add(record.allNotes());
    if (record.breakdowns > 0)
      add(message(record.breakdowns, " pivots shifted or replaced"));
    if (record.status != toString(SolveStatus::MaxIterations)) // the row says all
      add(record.message);
  }
  const size_t best = bestRun(records);
  if (best == records.size() || !records[best].converged)
    text += "No run converged.\n";
  else if (records.size() > 1)
    text += "Fastest in total: " + records[best].precond + ", " +
            seconds(records[best].totalSeconds()) + " s.\n";
  out_ << (text.empty() ? "" : "\n") << text << std::flush;
}

std::string toJson(const RunRecord& record, const CommandLine& command, const LinearSystem& system,
                   const Environment& environment) {
  using Json = nlohmann::ordered_json;
  const auto addGuess = [&](Json& json, const RightHandSide& column) {
    if (command.guess_file.empty())
      return;
    json["guess_rel_residual"] = column.guess_residual;
    json["guess_scaled_rel_residual"] =
        command.isScaled() ? column.scaled_guess_residual : not_measured;
  };
  Json phases = Json::object();
  for (const PhaseTimes::Phase& phase : record.setup_phases)
    phases[phase.first] = phase.second;

  Json run;
  run["problem"] = command.problemName();
  run["rows"] = system.matrix.numPointRows();
  run["nnz"] = system.matrix.numScalars();
  run["block_size"] = record.block_size > 0 ? record.block_size : system.matrix.block_size;
  run["scale"] = command.scale;
  run["match"] = command.match;
  run["reorder"] = command.reorder;
  run["reorder_seconds"] = system.reorder_seconds;
  run["library"] = record.library;
  run["precond"] = record.precond;
  run["allow_varying"] = command.allow_varying;
  run["precision"] = command.single_precision ? "float" : "double";
  run["basis"] = command.float_basis ? "float" : "double";
  run["repeat"] = command.repeat;
  if (command.reductions != "usual")
    run["reductions"] = command.reductions;
  if (command.reorthogonalize != "default")
    run["reorthogonalize"] = command.reorthogonalize;
  run["clock"] = command.cpu_clock ? "cpu" : "wall";
  run["setup_seconds"] = phases;
  run["setup_total_seconds"] = record.setup_seconds;
  run["first_setup_seconds"] = record.first_setup_seconds;
  run["recompute_seconds"] = record.recompute_seconds;
  run["factor_entries"] = record.factor_entries;
  run["factor_bytes"] = record.factor_bytes;
  run["peak_bytes"] = record.peak_bytes;
  run["breakdowns"] = record.breakdowns;
  run["iterations"] = record.iterations;
  run["status"] = record.status;
  run["message"] = record.message;
  run["notes"] = record.allNotes();
  run["rel_residual"] = record.rel_residual;
  run["scaled_rel_residual"] = record.scaled_rel_residual;
  if (!command.guess_file.empty())
    run["guess"] = command.guess_file;
  if (record.columns.empty())
    addGuess(run, system);
  for (size_t c = 0; c < record.columns.size(); ++c) {
    const RunRecord& column = record.columns[c];
    Json one;
    one["iterations"] = column.iterations;
    one["status"] = column.status;
    one["message"] = column.message;
    one["rel_residual"] = column.rel_residual;
    one["scaled_rel_residual"] = column.scaled_rel_residual;
    addGuess(one, system.column(static_cast<int>(c)));
    if (command.json_history)
      one["history"] = column.history;
    run["columns"].push_back(one);
  }
  run["decisive_residual"] = command.decides_scaled ? "scaled" : "original";
  if (command.json_history)
    run["history"] = record.history;
  if (command.json_history && command.recommend)
    run["history_seconds"] = record.history_seconds;
  run["solve_seconds"] = record.solve_seconds;
  run["apply30_seconds"] = record.apply30_seconds;
  run["total_seconds"] = record.totalSeconds();
  if (command.recommend) {
    run["race_began_seconds"] = record.race_began;
    run["race_ended_seconds"] = record.race_ended;
  }
  addSetting(run, command, environment);
  // A path need not be UTF-8.
  return run.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string historyToCsv(const std::vector<RunRecord>& records) {
  std::string text = "precond,iteration,rel_residual\n";
  for (const RunRecord& record : records)
    for (size_t i = 0; i < record.history.size(); ++i)
      text += "\"" + record.precond + "\"," + std::to_string(i) + "," +
              formatted("%.17g", record.history[i]) + "\n";
  return text;
}

} // namespace perf
} // namespace ainvil
