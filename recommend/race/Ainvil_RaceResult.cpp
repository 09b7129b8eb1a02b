// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Race.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// What is left ends here.
template <class Scalar, class Device>
Recommendation Race<Scalar, Device>::result() {
  const std::string why = interrupted_               ? "the race was interrupted"
                          : now() >= options_.budget ? "the budget was spent"
                          : best_ == nullptr         ? "nothing had converged when the race ended"
                                             : "a few times the time of the best were spent";
  for (const RunPtr& run : alive()) {
    const std::string too_long = run->setup == nullptr && !isOver() ? whyNotSetUp(*run) : "";
    if (run->setup == nullptr && run->entry.began == 0)
      not_tried_.push_back(run->entry.text(traits_.block_size) + ": " +
                           (too_long.empty() ? why : too_long));
    else
      end(*run, interrupted_ ? "interrupted" : "dropped", why);
  }
  Recommendation result;
  const auto smallest = [&](const auto& key) {
    int found = -1;
    for (size_t i = 0; i < ended_.size(); ++i)
      if (ended_[i]->entry.converged() &&
          (found < 0 || key(ended_[i]->entry) < key(ended_[found]->entry)))
        found = static_cast<int>(i);
    return found;
  };
  result.best = smallest([](const RaceEntry& e) { return e.totalSeconds(); });
  result.smallest = smallest([&](const RaceEntry& e) {
    const int vectors = e.solver == "gmres" ? std::min(e.restart, e.iterations) + 3
                        : e.solver == "cg"  ? 5
                                            : 7;
    return double(e.factor_bytes) + double(vectors) * double(traits_.rows) * sizeof(Scalar);
  });
  result.for_many_rhs = smallest([](const RaceEntry& e) { return e.solve_seconds; });
  result.for_many_values =
      smallest([](const RaceEntry& e) { return e.compute_seconds + e.solve_seconds; });
  const RaceEntry* chosen = result.best >= 0   ? &ended_[result.best]->entry
                            : x_of_ != nullptr ? &x_of_->entry
                                               : nullptr;
  result.options.tolerance = options_.tolerance;
  if (chosen != nullptr) {
    result.specification = chosen->precond;
    result.solver = chosen->solver;
    result.block_size = chosen->block_size;
    result.options.restart = chosen->restart;
    result.options.max_iterations = options_.max_iterations;
  }
  result.x = best_ != nullptr ? toHost(best_->x) : x_;
  result.traits = traits_.text();
  result.not_tried = not_tried_;
  result.seconds = now();
  for (const RunPtr& run : ended_)
    result.race.push_back(run->entry);
  if (result.best < 0)
    result.explanation = explain(result.race, traits_, options_, result.seconds);
  return result;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE) template Recommendation Race<SCALAR, DEVICE>::result();
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
