// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The tables of docs/parameters.md.

#include <string>

namespace ainvil {
namespace perf {

/// A heading and a table in Markdown for every method, and for what all of them take, from the
/// tables that the program parses specifications with. scripts/parameters.sh writes it into the
/// document.
std::string parameterPage();

} // namespace perf
} // namespace ainvil
