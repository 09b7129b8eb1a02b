// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveCommandLine.hpp"

#include "Ainvil_BuildInfo.hpp"
#include "program/CommandLineOptions.hpp"
#include "solve/DefaultSets.hpp"
#include "solve/ParameterPage.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ainvil {
namespace perf {
namespace {

constexpr const char* description =
    "Solves A x = b with one or more preconditioners and compares them.\n"
    "Without --precond it compares a sensible set and says which was the fastest; with\n"
    "--recommend it finds the fastest solver and preconditioner of many itself.";
constexpr const char* mpi_description =
    "Solves A x = b on the ranks of an MPI job (mpirun -np 4 ainvil-solve-mpi ...) with the\n"
    "preconditioners of Ainvil on Tpetra's matrices and those of Ifpack2, and compares them.";

constexpr const char* peers_description =
    "Solves A x = b by Ainvil and by other libraries on the same cores: mpirun -np 2 --bind-to "
    "none\n"
    "ainvil-peers ... gives each of the others two ranks, and Ainvil two threads of the first.";

const std::vector<std::string> solvers = {"cg", "gmres", "fgmres", "bicgstab"};
const std::vector<std::string> peer_solvers = {"cg", "gmres"};

constexpr size_t help_column = 33;

/// Two columns, the second aligned.
std::string helpLine(const std::string& left, const std::string& right, size_t indent) {
  std::string line = std::string(indent, ' ') + left;
  line.resize(std::max(line.size() + 1, help_column), ' ');
  return line + right + "\n";
}

std::string peersHelp() {
  return "\nOther libraries, written LIBRARY:METHOD (this build has: " +
         std::string(*build_info::peers ? build_info::peers : "none") + "):\n" +
         helpLine("petsc:METHOD", "none, jacobi, ilu, icc, asm or gamg of each rank's rows, and/or",
                  2) +
         helpLine("", "options of PETSc: 'petsc:ilu -mat_type baij'", 2) +
         helpLine("hypre:METHOD", "parasails,levels=1,threshold=0.1,filter=0.1;", 2) +
         helpLine("", "fsai,steps=5,step-size=3,tolerance=0.001; ilu,level=0;", 2) +
         helpLine("", "boomeramg,strong=0.25; jacobi", 2) +
         helpLine("ifpack2:NAME,KEY=VALUE", "Ifpack2's names and parameters, and belos=NAME for a",
                  2) +
         helpLine("", "solver of Belos: 'ifpack2:RILUK,fact: iluk level-of-fill=1'", 2) +
         "All work on the rows of a rank but for parasails, fsai, boomeramg, gamg and jacobi.\n";
}

std::string footer(Program program) {
  const bool mpi = program == Program::SolveMpi;
  std::string text = "Problems of the gallery (a single N means N in every direction):\n";
  for (const GalleryEntry& entry : gallery())
    text += helpLine(entry.syntax, entry.description, 2);
  if (mpi)
    text += helpLine("cavity-newton:N", "the cavity by Newton's method: one table row a step", 2);
  text +=
      "\nPreconditioners, written METHOD or METHOD:KEY=VALUE,KEY=VALUE (first value: default):\n";
  const auto add = [&](const ParameterHelp& parameter) {
    text += helpLine(parameter.key + "=" + parameter.values(), parameter.meaning(), 4);
  };
  for (const MethodHelp& method : preconditionerHelp()) {
    text += helpLine(method.name, method.meaning, 2);
    for (const ParameterHelp& parameter : method.parameters)
      add(parameter);
  }
  text += helpLine("METHOD", "every one of them takes as well", 2);
  for (const ParameterHelp& parameter : commonParameterHelp())
    add(parameter);
  if (program != Program::Peers)
    text +=
        "\nTo compare with, where the program has cuSPARSE: cusparse-ilu, its block ILU(0) with "
        "exact\nsolves, and cusparse-ilu:policy=no-level, without the levels of its analysis.\n";
  if (program == Program::Solve)
    text += "In double and block size 1: kokkos-kernels-ilu, ILU(0) and exact solves of Kokkos "
            "Kernels,\nand kokkos-kernels-par-ilut:fill=0.75,steps=20, its threshold ILU (from 4 "
            "on).\n";
  if (mpi)
    text +=
        "\nEach works on the rows of a rank and their entries in columns of the rank (with those "
        "of\nother ranks that --overlap adds), but for fsai, which knows no ranks; local-fsai "
        "does.\npoly=d goes around either of them, with the matrix of all ranks; with --overlap it "
        "is of\nthe rows of a rank.\nAll other names are Ifpack2's, with its parameters: "
        "RILUK:fact: "
        "iluk level-of-fill=1\nmuelu, where Trilinos has it, is multigrid of MueLu with its "
        "parameters; a slash leads into\na sublist: muelu:smoother: type=AINVIL,smoother: "
        "params/Prec "
        "Type=ic\n";
  if (program == Program::Peers)
    text += peersHelp();
  for (const std::string solver : {"gmres", "cg"}) {
    text += "\nCompared without --precond, --solver " + solver;
    text += solver == "cg" || program == Program::Peers ? ":\n" : ", fgmres or bicgstab:\n";
    for (const std::string& precond : defaultsOf(program, solver))
      text += "  " + precond + "\n";
    if (program != Program::Peers && solver != "cg") {
      text += "and where the diagonal has zeros, or none of these converges:\n";
      for (const std::string& precond : otherPreconds(solver, false))
        text += "  " + precond + "\n";
      text += message("  ", nearly_complete, " (up to ", CommandLine::small_rows, " rows)\n");
    }
  }
  text += "\nColumns of the table, times in seconds of wall clock:\n"
          "  setup     initialize and compute of the preconditioner\n"
          "  apply30   30 applications of it, timed together after one more that is not\n"
          "  residual  ||b - A x|| / ||b|| of the system as given, recomputed in double on the "
          "host: a run\n"
          "            has converged if it is within --tol; with --scale or --match that of the "
          "scaled system beside it\n"
          "  total     setup + solve\n"
          "  MiB       most memory held during the run, system and solver included\n";
  if (mpi)
    text += "Times and memory are those of the slowest and largest rank.\n";
  text += "\nOptions --kokkos-... are passed on to Kokkos, --kokkos-help lists them.\n"
          "Exit codes: 0 all runs converged (of a race: one), 3 some did not, 2 bad input or an "
          "output that\n"
          "could not be written, 128 + n ended by signal n, 1 anything else.\n";
  return text;
}

void readRhs(const std::string& text, CommandLine& command) {
  const std::string random = "random";
  if (text == "ones") {
    command.rhs = RhsKind::Ones;
  } else if (text == "rowsum") {
    command.rhs = RhsKind::RowSum;
  } else if (text == "scaled-rowsum") {
    command.rhs = RhsKind::ScaledRowSum;
  } else if (text == random) {
    command.rhs = RhsKind::Random;
  } else if (text.compare(0, random.size() + 1, random + ":") == 0) {
    command.rhs = RhsKind::Random;
    const char* const end = text.data() + text.size();
    const auto [next, error] =
        std::from_chars(text.data() + random.size() + 1, end, command.rhs_seed);
    if (error != std::errc() || next != end)
      throw InvalidArgument(
          message("--rhs '", text, "': the seed must be an integer from 0 to 2^64 - 1"));
  } else {
    command.rhs = RhsKind::File;
    command.rhs_file = text;
  }
}

void check(const CommandLine& command, bool block_size_given) {
  if (command.matrix.empty() == command.problem.empty())
    throw InvalidArgument("give either --matrix FILE or --problem SPEC; --help lists the problems");
  if (block_size_given)
    requireAtLeast("--block-size", command.block_size, 1);
  requireAtLeast("--restart", command.restart, 1);
  requireAtLeast("--max-iters", command.max_iterations, 0);
  requireAtLeast("--repeat", command.repeat, 1);
  requireAtLeast("--rhs-count", command.rhs_count, 1);
  if (command.rhs_count > 1 && command.rhs != RhsKind::Random)
    throw InvalidArgument("--rhs-count needs --rhs random; a file brings its columns with it");
  requireTolerance("--tol", command.tolerance);
  requireTolerance("--abs-tol", command.absolute_tolerance);
  if (!(command.time_limit >= 0) || !std::isfinite(command.time_limit))
    throw InvalidArgument(message(
        "--time-limit must be a finite number of seconds >= 0, but it is ", command.time_limit));
  requireAtLeast("--overlap", command.overlap, 0);
  if (command.overlap > 0 && command.in_blocks)
    throw InvalidArgument("--overlap needs --format points: Ifpack2 shares no rows of blocks");
  requireAtLeast("--newton-steps", command.newton_steps, 1);
  requireTolerance("--newton-tol", command.newton_tolerance);
}

/// What the race chooses itself cannot be given. \throws InvalidArgument
void checkRace(const CommandLine& command, const CLI::App& app) {
  for (const char* option :
       {"--repeat", "--allow-varying", "--basis", "--history", "--rhs-count", "--time-limit",
        "--reductions", "--reorthogonalize", "--abs-tol", "--guess", "--relative-to"})
    if (app.get_option(option)->count() > 0)
      throw InvalidArgument(message("--recommend chooses the solver's options itself and measures "
                                    "once: leave out ",
                                    option));
  if (!command.solver_is_given && app.get_option("--restart")->count() > 0)
    throw InvalidArgument("--recommend chooses the restart length with the solver: leave out "
                          "--restart, or give --solver beside it");
  if (!(command.budget >= 0) || !std::isfinite(command.budget))
    throw InvalidArgument(
        message("--budget must be a finite number of seconds >= 0, but it is ", command.budget));
  if (!(command.tolerance > 0 && command.tolerance < 1))
    throw InvalidArgument(
        message("--recommend needs a --tol > 0 and < 1, but it is ", command.tolerance));
}

} // namespace

const char* nameOf(Program program) {
  return program == Program::Solve      ? "ainvil-solve"
         : program == Program::SolveMpi ? "ainvil-solve-mpi"
                                        : "ainvil-peers";
}

CommandLine parseCommandLine(const std::vector<std::string>& arguments, Program program) {
  const bool mpi = program == Program::SolveMpi, peers = program == Program::Peers;
  CommandLine command;
  command.program = program;
  std::string partition = "rows", format = "points", krylov;
  std::string rhs;
  std::string exec = "default", clock = "wall";
  std::string precision = "double", basis;
  std::string residual = "original", relative_to;

  CLI::App app(mpi ? mpi_description : peers ? peers_description : description, nameOf(program));
  app.get_formatter()->column_width(help_column);
  const auto text = [&](const char* option, std::string& value, const char* type,
                        const char* meaning) {
    return app.add_option(option, value, meaning)->type_name(type);
  };
  text("--matrix", command.matrix, "FILE.mtx[.gz]", "Matrix Market file");
  text("--problem", command.problem, "SPEC", "problem of the gallery, as cavity:300; see below");
  const std::string of_file = peers ? ""
                                    : ", in Matrix Market of one\n"
                                      "column or more, which are solved for together";
  const std::string rhs_help = "ones|rowsum|scaled-rowsum|random[:SEED]|FILE (Matrix Market, text\n"
                               "with one number a line, or NumPy's .npy)" +
                               of_file +
                               ";\n"
                               "rowsum: A times ones; scaled-rowsum: S A S times ones;\n"
                               "all but the latter are scaled with the matrix;\n"
                               "random: uniform in (-1, 1), seed 1;\n"
                               "default: that of the problem if it has one, else rowsum";
  text("--rhs", rhs, "RHS", rhs_help.c_str());
  if (!peers)
    addNumber(app, "--rhs-count", command.rhs_count, "K",
              "with --rhs random: so many right-hand sides, solved for together,\n"
              "eight at a time (by Belos in turn); of the seeds SEED, SEED + 1, ...");
  if (!peers)
    text("--guess", command.guess_file, "FILE",
         "initial guess of the solution of the system as given, in the\n"
         "formats of --rhs FILE, a column for each right-hand side;\n"
         "default zeros");
  CLI::Option* block_size =
      app.add_option("--block-size", command.block_size,
                     "regroup in blocks of this size; default: the problem's, 1 for files")
          ->type_name("B");
  addChoice(app, "--scale", command.scale,
            "solve with S A S, S = diag(d_i^-1/2), d_i = |a_ii| or the norm of\n"
            "column i, or with R A C whose rows and columns have largest\n"
            "entries of 1; the solution is scaled back; default none",
            {"none", "diagonal", "norm", "ruiz"});
  addChoice(app, "--match", command.match,
            "exchange block rows for the largest product on the diagonal, and\n"
            "scale with what belongs to it; default none",
            {"none", "product"});
  addChoice(app, "--residual", residual,
            "with --scale or --match: of which system the residual is to meet\n"
            "the tolerance, A x = b as given or S A S; default original",
            {"original", "scaled"});
  addChoice(app, "--reorder", command.reorder,
            "order of the block rows and columns: reverse Cuthill-McKee, nested\n"
            "dissection, or colours of rows or of groups of 16, for few level\n"
            "sets; rows in files and messages of bad input keep their numbers;\n"
            "default none",
            {"none", "rcm", "nd", "colour", "block-colour"});
  addChoice(app, "--solver", command.solver,
            "Krylov method: cg for SPD matrices, fgmres for preconditioners that\n"
            "vary between applications; default gmres",
            peers ? peer_solvers : solvers);
  if (!mpi && !peers)
    app.add_flag("--allow-varying", command.allow_varying,
                 "run cg and gmres even with a preconditioner that varies between\n"
                 "applications");
  addNumber(app, "--restart", command.restart, "M", "restart length of gmres and fgmres");
  addNumber(app, "--tol", command.tolerance, "T",
            "stop at ||b - A x|| <= T ||b|| of the system as given");
  if (!peers) {
    addChoice(app, "--relative-to", relative_to,
              "with --guess: what stands in the place of b in --tol, the right-hand\n"
              "side or the residual b - A x of the guess; default rhs",
              {"rhs", "initial"});
    addNumber(app, "--abs-tol", command.absolute_tolerance, "T",
              "stop at ||b - A x|| <= T, too: whichever comes first");
  }
  addNumber(app, "--max-iters", command.max_iterations, "N", "most iterations of a solve");
  if (!peers) {
    addNumber(app, "--time-limit", command.time_limit, "SECONDS",
              "end a solve after so many seconds; default 0: no limit");
    addChoice(app, "--reductions", command.reductions,
              "sums over all rows in an iteration: usual, 2 of cg and 3 of\n"
              "bicgstab; fewest, 1 and 2, same up to rounding, for one product and\n"
              "application more at the end; pipelined, that 1 of cg beside products,\n"
              "for more vectors and rounding; gmres and fgmres have 1; default usual",
              {"usual", "fewest", "pipelined"});
    addChoice(app, "--reorthogonalize", command.reorthogonalize,
              "when gmres and fgmres make a vector orthogonal to the others a\n"
              "second time, same up to rounding; default if-needed, always on GPUs",
              {"if-needed", "always"});
  }
  addRepeatable(app, "--precond", command.preconds, "SPEC",
                "preconditioner, see below; repeatable");
  CLI::Option* budget = nullptr;
  if (program == Program::Solve) {
    app.add_flag("--recommend", command.recommend,
                 "a race of solvers, restarts, preconditioners, orderings and block\n"
                 "sizes: which is the fastest on this system, and how to have it;\n"
                 "with --solver of preconditioners for that one, with --precond\n"
                 "of these, for that solver, else cg where A looks SPD or gmres");
    budget = app.add_option("--budget", command.budget,
                            message("with --recommend: end after so many seconds; default ",
                                    command.budget))
                 ->type_name("SECONDS");
  }
  addNumber(app, "--repeat", command.repeat, "R",
            "do all R times and report the fastest setup, apply30 and solve;\n"
            "the JSON also has the first setup and, if R > 1, the fastest\n"
            "compute on the same graph");
  if (mpi) {
    addChoice(app, "--partition", partition,
              "which rank has which block rows: consecutive ones, or the parts\n"
              "that METIS makes of the graph; default rows",
              {"rows", "metis"});
    addNumber(app, "--overlap", command.overlap, "K",
              "levels of rows of other ranks that Ifpack2's AdditiveSchwarz\n"
              "adds to those of a rank");
    addChoice(app, "--format", format, "of the matrix: CrsMatrix or BlockCrsMatrix; default points",
              {"points", "blocks"});
    addChoice(app, "--krylov", krylov,
              "whose Krylov solvers; default ainvil, or belos with --belos", {"ainvil", "belos"});
    text("--belos", command.belos, "NAME",
         "solver of Belos in place of its usual one for --solver, such as\n"
         "'TPETRA GMRES SINGLE REDUCE', one reduction over the ranks an iteration");
    addNumber(app, "--newton-tol", command.newton_tolerance, "T",
              "cavity-newton: stop at ||F|| <= T ||F_0||");
    addNumber(app, "--newton-steps", command.newton_steps, "N", "cavity-newton: most steps");
  } else if (peers) {
    addChoice(app, "--clock", clock,
              "wall: of the slowest rank; cpu: time that the processor gave to a\n"
              "single rank, for machines that others use too; default wall",
              {"wall", "cpu"});
  } else {
    addChoice(app, "--clock", clock,
              "of all times: wall, or cpu, processor time of all threads together,\n"
              "for one thread on a machine that others use too; default wall",
              {"wall", "cpu"});
    addChoice(app, "--exec", exec, "Kokkos' default execution space or its host space",
              {"default", "host"});
    addChoice(app, "--precision", precision,
              "of matrix, vectors and preconditioner; default double;\n"
              "float reaches residuals of about 1e-6",
              {"double", "float"});
  }
  addChoice(app, "--basis", basis,
            "precision in which gmres and fgmres keep their basis; float takes\n"
            "half the time and memory for it; default that of the vectors",
            {"double", "float"});
  text("--json", command.json, "FILE|-",
       "results as JSON, one object a run, one line each;\n"
       "-: to stdout, and the table to stderr");
  if (!mpi && !peers)
    app.add_flag("--json-history", command.json_history,
                 "the JSON has the relative residual of all iterations, too");
  if (!mpi && !peers)
    text("--history", command.history, "FILE.csv",
         "relative residual of all iterations of all runs");
  if (!peers)
    text("--solution", command.solution, "FILE.mtx",
         "x of the fastest run that converged, or if none did,\n"
         "of the one with the smallest residual");
  app.add_flag("--quiet", command.quiet, "no table, no progress line");
  bool parameters = false;
  if (program == Program::Solve)
    app.add_flag("--parameters", parameters,
                 "all parameters of the preconditioners as Markdown, and stop");

  command.help = parse(app, arguments, footer(program));
  if (parameters)
    command.help = parameterPage();
  if (!command.help.empty())
    return command;
  command.rhs_text = rhs;
  if (!rhs.empty())
    readRhs(rhs, command);
  command.on_host = exec == "host";
  command.cpu_clock = clock == "cpu";
  command.single_precision = precision == "float";
  command.float_basis = command.single_precision || basis == "float";
  if (command.single_precision && basis == "double")
    throw InvalidArgument("--basis double is more than --precision float");
  command.decides_scaled = residual == "scaled";
  if (command.decides_scaled && !command.isScaled())
    throw InvalidArgument("--residual scaled needs --scale or --match");
  command.relative_to_guess = relative_to == "initial";
  if (command.relative_to_guess && command.guess_file.empty() && !command.recommend)
    throw InvalidArgument("--relative-to initial needs --guess: the residual of zeros is b");
  if (command.match != "none" && command.scale != "none")
    throw InvalidArgument("--match brings scalings of its own: leave --scale out");
  command.by_metis = partition == "metis";
  command.in_blocks = format == "blocks";
  if (krylov == "ainvil" && !command.belos.empty())
    throw InvalidArgument("--belos names a solver of Belos: leave out --krylov ainvil");
  command.by_belos = krylov == "belos" || !command.belos.empty();
  if (command.by_belos && (command.reductions != "usual" || command.reorthogonalize != "default" ||
                           command.time_limit > 0 || command.float_basis))
    throw InvalidArgument("--time-limit, --basis float, --reductions and --reorthogonalize are for "
                          "Ainvil's solvers: leave them out, or --krylov belos and --belos");
  command.solver_is_given = app.get_option("--solver")->count() > 0;
  check(command, block_size->count() > 0);
  if (budget != nullptr && budget->count() > 0 && !command.recommend)
    throw InvalidArgument("--budget is the time of a race: add --recommend, or leave it out");
  if (command.recommend)
    checkRace(command, app);
  if (!mpi)
    checkFiles(command);
  if (command.preconds.empty() && !command.recommend) {
    command.preconds = defaultsOf(program, command.solver);
    if (program != Program::Peers)
      command.other_preconds = otherPreconds(command.solver, command.single_precision);
    if (!command.other_preconds.empty())
      command.small_precond = nearly_complete;
  }
  return command;
}

void checkFiles(const CommandLine& command) {
  if (!command.rhs_file.empty() && !std::filesystem::exists(command.rhs_file))
    throw InvalidArgument(message("--rhs must be ones, rowsum, scaled-rowsum, random[:SEED] or a "
                                  "file, but there is no file '",
                                  command.rhs_file, "'"));
  if (!command.guess_file.empty() && !std::filesystem::exists(command.guess_file))
    throw InvalidArgument(message("--guess: there is no file '", command.guess_file, "'"));
  const std::pair<const char*, const std::string*> outputs[] = {{"--json", &command.json},
                                                                {"--history", &command.history},
                                                                {"--solution", &command.solution}};
  for (const auto& [option, path] : outputs) {
    if (sameFile(*path, command.matrix) || sameFile(*path, command.rhs_file) ||
        sameFile(*path, command.guess_file))
      throw InvalidArgument(message(option, " would overwrite the input file '", *path, "'"));
    for (const auto& [other, other_path] : outputs) // each pair once
      if (path < other_path && sameFile(*path, *other_path))
        throw InvalidArgument(message(option, " and ", other, " name the same file '", *path, "'"));
  }
}

} // namespace perf
} // namespace ainvil
