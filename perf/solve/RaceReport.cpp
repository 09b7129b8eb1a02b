// SPDX-License-Identifier: BSD-3-Clause
#include "solve/RaceReport.hpp"

#include "solve/SolveReport.hpp"

#include "Ainvil_Error.hpp"
#include "parameters/Ainvil_SpecificationText.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace ainvil {
namespace perf {
namespace {

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  return text;
}

/// As a shell takes it for one word.
std::string word(const std::string& text) {
  const auto isPlain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_./:,=+@%").find(c) != std::string::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain))
    return text;
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string commandText(const CommandLine& command, const Configuration& entry, int block_size) {
  std::string text = "ainvil-solve";
  const auto add = [&](const char* option, const std::string& value) {
    text += std::string(" ") + option + " " + word(value);
  };
  if (command.matrix.empty())
    add("--problem", command.problem);
  else
    add("--matrix", command.matrix);
  if (!command.rhs_text.empty())
    add("--rhs", command.rhs_text);
  if (command.block_size > 0 || entry.block_size != block_size)
    add("--block-size", message(entry.block_size));
  if (command.scale != "none")
    add("--scale", command.scale);
  if (command.match != "none")
    add("--match", command.match);
  if (command.decides_scaled)
    add("--residual", "scaled");
  if (command.reorder != "none")
    add("--reorder", command.reorder);
  if (command.on_host)
    add("--exec", "host");
  if (command.single_precision)
    add("--precision", "float");
  add("--tol", message(command.tolerance));
  add("--max-iters", message(command.max_iterations));
  add("--solver", entry.solver);
  if (entry.solver == "gmres")
    add("--restart", message(entry.restart));
  add("--precond", entry.precond);
  return text;
}

std::string trilinosText(const CommandLine& command, const Configuration& entry) {
  std::string name = entry.precond;
  // Over all ranks FSAI stores double, on points, and races no degrees.
  const ainvil::detail::SpecificationText specification(name);
  if (specification.method() == "fsai" && (entry.block_size > 1 || specification.has("storage") ||
                                           specification.value("poly") == "auto"))
    name = "local-" + name;
  std::string solver = entry.solver;
  std::transform(solver.begin(), solver.end(), solver.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = message("m = ainvil::tpetra::create(\"", name, "\", matrix);");
  if (entry.block_size > 1)
    text += message(" list.set(\"block: size\", ", entry.block_size, "); m->setParameters(list);");
  text += message(" Belos: \"AINVIL ", solver, "\"");
  if (entry.solver == "gmres")
    text += message(", \"Num Blocks\" ", entry.restart);
  return text + message(", \"Convergence Tolerance\" ", command.tolerance,
                        ", \"Maximum Iterations\" ", command.max_iterations,
                        ", \"Implicit Residual Scaling\" \"Norm of RHS\"");
}

std::string petscText(const CommandLine& command, const Configuration& entry) {
  std::string text = "-dll_prepend libainvil_petsc.so -ksp_type ";
  if (entry.solver == "gmres")
    text += message("gmres -ksp_gmres_restart ", entry.restart, " -ksp_pc_side right");
  else if (entry.solver == "bicgstab")
    text += "bcgs -ksp_pc_side right";
  else
    text += "cg -ksp_norm_type unpreconditioned";
  text += message(" -ksp_rtol ", command.tolerance, " -ksp_max_it ", command.max_iterations,
                  " -pc_type ainvil -pc_ainvil_spec ", word(entry.precond));
  if (entry.block_size > 1)
    text += message(" -pc_ainvil_block_size ", entry.block_size);
  return text;
}

std::string cppText(const CommandLine& command, const Configuration& entry) {
  const bool in_blocks = entry.block_size > 1;
  const std::string name = in_blocks ? message("a_", entry.block_size) : "a";
  return (in_blocks ? message(name, " = ainvil::toBlocks(exec, a, ", entry.block_size, "); ")
                    : std::string()) +
         message("m = ainvil::createPreconditioner(\"", entry.precond, "\", ", name,
                 "); options.tolerance = ", command.tolerance,
                 "; options.max_iterations = ", command.max_iterations, "; ") +
         (entry.solver == "gmres" ? message("options.restart = ", entry.restart, "; ")
                                  : std::string()) +
         message("ainvil::solve(\"", entry.solver, "\", ", name, ", m.get(), b, x, options);");
}

/// Those that converged by their time, the others by their residual.
std::vector<size_t> ranking(const std::vector<RunRecord>& records) {
  std::vector<size_t> order(records.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const RunRecord &a = records[i], &b = records[j];
    if (a.converged != b.converged)
      return a.converged;
    if (a.converged)
      return a.totalSeconds() < b.totalSeconds();
    const auto key = [](const RunRecord& r) {
      return std::isfinite(r.rel_residual) ? r.rel_residual : 1e300;
    };
    return key(a) < key(b);
  });
  return order;
}

/// "configuration: reason", those of a reason together.
void printNotTried(std::ostream& out, const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const std::string& line : lines) {
    const size_t colon = line.find(": ");
    const std::string name = line.substr(0, colon), reason = line.substr(colon + 2);
    const auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                    [&](const auto& pair) { return pair.first == reason; });
    if (known == by_reason.end())
      by_reason.emplace_back(reason, name);
    else
      known->second += "; " + name;
  }
  for (const auto& [reason, names] : by_reason)
    out << "Not tried: " << names << " (" << reason << ")\n";
}

} // namespace

