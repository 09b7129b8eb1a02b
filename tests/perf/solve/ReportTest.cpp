// SPDX-License-Identifier: BSD-3-Clause
/// What the programs write: every figure of a record, in its place and its unit.
#include "solve/SolveReport.hpp"
#include "studies/StudyResults.hpp"

#include "Ainvil_BuildInfo.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

using Json = nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();

const Environment environment = {"Space", "Processor", 7};

/// 16 points in blocks of 3, scaled and reordered.
LinearSystem cavity(CommandLine& command) {
  command.problem = "cavity:4";
  command.scale = "norm";
  command.reorder = "rcm";
  LinearSystem system = makeSystem(command);
  system.reorder_seconds = 0.25;
  return system;
}

/// Another number in every field.
RunRecord record() {
  RunRecord r;
  r.precond = "ilu";
  r.library = "Library 1.2";
  r.setup_phases = {{"symbolic", 0.5}, {"numeric", 0.75}};
  r.setup_seconds = 1.25;
  r.first_setup_seconds = 1.5;
  r.recompute_seconds = 0.875;
  r.apply30_seconds = 0.375;
  r.solve_seconds = 11;
  r.factor_entries = 101;
  r.factor_bytes = 808;
  r.breakdowns = 3;
  r.peak_bytes = 5 << 19; // 2.5 MiB
  r.notes = "a note";
  r.converged = false;
  r.status = "stagnated";
  r.message = "a message";
  r.iterations = 42;
  r.rel_residual = 1.5e-7;
  r.scaled_rel_residual = 2.5e-9;
  r.history = {1, 0.1, 1.5e-7};
  return r;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(SolveReport, JsonHasEveryFigureOfARun) {
  CommandLine command;
  const LinearSystem system = cavity(command);
  command.tolerance = 1e-5;
  command.restart = 17;
  command.repeat = 4;
  command.solver = "fgmres";
  command.allow_varying = command.float_basis = command.json_history = command.cpu_clock = true;
  command.decides_scaled = true;
  const Json run = Json::parse(toJson(record(), command, system, environment));
  const Json expected = {{"problem", "cavity:4"},
                         {"rows", 48},
                         {"nnz", (16 + 4 * 12) * 9},
                         {"block_size", 3},
                         {"scale", "norm"},
                         {"match", "none"},
                         {"reorder", "rcm"},
                         {"reorder_seconds", 0.25},
                         {"library", "Library 1.2"},
                         {"precond", "ilu"},
                         {"allow_varying", true},
                         {"precision", "double"},
                         {"basis", "float"},
                         {"repeat", 4},
                         {"clock", "cpu"},
                         {"setup_seconds", {{"symbolic", 0.5}, {"numeric", 0.75}}},
                         {"setup_total_seconds", 1.25},
                         {"first_setup_seconds", 1.5},
                         {"recompute_seconds", 0.875},
                         {"factor_entries", 101},
                         {"factor_bytes", 808},
                         {"peak_bytes", 5 << 19},
                         {"breakdowns", 3},
                         {"iterations", 42},
                         {"status", "stagnated"},
                         {"message", "a message"},
                         {"notes", "a note"},
                         {"rel_residual", 1.5e-7},
                         {"scaled_rel_residual", 2.5e-9},
                         {"decisive_residual", "scaled"},
                         {"history", {1, 0.1, 1.5e-7}},
                         {"solve_seconds", 11},
                         {"apply30_seconds", 0.375},
                         {"total_seconds", 12.25},
                         {"solver", "fgmres"},
                         {"restart", 17},
                         {"tolerance", 1e-5},
                         {"exec_space", "Space"},
                         {"device", "Processor"},
                         {"threads", 7},
                         {"ranks", 1},
                         {"kokkos_version", compat::kokkosVersion()},
                         {"git", build_info::git}};
  EXPECT_EQ(run, expected) << Json::diff(expected, run).dump(1);

  const Json other = Json::parse(toJson(RunRecord(), CommandLine(), system, environment));
  EXPECT_EQ(other.count("history"), 0u);
  for (const char* key :
       {"setup_total_seconds", "first_setup_seconds", "recompute_seconds", "solve_seconds",
        "apply30_seconds", "total_seconds", "rel_residual", "scaled_rel_residual"})
    EXPECT_TRUE(other[key].is_null()) << key;
  EXPECT_EQ(other["precision"], "double");
  EXPECT_EQ(other["basis"], "double");
  EXPECT_EQ(other["clock"], "wall");
  EXPECT_EQ(other["decisive_residual"], "original");
  EXPECT_EQ(other["library"], "Ainvil");
}

TEST(SolveReport, JsonOfRanksHasTheirSetting) {
  CommandLine command;
  command.program = Program::SolveMpi;
  Environment of_ranks = environment;
  of_ranks.ranks = 6;
  Json run = Json::object();
  const auto setting = [&] {
    nlohmann::ordered_json ordered;
    addSetting(ordered, command, of_ranks);
    return Json::parse(ordered.dump());
  };
  run = setting();
  EXPECT_EQ(run["ranks"], 6);
  EXPECT_EQ(run["partition"], "rows");
  EXPECT_EQ(run["format"], "points");
  EXPECT_EQ(run["overlap"], 0);
  EXPECT_EQ(run["krylov"], "ainvil");
  EXPECT_EQ(run.count("belos"), 0u);
  command.by_metis = command.in_blocks = true;
  command.overlap = 2;
  command.by_belos = true;
  EXPECT_EQ(setting()["krylov"], "belos");
  command.belos = "TPETRA CG";
  run = setting();
  EXPECT_EQ(run["partition"], "metis");
  EXPECT_EQ(run["format"], "blocks");
  EXPECT_EQ(run["overlap"], 2);
  EXPECT_EQ(run["belos"], "TPETRA CG");
}

TEST(SolveReport, TableHasTheFiguresOfARun) {
  CommandLine command;
  const LinearSystem system = cavity(command);
  command.preconds = {"ilu"};
  command.tolerance = 1e-5;
  command.max_iterations = 77;
  std::ostringstream out;
  Table table(out, command);
  table.printHeader(system, environment);
  const std::string machine =
      std::string("Space on Processor, 7 host threads, Kokkos ") + compat::kokkosVersion();
  EXPECT_EQ(out.str(),
            "problem   cavity:4: 48 rows, 576 entries in 64 blocks of size 3, scaled (norm)\n"
            "reorder   rcm, 0.25000 s\n"
            "machine   " +
                machine +
                "\n"
                "solver    gmres(30), tolerance 1e-05, at most 77 iterations, double\n"
                "\n"
                "precond  setup s  apply30 s   iters          status  residual  of S A S  solve s  "
                "total s      MiB\n");
  out.str("");
  RunRecord r = record();
  table.printRow(r);
  EXPECT_EQ(words(out.str()),
            (std::vector<std::string>{"ilu", "1.25000", "0.37500", "42", "stagnated", "1.50e-07",
                                      "2.50e-09", "11.000", "12.250", "2.5"}));
  out.str("");
  table.printRow(RunRecord());
  EXPECT_EQ(words(out.str()), std::vector<std::string>(8, "-")); // no status
  // Where the digits change.
  const std::vector<std::pair<double, const char*>> times = {
      {9.99, "9.99000"}, {10, "10.000"}, {999.5, "999.500"}, {1000, "1000"}};
  for (const auto& [seconds, text] : times) {
    out.str("");
    r.setup_seconds = seconds;
    table.printRow(r);
    EXPECT_EQ(words(out.str())[1], text);
  }
  const std::vector<std::pair<Offset, const char*>> sizes = {
      {1 << 20, "1.0"}, {(100 << 20) - (1 << 19), "99.5"}, {100 << 20, "100"}};
  for (const auto& [bytes, text] : sizes) {
    out.str("");
    r.peak_bytes = bytes;
    table.printRow(r);
    EXPECT_EQ(words(out.str()).back(), text);
  }
}

TEST(SolveReport, HeaderTellsTheSettingsThatAreNotUsual) {
  CommandLine command;
  command.problem = "poisson5:3";
  const LinearSystem system = makeSystem(command);
  const auto header = [&] {
    std::ostringstream out;
    Table(out, command).printHeader(system, environment);
    return out.str();
  };
  EXPECT_EQ(header().find("problem   poisson5:3: 9 rows, 33 entries\nmachine "), 0u) << header();
  command.single_precision = command.float_basis = command.cpu_clock = true;
  command.repeat = 2;
  EXPECT_NE(header().find("gmres(30), basis in float, tolerance 1e-08, at most 5000 iterations, "
                          "float, fastest of 2, times of the processor\n"),
            std::string::npos)
      << header();
  command.solver = "cg";
  EXPECT_NE(header().find("solver    cg, tolerance"), std::string::npos) << header();
  command.by_belos = true;
  EXPECT_EQ(solverText(command), "cg of Belos, tolerance 1e-08");
  command.belos = "BELOS CG";
  EXPECT_EQ(solverText(command), "BELOS CG of Belos, tolerance 1e-08");
  Environment of_ranks = environment;
  of_ranks.ranks = 3;
  EXPECT_EQ(machineText(of_ranks).find("3 ranks, each Space on Processor, 7 host threads"), 0u);
  command.quiet = true;
  EXPECT_EQ(header(), "");
}

TEST(SolveReport, FooterNamesTheFastestOfSeveral) {
  CommandLine command;
  std::ostringstream out;
  Table table(out, command);
  const auto footer = [&](const std::vector<RunRecord>& records) {
    out.str("");
    table.printFooter(records);
    return out.str();
  };
  RunRecord slow, fast, failed = record();
  slow.precond = "slow";
  fast.precond = "fast";
  for (RunRecord* r : {&slow, &fast}) {
    r->converged = true;
    r->status = "converged";
    r->rel_residual = 1e-9;
    r->setup_seconds = 1;
  }
  slow.solve_seconds = 3;
  fast.solve_seconds = 2;
  EXPECT_EQ(footer({slow}), "");
  EXPECT_EQ(footer({slow, fast}), "\nFastest in total: fast, 3.00000 s.\n");
  const std::string remarks = "\nilu: a note\nilu: 3 pivots shifted or replaced\nilu: a message\n";
  EXPECT_EQ(footer({failed}), remarks + "No run converged.\n");
  EXPECT_EQ(footer({failed, slow}), remarks + "Fastest in total: slow, 4.00000 s.\n");
  failed.notes.clear();
  failed.breakdowns = 1;
  failed.status = "max_iterations"; // the row says all
  EXPECT_EQ(footer({failed}), "\nilu: 1 pivots shifted or replaced\nNo run converged.\n");
}

TEST(SolveReport, BestRunIsTheOneAUserWouldChoose) {
  const auto run = [](bool converged, double seconds, double residual) {
    RunRecord r;
    r.converged = converged;
    r.setup_seconds = seconds;
    r.solve_seconds = 0;
    r.rel_residual = residual;
    return r;
  };
  EXPECT_EQ(bestRun({}), 0u);
  EXPECT_EQ(bestRun({run(false, 1, not_measured), run(false, 1, infinity)}), 2u);
  EXPECT_EQ(bestRun({run(false, 1, infinity), run(false, 1, 9)}), 1u);
  EXPECT_EQ(bestRun({run(false, 1, 1e-3), run(false, 9, 1e-4), run(false, 1, 1e-2)}), 1u);
  EXPECT_EQ(bestRun({run(false, 1, 1e-9), run(true, 9, 1e-8), run(true, 8, 1e-7)}), 2u);
  EXPECT_EQ(bestRun({run(true, 1, 1e-8), run(true, 1, 1e-8)}), 0u); // the first of equals
}

TEST(SolveReport, HistoryHasAllDigits) {
  RunRecord one, other;
  one.precond = "ilu:level=1,solve=isai";
  one.history = {1, 1.0 / 3};
  other.precond = "none";
  other.history = {0.5};
  EXPECT_EQ(historyToCsv({one, other}), "precond,iteration,rel_residual\n"
                                        "\"ilu:level=1,solve=isai\",0,1\n"
                                        "\"ilu:level=1,solve=isai\",1,0.33333333333333331\n"
                                        "\"none\",0,0.5\n");
}

class StudyReport : public ::testing::Test {
protected:
  StudyReport() {
    options_.program = "program";
    options_.study = "study";
    CommandLine command;
    command.problem = "cavity:3";
    system_ = makeNamedSystem(command);
  }

  StudyOptions options_;
  NamedSystem system_;
  std::ostringstream out_;
};

TEST_F(StudyReport, RowsAreTheSameAsTableCsvAndJson) {
  Results results(out_, options_,
                  {{"method", "method", -8},
                   milliseconds("time_seconds", "ms"),
                   microseconds("short_seconds", "us"),
                   {"count", "count", 5},
                   {"hidden", ""}});
  results.start(system_, environment);
  results.add({std::string("a,\"b\""), 0.0125, 2.5e-6, Offset(12345678901), 0.5});
  results.add({std::string("c\nd"), not_measured, infinity, Offset(0), 1.0 / 3});
  results.start(system_, environment);
  const std::string machine =
      std::string("Space on Processor, 7 host threads, Kokkos ") + compat::kokkosVersion() + "\n";
  const std::string head = "\ncavity:3: 27 rows, 297 entries in blocks of size 3\n"
                           "method           ms         us  count\n";
  EXPECT_EQ(out_.str(), machine + head +
                            "a,\"b\"          12.5        2.5  12345678901\n"
                            "c\nd               -        inf      0\n" +
                            head);
  const std::string begin = "cavity:3,none,27,297,3,", end = std::string(",Space,Processor,7,") +
                                                             compat::kokkosVersion() + "," +
                                                             build_info::git + "\n";
  EXPECT_EQ(results.csv(),
            "problem,reorder,rows,entries,block_size,method,time_seconds,short_seconds,count,"
            "hidden,exec_space,device,threads,kokkos_version,git\n" +
                begin + "\"a,\"\"b\"\"\",0.0125,2.5e-06,12345678901,0.5" + end + begin +
                "\"c\nd\",,inf,0,0.333333333333" + end);
  std::istringstream lines(results.json());
  std::string line;
  std::getline(lines, line);
  const Json expected = {{"program", "program"},
                         {"study", "study"},
                         {"problem", "cavity:3"},
                         {"reorder", "none"},
                         {"rows", 27},
                         {"entries", 297},
                         {"block_size", 3},
                         {"method", "a,\"b\""},
                         {"time_seconds", 0.0125},
                         {"short_seconds", 2.5e-6},
                         {"count", 12345678901},
                         {"hidden", 0.5},
                         {"exec_space", "Space"},
                         {"device", "Processor"},
                         {"threads", 7},
                         {"kokkos_version", compat::kokkosVersion()},
                         {"git", build_info::git}};
  EXPECT_EQ(Json::parse(line), expected) << line;
  std::getline(lines, line);
  EXPECT_TRUE(Json::parse(line)["time_seconds"].is_null()) << line;
  EXPECT_EQ(Json::parse(line)["hidden"], 1.0 / 3);
}

TEST_F(StudyReport, AnotherMachineIsTold) {
  Results results(out_, options_, {{"count", "count"}});
  results.start(system_, environment);
  system_.reorder = "nd";
  results.start(system_, {"Other", "Processor", 7});
  const std::string text = out_.str();
  EXPECT_EQ(text.find("Space on Processor"), 0u) << text;
  EXPECT_NE(text.find("Other on Processor"), std::string::npos) << text;
  EXPECT_NE(text.find("in blocks of size 3, reordered (nd)\n"), std::string::npos) << text;
}

} // namespace
} // namespace perf
} // namespace ainvil
