// SPDX-License-Identifier: BSD-3-Clause
/// What the programs make of their arguments and of the environment.
#include "Refusal.hpp"
#include "program/CommandLineOptions.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/SolveCommandLine.hpp"
#include "solve/SolveRun.hpp"
#include "studies/StudyOptions.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

using test::refusal;

using Words = std::vector<std::string>;

CommandLine parsed(Words options, Program program = Program::Solve) {
  options.insert(options.end(), {"--problem", "poisson5:3"});
  return parseCommandLine(options, program);
}

TEST(CommandLine, WithoutOptionsIsAsTheHelpSays) {
  for (const Program program : {Program::Solve, Program::SolveMpi, Program::Peers}) {
    const CommandLine command = parsed({}, program);
    EXPECT_EQ(command.program, program);
    EXPECT_EQ(command.help, "");
    EXPECT_EQ(command.problemName(), "poisson5:3");
    EXPECT_EQ(command.rhs, RhsKind::Default);
    EXPECT_EQ(command.rhs_seed, 1u);
    EXPECT_EQ(command.block_size, 0);
    EXPECT_EQ(command.scale, "none");
    EXPECT_EQ(command.reorder, "none");
    EXPECT_EQ(command.solver, "gmres");
    EXPECT_EQ(command.restart, 30);
    EXPECT_EQ(command.tolerance, 1e-8);
    EXPECT_EQ(command.max_iterations, 5000);
    EXPECT_EQ(command.repeat, 1);
    EXPECT_EQ(command.overlap, 0);
    EXPECT_EQ(command.newton_tolerance, 1e-8);
    EXPECT_EQ(command.newton_steps, 20);
    EXPECT_EQ(command.json + command.history + command.solution + command.belos, "");
    EXPECT_FALSE(command.decides_scaled || command.allow_varying || command.float_basis ||
                 command.on_host || command.single_precision || command.by_metis ||
                 command.in_blocks || command.json_history || command.quiet || command.cpu_clock);
    const SolverOptions options = solverOptions(command);
    EXPECT_EQ(options.tolerance, 1e-8);
    EXPECT_EQ(options.max_iterations, 5000);
    EXPECT_EQ(options.restart, 30);
    EXPECT_EQ(options.basis, Storage::Native);
    EXPECT_FALSE(options.allow_varying);
  }
  EXPECT_STREQ(nameOf(Program::Solve), "ainvil-solve");
  EXPECT_STREQ(nameOf(Program::SolveMpi), "ainvil-solve-mpi");
  EXPECT_STREQ(nameOf(Program::Peers), "ainvil-peers");
}

