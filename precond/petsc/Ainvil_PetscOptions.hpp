// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The options of the preconditioner type "ainvil".

#include <petscpc.h>

#include <string>
#include <vector>

namespace ainvil {
namespace petsc {

/// What the options of a PC say, as text.
struct GivenOptions {
  std::string type; ///< of -pc_ainvil_type; empty: not given
  std::string spec; ///< of -pc_ainvil_spec; empty: not given
  /// Key of the method and value.
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// The method of a specification: all before the colon.
std::string methodOf(const std::string& specification);

/// The method that is asked for: that of -pc_ainvil_spec or -pc_ainvil_type, else that of `now`.
/// \throws InvalidArgument if these two name different methods
std::string chosenMethod(const std::string& now, const GivenOptions& given);

/// The specification that `now` becomes with the options: -pc_ainvil_spec takes its place,
/// -pc_ainvil_type too unless it is of that method, and single parameters win over those in it.
/// \throws InvalidArgument as chosenMethod()
std::string chosenSpecification(const std::string& now, const GivenOptions& given);

/// The option of a parameter without prefix: "-pc_ainvil_max_row".
std::string optionOf(const std::string& key);

/// \throws InvalidArgument if an option that begins with the prefix and pc_ainvil_ has not been
/// read, because the method has no such parameter; ForeignFailure
void refuseUnknown(PC pc, const std::string& method);

} // namespace petsc
} // namespace ainvil
