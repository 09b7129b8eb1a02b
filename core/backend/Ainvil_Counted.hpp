// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How messages name a row, a column or a block.

#include "Ainvil_Error.hpp"

#include <cstdint>

namespace ainvil {

/// "block row 8 (counted from 1)" for what = "block row" and index = 7. Indices of the library
/// count from 0, rows of files and in messages from 1.
inline std::string counted(const char* what, std::int64_t index) {
  return message(what, " ", index + 1, " (counted from 1)");
}

} // namespace ainvil