TEST(CommandLine, EveryOptionArrives) {
  CommandLine command = parsed(
      {"--rhs",          "random:7", "--block-size", "3",      "--scale",     "norm",
       "--residual",     "scaled",   "--reorder",    "nd",     "--solver",    "fgmres",
       "--restart",      "11",       "--tol",        "1e-3",   "--max-iters", "12",
       "--precond",      "ilu",      "--precond",    "jacobi", "--repeat",    "4",
       "--exec",         "host",     "--basis",      "float",  "--json",      "j",
       "--history",      "h",        "--solution",   "s",      "--quiet",     "--json-history",
       "--allow-varying"});
  EXPECT_EQ(command.rhs, RhsKind::Random);
  EXPECT_EQ(command.rhs_seed, 7u);
  EXPECT_EQ(command.block_size, 3);
  EXPECT_EQ(command.scale, "norm");
  EXPECT_TRUE(command.decides_scaled);
  EXPECT_EQ(command.reorder, "nd");
  EXPECT_EQ(command.solver, "fgmres");
  EXPECT_EQ(command.restart, 11);
  EXPECT_EQ(command.tolerance, 1e-3);
  EXPECT_EQ(command.max_iterations, 12);
  EXPECT_EQ(command.preconds, (Words{"ilu", "jacobi"}));
  EXPECT_EQ(command.repeat, 4);
  EXPECT_TRUE(command.on_host && command.float_basis && command.quiet && command.json_history &&
              command.allow_varying);
  EXPECT_FALSE(command.single_precision);
  EXPECT_EQ(command.json + command.history + command.solution, "jhs");
  const SolverOptions options = solverOptions(command);
  EXPECT_EQ(options.tolerance, 1e-3);
  EXPECT_EQ(options.max_iterations, 12);
  EXPECT_EQ(options.restart, 11);
  EXPECT_EQ(options.basis, Storage::Float);
  EXPECT_TRUE(options.allow_varying);

  EXPECT_TRUE(command.other_preconds.empty()); // of a choice of the user's own
  EXPECT_EQ(parsed({"--match", "product"}).match, "product");
  EXPECT_TRUE(parsed({"--match", "product"}).isScaled());
  EXPECT_EQ(parsed({}).other_preconds.size(), 5u);
  EXPECT_NE(parsed({}).small_precond, "");
  EXPECT_TRUE(parsed({"--solver", "cg"}).other_preconds.empty());
  EXPECT_EQ(parsed({"--solver", "cg"}).small_precond, "");
  command = parsed({"--precision", "float"});
  EXPECT_TRUE(command.single_precision && command.float_basis);
  command = parsed({"--partition", "metis", "--format", "blocks", "--belos", "X", "--newton-tol",
                    "1e-4", "--newton-steps", "5"},
                   Program::SolveMpi);
  EXPECT_TRUE(command.by_metis && command.in_blocks);
  EXPECT_EQ(command.belos, "X");
  EXPECT_TRUE(command.by_belos);
  EXPECT_FALSE(parsed({}, Program::SolveMpi).by_belos);
  EXPECT_FALSE(parsed({"--krylov", "ainvil"}, Program::SolveMpi).by_belos);
  EXPECT_TRUE(parsed({"--krylov", "belos"}, Program::SolveMpi).by_belos);
  EXPECT_NE(refusal([&] {
              parsed({"--krylov", "ainvil", "--belos", "X"}, Program::SolveMpi);
            }).find("leave out --krylov ainvil"),
            std::string::npos);
  EXPECT_EQ(command.newton_tolerance, 1e-4);
  EXPECT_EQ(command.newton_steps, 5);
  EXPECT_EQ(parsed({"--overlap", "2"}, Program::SolveMpi).overlap, 2);
  EXPECT_TRUE(parsed({"--clock", "cpu"}, Program::Peers).cpu_clock);
  for (const auto& [word, kind] : {std::pair("ones", RhsKind::Ones),
                                   {"rowsum", RhsKind::RowSum},
                                   {"scaled-rowsum", RhsKind::ScaledRowSum},
                                   {"random", RhsKind::Random}})
    EXPECT_EQ(parsed({"--rhs", word}).rhs, kind) << word;
  EXPECT_EQ(parsed({"--rhs", "random:18446744073709551615"}).rhs_seed, ~std::uint64_t(0));
}

/// The smallest number that each option takes, and the next below, with the option that is named.
TEST(CommandLine, BoundsBelongToTheRange) {
  struct Bound {
    const char *option, *smallest, *below;
    Program program = Program::Solve;
  };
  const Program mpi = Program::SolveMpi;
  for (const Bound& b : {Bound{"--restart", "1", "0"},
                         {"--max-iters", "0", "-1"},
                         {"--repeat", "1", "0"},
                         {"--block-size", "1", "0"},
                         {"--tol", "0", "-1e-300"},
                         {"--tol", "1e300", "inf"},
                         {"--tol", "1", "nan"},
                         {"--overlap", "0", "-1", mpi},
                         {"--newton-steps", "1", "0", mpi},
                         {"--newton-tol", "0", "-1e-300", mpi},
                         {"--newton-tol", "1e300", "inf", mpi},
                         {"--newton-tol", "1", "nan", mpi}}) {
    EXPECT_EQ(refusal([&] { parsed({b.option, b.smallest}, b.program); }), "") << b.option;
    EXPECT_EQ(refusal([&] {
                parsed({b.option, b.below}, b.program);
              }).rfind(std::string(b.option) + " must be", 0),
              0u)
        << b.option;
  }
  EXPECT_NE(refusal([] { parsed({"--rhs", "random:18446744073709551616"}); }), "");
  EXPECT_NE(refusal([] { parsed({"--rhs", "random:"}); }), "");
  EXPECT_NE(refusal([] {
              parsed({"--overlap", "1", "--format", "blocks"}, Program::SolveMpi);
            }),
            "");
  EXPECT_EQ(refusal([] {
              parsed({"--overlap", "0", "--format", "blocks"}, Program::SolveMpi);
            }),
            "");
}

