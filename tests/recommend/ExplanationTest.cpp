// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What is told of a race in which nothing converged.
#include "race/Ainvil_Race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace ainvil;
using namespace ainvil::detail;

RaceEntry entryOf(const std::string& precond, const std::string& status, double residual,
                  Offset breakdowns = 0) {
  RaceEntry entry;
  static_cast<Configuration&>(entry) = {"gmres", 30, precond, 1};
  entry.status = status;
  entry.reason = "reason of " + precond;
  entry.rel_residual = residual;
  entry.iterations = 50;
  entry.breakdowns = breakdowns;
  return entry;
}

/// The line that holds a text, or none.
std::string lineWith(const std::string& text, const std::vector<RaceEntry>& race,
                     double seconds = 1) {
  for (const std::string& line : explain(race, MatrixTraits(), RecommendOptions(), seconds))
    if (line.find(text) != std::string::npos)
      return line;
  return {};
}

TEST(Explanation, CountsByStatusAndGivesTheFirstReason) {
  const std::vector<RaceEntry> race = {entryOf("jacobi", "dropped", 0.5),
                                       entryOf("ilu", "stagnated", 0.3),
                                       entryOf("ic", "stagnated", 0.2)};
  EXPECT_EQ(lineWith("none of", race),
            "none of 3 configurations has converged: 2 x stagnated, 1 x dropped");
  EXPECT_EQ(lineWith("for example", race), "stagnated, for example gmres(30) ilu: reason of ilu");
}

TEST(Explanation, NamesTheSmallestResidual) {
  EXPECT_EQ(lineWith("smallest residual",
                     {entryOf("jacobi", "dropped", std::nan("")), entryOf("ilu", "dropped", 0.25),
                      entryOf("ic", "dropped", 0.125), entryOf("none", "dropped", 0.5)}),
            "the smallest residual, 0.125, was reached by gmres(30) ic after 50 iterations");
}

TEST(Explanation, NamesWhoShiftedTheMostPivots) {
  EXPECT_EQ(lineWith("pivots", {entryOf("ic", "dropped", 1, 2), entryOf("ilu", "dropped", 1, 7),
                                entryOf("jacobi", "dropped", 1, 3)}),
            "pivots had to be shifted, at most 7 of gmres(30) ilu");
  EXPECT_EQ(lineWith("pivots", {entryOf("ic", "dropped", 1)}), "");
}

/// Runs that ended by themselves, after more than a few iterations, within a tenth of the smallest.
TEST(Explanation, ThreeThatEndAlikeSayThatAMayBeSingular) {
  const std::string status = "stagnated";
  std::vector<RaceEntry> race = {entryOf("a", status, 0.1), entryOf("b", status, 0.105),
                                 entryOf("c", status, 0.109), entryOf("d", status, 0.12)};
  EXPECT_EQ(lineWith("A may be singular", race).find("3 of them end at about this residual"), 0u);
  race[2].iterations = 10;
  EXPECT_EQ(lineWith("A may be singular", race), "");
  race[2].iterations = 11;
  EXPECT_NE(lineWith("A may be singular", race), "");
  for (const char* other : {"dropped", "interrupted"}) {
    race[1].status = other;
    EXPECT_EQ(lineWith("A may be singular", race), "") << other;
  }
}

TEST(Explanation, ProposesALargerBudgetWhereItWasSpent) {
  const std::vector<RaceEntry> race = {entryOf("ilu", "dropped", 1)};
  const double budget = RecommendOptions().budget;
  EXPECT_EQ(lineWith("a larger budget", race, 0.9 * budget), "");
  EXPECT_NE(lineWith("a larger budget", race, budget), "");
}

} // namespace
