// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Where the sources were when the tests were compiled.

#include <string>

namespace ainvil {
namespace test {

/// Path of the checkout, for tests that read its files. Only one file is compiled with the path, so
/// that the others are the same wherever they are compiled.
std::string sourceFolder();

} // namespace test
} // namespace ainvil
