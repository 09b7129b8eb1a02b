// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The command lines of ainvil-solve, ainvil-solve-mpi and ainvil-peers.

#include <cstdint>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

enum class Program { Solve, SolveMpi, Peers };
/// "ainvil-solve", ...
const char* nameOf(Program program);

enum class RhsKind { Default, Ones, RowSum, ScaledRowSum, Random, File };

/// What the user asked for. Words that name a choice have been checked.
struct CommandLine {
  std::string help; ///< not empty: print it and stop, nothing else is set
  Program program = Program::Solve;

  std::string matrix;  ///< file; empty: `problem`
  std::string problem; ///< gallery specification; empty: `matrix`
  RhsKind rhs = RhsKind::Default;
  std::string rhs_text;       ///< as given
  std::string rhs_file;       ///< for RhsKind::File
  std::uint64_t rhs_seed = 1; ///< for RhsKind::Random
  int rhs_count = 1;          ///< likewise: right-hand sides of this seed and those behind it
  std::string guess_file;     ///< initial guess of the solutions; empty: zeros
  int block_size = 0;         ///< 0: that of the problem
  std::string scale = "none";
  std::string match = "none";
  bool decides_scaled = false; ///< the residual of the scaled system, not of the one given
  std::string reorder = "none";

  std::string solver = "gmres";
  bool solver_is_given = false; ///< by the user
  bool allow_varying = false;
  int restart = 30;
  bool float_basis = false; ///< of gmres and fgmres
  double tolerance = 1e-8;
  bool relative_to_guess = false; ///< `tolerance` is of the residual of the guess, not of b
  double absolute_tolerance = 0;  ///< of ||b - A x||: the looser of the two counts
  int max_iterations = 5000;
  double time_limit = 0;                   ///< seconds of a solve; 0: none
  std::string reductions = "usual";        ///< of cg and bicgstab; or "fewest", "pipelined"
  std::string reorthogonalize = "default"; ///< of gmres; or "if-needed", "always"
  std::vector<std::string> preconds;       ///< never empty, but of a race
  /// Where these are the set that the program chose: what it takes in their place where the
  /// diagonal has zeros, or after them if none converges. May be empty.
  std::vector<std::string> other_preconds;
  /// Comes behind these where the matrix has at most so many rows: factors that are nearly
  /// complete.
  std::string small_precond;
  static constexpr int small_rows = 50000;
  bool recommend = false; ///< a race chooses solver and preconditioner
  double budget = 60;     ///< of the race, seconds
  int repeat = 1;
  bool on_host = false;
  bool single_precision = false;

  // ainvil-solve-mpi:
  bool by_metis = false;  ///< parts of METIS, not consecutive rows
  int overlap = 0;        ///< levels of rows that ranks share
  bool in_blocks = false; ///< BlockCrsMatrix, not CrsMatrix
  bool by_belos = false;  ///< Belos' solvers, not Ainvil's
  std::string belos;      ///< solver of Belos; empty: the one for `solver`
  double newton_tolerance = 1e-8;
  int newton_steps = 20;

  std::string json, history, solution; ///< empty: not wanted
  bool json_history = false;           ///< the residuals of all iterations, too
  bool quiet = false;

  bool cpu_clock = false; ///< processor time, not wall clock; not of ainvil-solve-mpi

  /// The solver sees another system than the one given, not just in another order.
  bool isScaled() const { return scale != "none" || match != "none"; }
  bool hasRestart() const { return solver == "gmres" || solver == "fgmres"; }
  const std::string& problemName() const { return matrix.empty() ? problem : matrix; }
};

/// Parses the arguments behind the name of the program. Does not need Kokkos to be initialised and
/// opens no file. Of ainvil-solve-mpi it does not even ask which files there are, for only one of
/// the ranks need have them: checkFiles() does. \throws InvalidArgument
CommandLine parseCommandLine(const std::vector<std::string>& arguments,
                             Program program = Program::Solve);

/// \throws InvalidArgument if there is no file for the right-hand side or the guess, or an output
/// would overwrite an input or another output.
void checkFiles(const CommandLine& command);

} // namespace perf
} // namespace ainvil