TEST(CommandLine, OptionsOfAnotherProgramAreRefused) {
  const Program solve = Program::Solve, mpi = Program::SolveMpi, peers = Program::Peers;
  const std::vector<std::pair<Words, std::vector<Program>>> takers = {
      {{"--allow-varying"}, {solve}},
      {{"--exec", "host"}, {solve}},
      {{"--precision", "float"}, {solve}},
      {{"--rhs", "random", "--rhs-count", "2"}, {solve, mpi}},
      {{"--time-limit", "2"}, {solve, mpi}},
      {{"--reductions", "fewest"}, {solve, mpi}},
      {{"--reductions", "pipelined"}, {solve, mpi}},
      {{"--reorthogonalize", "always"}, {solve, mpi}},
      {{"--history", "h"}, {solve}},
      {{"--json-history"}, {solve}},
      {{"--basis", "float"}, {solve, mpi, peers}},
      {{"--solution", "s"}, {solve, mpi}},
      {{"--partition", "rows"}, {mpi}},
      {{"--overlap", "1"}, {mpi}},
      {{"--format", "points"}, {mpi}},
      {{"--krylov", "belos"}, {mpi}},
      {{"--belos", "x"}, {mpi}},
      {{"--newton-tol", "1"}, {mpi}},
      {{"--newton-steps", "1"}, {mpi}},
      {{"--clock", "cpu"}, {solve, peers}},
      {{"--solver", "bicgstab"}, {solve, mpi}},
      {{"--recommend"}, {solve}}};
  for (const auto& [options, programs] : takers)
    for (const Program program : {solve, mpi, peers}) {
      const bool takes = std::find(programs.begin(), programs.end(), program) != programs.end();
      EXPECT_EQ(refusal([&, &words = options] { parsed(words, program); }) == "", takes)
          << options[0] << " of " << nameOf(program);
    }
}

TEST(CommandLine, WithoutPreconditionersThereAreSome) {
  for (const Program program : {Program::Solve, Program::SolveMpi, Program::Peers}) {
    const Words of_gmres = parsed({}, program).preconds;
    const Words of_cg = parsed({"--solver", "cg"}, program).preconds;
    EXPECT_GT(of_gmres.size(), 2u);
    EXPECT_GT(of_cg.size(), 2u);
    EXPECT_NE(of_gmres, of_cg);
    // The help lists them.
    const std::string help = parseCommandLine({"--help"}, program).help;
    for (const Words& words : {of_gmres, of_cg})
      for (const std::string& precond : words)
        EXPECT_NE(help.find("\n  " + precond + "\n"), std::string::npos) << precond;
  }
}

/// The last of them takes pivots below about 2e-5 of their row for zero, in either precision.
TEST(CommandLine, PivotTolerancesBelongToThePrecision) {
  const auto tolerance = [](const char* precision) {
    const std::string last = parsed({"--precision", precision}).other_preconds.back();
    const std::string key = "pivot-tol=";
    const size_t at = last.find(key);
    return at == std::string::npos ? 0 : std::stod(last.substr(at + key.size()));
  };
  EXPECT_NEAR(tolerance("double") * std::numeric_limits<double>::epsilon(), 2e-5, 5e-6);
  EXPECT_NEAR(tolerance("float") * std::numeric_limits<float>::epsilon(), 2e-5, 5e-6);
}

TEST(StudyOptions, SystemsAreProblemsThenMatrices) {
  StudyOptions options;
  options.problems = {"a", "b"};
  options.matrices = {"c"};
  EXPECT_EQ(options.numSystems(), 3u);
  EXPECT_EQ(options.system(0).problem, "a");
  EXPECT_EQ(options.system(1).problem, "b");
  EXPECT_EQ(options.system(2).matrix, "c");
  EXPECT_EQ(options.system(2).problemName(), "c");
  EXPECT_EQ(options.system(0).matrix + options.system(2).problem, "");
}