RunRecord recordOf(const RaceEntry& entry) {
  RunRecord record;
  record.precond = entry.precond;
  record.solver = entry.solver;
  record.block_size = entry.block_size;
  record.converged = entry.converged();
  record.status = entry.status;
  record.message = entry.reason;
  record.iterations = entry.iterations;
  record.setup_phases = entry.phases.phases();
  if (entry.setupSeconds() > 0 || !entry.course.empty() || entry.converged())
    record.setup_seconds = record.first_setup_seconds = entry.setupSeconds();
  if (!entry.course.empty())
    record.solve_seconds = entry.solve_seconds;
  record.factor_entries = entry.factor_entries;
  record.factor_bytes = entry.factor_bytes;
  record.breakdowns = entry.breakdowns;
  record.notes = entry.notes;
  record.race_began = entry.began;
  record.race_ended = entry.ended;
  for (const auto& [seconds, residual] : entry.course) {
    record.history.push_back(residual);
    record.history_seconds.push_back(seconds);
  }
  return record;
}

CommandLine commandOf(const CommandLine& command, const Configuration& entry) {
  CommandLine result = command;
  result.solver = entry.solver;
  result.restart = entry.restart;
  return result;
}

std::string progressText(const RaceState& state, int block_size) {
  std::string text = message("race ", rounded(state.seconds), " s");
  if (state.leader != nullptr)
    text += message(", leads ", state.leader->text(block_size),
                    std::isfinite(state.leader_seconds)
                        ? message(state.leader->converged() ? " with " : " with about ",
                                  rounded(state.leader_seconds), " s")
                        : std::string());
  if (state.running != nullptr && state.running != state.leader)
    text += "; runs " + state.running->text(block_size);
  return text;
}

std::vector<std::string> reproduction(const CommandLine& command, const Configuration& entry,
                                      int block_size) {
  return {commandText(command, entry, block_size), "C++       " + cppText(command, entry),
          "Trilinos  " + trilinosText(command, entry), "PETSc     " + petscText(command, entry)};
}

void printRace(std::ostream& out, const CommandLine& command, const Recommendation& found,
               const std::vector<RunRecord>& records, int block_size) {
  if (command.quiet)
    return;
  CommandLine titled = command;
  std::vector<RunRecord> rows = records;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].precond = found.race[i].text(block_size);
    titled.preconds.push_back(rows[i].precond);
  }
  titled.preconds.push_back("configuration");
  const std::vector<size_t> order = ranking(records);
  if (!rows.empty()) {
    Table table(out, titled);
    table.printTitles();
    for (const size_t i : order)
      table.printRow(rows[i]);
    out << "\n";
  }
  for (const size_t i : order)
    if (!rows[i].message.empty())
      out << rows[i].precond << ": " << rows[i].message << "\n";
  out << "\nSeen of the matrix:\n";
  for (const std::string& line : found.traits)
    out << "  " << line << "\n";
  printNotTried(out, found.not_tried);

  const size_t first = order.empty() ? 0 : order.front();
  if (order.empty() || !records[first].converged) {
    out << "No run converged.\n";
    for (const std::string& line : found.explanation)
      out << "  " << line << "\n";
    out << std::flush;
    return;
  }
  const RaceEntry& best = found.race[first];
  out << "\nFastest in total: " << best.text(block_size) << ", " << rounded(best.totalSeconds())
      << " s (set-up " << rounded(best.setupSeconds()) << " s), " << best.iterations
      << " iterations; the race took " << rounded(found.seconds) << " s. To have it again:\n";
  for (const std::string& line : reproduction(command, best, block_size))
    out << "  " << line << "\n";
  if (command.isScaled() || command.reorder != "none")
    out << "  (C++, Trilinos and PETSc: of the system as --scale, --match and --reorder make it)\n";
  const auto suggest = [&](int which, const char* where, double value, const char* unit) {
    if (which >= 0)
      out << where << found.race[which].text(block_size) << ", " << rounded(value) << unit << "\n";
  };
  const auto entry = [&](int which) { return which >= 0 ? found.race[which] : RaceEntry(); };
  suggest(found.smallest,
          "If memory is short: ", double(entry(found.smallest).factor_bytes) / (1 << 20),
          " MiB of factors");
  suggest(found.for_many_rhs,
          "If many right-hand sides follow: ", entry(found.for_many_rhs).solve_seconds, " s each");
  suggest(found.for_many_values, "If many matrices of this pattern follow: ",
          entry(found.for_many_values).compute_seconds + entry(found.for_many_values).solve_seconds,
          " s each");
  out << std::flush;
}

} // namespace perf
} // namespace ainvil
