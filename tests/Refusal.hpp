// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the library says where it refuses a call.

#include "Ainvil_Error.hpp"

#include <string>

namespace ainvil {
namespace test {

/// The sentence of the Error that `call` throws; empty if it throws none.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

} // namespace test
} // namespace ainvil
