// SPDX-License-Identifier: BSD-3-Clause
#include "solve/DefaultSets.hpp"

#include "Ainvil_BuildInfo.hpp"

#include <algorithm>

namespace ainvil {
namespace perf {
namespace {

std::vector<std::string> defaultPreconds(const std::string& solver) {
  // CG needs a symmetric positive definite M, which ilu is not always; and ic has half to do.
  if (solver == "cg")
    return {"jacobi",
            "ic:solve=exact",
            "ic:modified=0.95",
            "ic:solve=isai,power=1",
            "ic:solve=jacobi,sweeps=3",
            "fsai:power=1",
            "fsai:power=2",
            "fsai:power=3"};
  return {"jacobi",
          "ilu:solve=exact",
          "ilu:modified=0.95",
          "ilu:solve=isai,power=1",
          "ilu:solve=isai,power=2",
          "ilu:solve=isai,power=3",
          "ilu:solve=isai,power=2,storage=bfloat16",
          "ilu:solve=isai,power=1,relax=auto",
          "ilu:solve=jacobi,sweeps=3"};
}

std::vector<std::string> defaultMpiPreconds(const std::string& solver) {
  if (solver == "cg")
    return {"jacobi", "ic", "local-fsai", "fsai"};
  return {"jacobi", "ilu", "ilu:solve=isai,power=1", "ilu:solve=isai,power=2",
          "ilu:solve=isai,power=3"};
}

/// Ours that are quickest on hosts, and what a user of each library would take, where it is built.
std::vector<std::string> defaultPeers(const std::string& solver) {
  std::vector<std::string> preconds =
      solver == "cg"
          ? std::vector<std::string>{"jacobi",       "ilu",
                                     "ic",           "fsai:power=1",
                                     "fsai:power=2", "petsc:jacobi",
                                     "petsc:icc",    "hypre:parasails",
                                     "hypre:fsai",   "hypre:boomeramg",
                                     "ifpack2:RILUK"}
          : std::vector<std::string>{"jacobi",       "ilu",          "ilu:solve=isai,power=1",
                                     "petsc:jacobi", "petsc:ilu",    "hypre:parasails",
                                     "hypre:ilu",    "ifpack2:RILUK"};
  const std::string built = std::string(" ") + build_info::peers + " ";
  preconds.erase(std::remove_if(preconds.begin(), preconds.end(),
                                [&](const std::string& precond) {
                                  const std::string library = precond.substr(0, precond.find(':'));
                                  return (library == "petsc" || library == "hypre" ||
                                          library == "ifpack2") &&
                                         built.find(" " + library + " ") == std::string::npos;
                                }),
                 preconds.end());
  return preconds;
}

} // namespace

std::vector<std::string> otherPreconds(const std::string& solver, bool single_precision) {
  if (solver == "cg")
    return {};
  // The matching of a matrix whose diagonal is zero in places may be worse than its own order: the
  // last one goes without. It takes pivots for singular below 2e-5 of their row.
  return {"ilu:match=product", "ilu:match=product,solve=isai,power=2,relax=auto",
          "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift",
          "ilu:factorization=ilut,match=product,reorder=nd,breakdown=shift,solve=isai,power=2,"
          "relax=auto",
          std::string("ilu:factorization=ilut,drop=1e-4,reorder=nd,breakdown=shift,pivot-tol=") +
              (single_precision ? "200" : "1e11")};
}

std::vector<std::string> defaultsOf(Program program, const std::string& solver) {
  return program == Program::Solve      ? defaultPreconds(solver)
         : program == Program::SolveMpi ? defaultMpiPreconds(solver)
                                        : defaultPeers(solver);
}

CommandLine otherSet(CommandLine& command, Offset num_point_rows, Offset num_weak_diagonals) {
  CommandLine other = command;
  other.preconds = command.other_preconds;
  if (!command.small_precond.empty() && num_point_rows <= CommandLine::small_rows)
    other.preconds.push_back(command.small_precond);
  if (!other.preconds.empty() && num_weak_diagonals > 0)
    std::swap(command.preconds, other.preconds);
  return other;
}

} // namespace perf
} // namespace ainvil
