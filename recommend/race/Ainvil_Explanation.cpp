// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Race.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ainvil {
namespace detail {
namespace {

/// "3 x breakdown"
std::string countOf(const std::vector<RaceEntry>& race, const std::string& status) {
  const auto count = std::count_if(race.begin(), race.end(),
                                   [&](const RaceEntry& entry) { return entry.status == status; });
  return count > 0 ? message(count, " x ", status) : std::string();
}

/// The first reason of that status.
std::string exampleOf(const std::vector<RaceEntry>& race, const std::string& status,
                      int block_size) {
  for (const RaceEntry& entry : race)
    if (entry.status == status && !entry.reason.empty())
      return message(status, ", for example ", entry.text(block_size), ": ", entry.reason);
  return {};
}

} // namespace

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), seconds < 10 ? "%.3g" : "%.0f", seconds);
  return text;
}

std::vector<std::string> explain(const std::vector<RaceEntry>& race, const MatrixTraits& traits,
                                 const RecommendOptions& options, double seconds) {
  std::vector<std::string> lines;
  if (race.empty()) {
    lines.push_back("nothing has been tried: the race ended before the first set-up");
    return lines;
  }
  std::string counts;
  for (const char* status : {"max_iterations", "stagnated", "breakdown", "diverged", "refused",
                             "out_of_memory", "dropped", "interrupted"}) {
    const std::string part = countOf(race, status);
    counts += (counts.empty() || part.empty() ? "" : ", ") + part;
  }
  lines.push_back(message("none of ", race.size(), " configurations has converged: ", counts));

  const RaceEntry* closest = nullptr;
  for (const RaceEntry& entry : race)
    if (std::isfinite(entry.rel_residual) &&
        (closest == nullptr || entry.rel_residual < closest->rel_residual))
      closest = &entry;
  if (closest != nullptr)
    lines.push_back(message("the smallest residual, ", closest->rel_residual, ", was reached by ",
                            closest->text(traits.block_size), " after ", closest->iterations,
                            " iterations"));
  const RaceEntry* shifted = nullptr;
  for (const RaceEntry& entry : race)
    if (entry.breakdowns > 0 && (shifted == nullptr || entry.breakdowns > shifted->breakdowns))
      shifted = &entry;
  if (shifted != nullptr)
    lines.push_back(message("pivots had to be shifted, at most ", shifted->breakdowns, " of ",
                            shifted->text(traits.block_size)));
  for (const char* status : {"stagnated", "breakdown", "diverged", "refused", "out_of_memory"}) {
    const std::string example = exampleOf(race, status, traits.block_size);
    if (!example.empty())
      lines.push_back(example);
  }
  // A residual that several methods leave at the same level is one that b has outside of A's range.
  int alike = 0;
  for (const RaceEntry& entry : race)
    alike += closest != nullptr && closest->rel_residual > 1e-6 && entry.iterations > 10 &&
                     entry.status != "dropped" && entry.status != "interrupted" &&
                     entry.rel_residual < 1.1 * closest->rel_residual
                 ? 1
                 : 0;
  if (alike >= 3)
    lines.push_back(message(alike, " of them end at about this residual: A may be singular and b "
                                   "outside of its range, so that no x has a smaller one"));
  const auto interrupted = [](const RaceEntry& entry) { return entry.status == "interrupted"; };
  std::string left = "left to try: ";
  if (std::any_of(race.begin(), race.end(), interrupted))
    left += "the race was interrupted; ";
  else if (seconds >= options.budget)
    left += "a larger budget; ";
  if (traits.block_size == 1 && traits.natural_block_size == 1)
    left += "the blocks of A, if its unknowns come in groups; ";
  left += "another scaling of the system; a larger tolerance; a direct solver";
  lines.push_back(left);
  return lines;
}

} // namespace detail
} // namespace ainvil
