// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Newton's method as a table and as JSON.

#include "solve/CavityNewtonRun.hpp"

#include <ostream>

namespace ainvil {
namespace perf {

/// One row a step, below a line a preconditioner. Writes nothing if the command line says --quiet.
class NewtonTable {
public:
  NewtonTable(std::ostream& out, const CommandLine& command) : out_(out), command_(command) {}

  void print(const std::string& precond, const NewtonResult& result,
             const Environment& environment);

private:
  std::ostream& out_;
  const CommandLine& command_;
  bool begun_ = false;
};

/// One run as a JSON object on a line of its own, its steps in an array.
std::string toJson(const std::string& precond, const NewtonResult& result,
                   const CommandLine& command, const Environment& environment);

} // namespace perf
} // namespace ainvil
