// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// All solvers and all functions that take an instance, to be called one after the other.

#include "property/MethodSupport.hpp"

#include "krylov/Ainvil_KrylovSolver.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ainvil {
namespace test {

/// What a function promises of its end.
enum class End {
  Asynchronous, ///< it neither waits nor allocates
  Waits,        ///< what it returns is complete: the instance has nothing left to do
  Unsaid        ///< neither
};

/// A function of the library with its arguments.
struct Function {
  std::string name;
  std::function<void(const Exec&)> run;
  End end;
};

/// All of them, with arguments that a kernel has work with.
std::vector<Function> functionTable();

using Solver = KrylovSolver<double, Device>;
struct NamedSolver {
  std::string name;
  std::unique_ptr<Solver> solver;
};
std::vector<NamedSolver> solverTable(const SolverOptions& options);

} // namespace test
} // namespace ainvil
