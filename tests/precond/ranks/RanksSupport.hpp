// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Systems over ranks and comparisons for the tests of the adapters for C.

#include "precond/ranks/Reference.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ainvil {
namespace test {

using reference::System;

int rankOfWorld();
int numRanks();

/// How block rows are spread: evenly, or all on the last rank.
enum class Spread { Even, Last };

/// The block rows of this rank.
struct Rows {
  int first, end;
};
Rows rowsOf(const System& system, Spread spread);

/// The rows of this rank and their entries in its own columns.
System localPart(const System& system, Spread spread);

/// A system of random values in (-1, 1) with a heavy diagonal: a band of so many blocks to each
/// side. Symmetric if asked for, positive definite then.
System bandSystem(int block_rows, int half_width, int block_size, bool symmetric, unsigned seed);

/// A matrix on which elimination meets a zero pivot on one rank only, the last.
System singularOnTheLast();

std::vector<double> randomNumbers(int n, unsigned seed);

/// True if the text has the part.
::testing::AssertionResult has(const std::string& text, const std::string& part);

/// Largest difference of two vectors, relative to the largest number of the second, over the ranks.
double difference(const std::vector<double>& a, const std::vector<double>& b);

} // namespace test
} // namespace ainvil