TEST(StudyOptions, AreParsed) {
  const auto parsedStudy = [](Words words) {
    CLI::App app("about", "program");
    StudyOptions options;
    addStudyOptions(app, options, "where", {"default", "host"});
    Studies studies(app, options);
    studies.add("one", "the first");
    studies.add("two", "the second");
    parseStudy(app, options, words, {"poisson5:4"});
    return options;
  };
  StudyOptions options = parsedStudy({"two"});
  EXPECT_EQ(options.program, "program");
  EXPECT_EQ(options.study, "two");
  EXPECT_EQ(options.problems, Words{"poisson5:4"});
  EXPECT_EQ(options.repeat, 5);
  EXPECT_EQ(options.exec, "default");
  options = parsedStudy({"--exec", "host", "one", "--matrix", "m", "--repeat", "1", "--csv", "-"});
  EXPECT_EQ(options.study, "one");
  EXPECT_TRUE(options.problems.empty());
  EXPECT_EQ(options.matrices, Words{"m"});
  EXPECT_EQ(options.repeat, 1);
  EXPECT_EQ(options.exec, "host");
  EXPECT_EQ(options.csv, "-");
  EXPECT_NE(parsedStudy({"--help"}).help.find("\n  poisson5:4\n"), std::string::npos);
  for (const auto& [words, says] : std::vector<std::pair<Words, const char*>>{
           {{}, "one of the subcommands one, two"},
           {{"one", "--repeat", "0"}, "--repeat must be at least 1, but it is 0"},
           {{"one", "--csv", "-", "--json", "-"}, "name the same file '-'"},
           {{"one", "--csv", "f", "--json", "./f"}, "name the same file 'f'"},
           {{"one", "--matrix", "m", "--csv", "m"}, "--csv would overwrite the input file 'm'"},
           {{"one", "--matrix", "m", "--json", "./m"}, "--json would overwrite"}})
    EXPECT_NE(refusal([&, &w = words] { parsedStudy(w); }).find(says), std::string::npos)
        << refusal([&, &w = words] { parsedStudy(w); });
}

TEST(Arguments, AreSortedAndSentencesHaveOneLine) {
  Words words = {"program", "--a", "--kokkos-threads=2", "b", "--kokkos", "--kokkos-"};
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  const Arguments arguments = sorted(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(arguments.own, (Words{"--a", "b", "--kokkos"}));
  EXPECT_EQ(arguments.kokkos, (Words{"--kokkos-threads=2", "--kokkos-"}));
  EXPECT_EQ(oneLine("a\nb\n"), "a b ");
}

/// Sets an environment variable, or takes it away, while it lives.
class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name))
      old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

private:
  void set(const char* value) {
    if (value != nullptr)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
};

/// Kokkos has room for 512 threads.
TEST(Threads, AreRefusedWhereKokkosHasNoRoom) {
  const auto refused = [](const Words& kokkos) {
    return refusal([&] { checkKokkosThreads({{}, kokkos}); });
  };
  const Variable none("KOKKOS_NUM_THREADS", nullptr), few("OMP_NUM_THREADS", "2");
  EXPECT_EQ(refused({}), "");
  for (const std::string option : {"--kokkos-threads", "--kokkos-num-threads"}) {
    for (const char* number : {"1", "2", "512"})
      EXPECT_EQ(refused({option + "=" + number}), "");
    for (const char* number : {"0", "513", "-1", "x", ""})
      EXPECT_EQ(refused({option + "=" + number})
                    .find(option + " must be a number of threads from 1 to 512"),
                0u);
  }
  {
    const Variable most("KOKKOS_NUM_THREADS", "512");
    EXPECT_EQ(refused({}), "");
    EXPECT_NE(refused({"--kokkos-threads=513"}), "");
  }
  {
    const Variable many("KOKKOS_NUM_THREADS", "513");
    EXPECT_EQ(refused({}).find("KOKKOS_NUM_THREADS must be"), 0u);
  }
  if (std::string(Kokkos::DefaultHostExecutionSpace::name()) != "OpenMP")
    return;
  for (const char* number : {"512", "512,9999"}) {
    const Variable threads("OMP_NUM_THREADS", number);
    EXPECT_EQ(refused({}), "") << number;
  }
  const Variable threads("OMP_NUM_THREADS", "513");
  EXPECT_EQ(refused({}).find("OpenMP would start 513 threads"), 0u);
  EXPECT_EQ(refused({"--kokkos-threads=2"}), ""); // told otherwise
  const Variable told("KOKKOS_NUM_THREADS", "2");
  EXPECT_EQ(refused({}), "");
}

} // namespace
} // namespace perf
} // namespace ainvil
