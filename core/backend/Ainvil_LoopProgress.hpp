// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Tells how far a loop is: of the host, or of launches for some of its rows each.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace ainvil {
namespace detail {

/// Tells a function about a hundred times how many steps of a loop are done. An empty function
/// costs a comparison a step. Keeps a reference to it.
class LoopProgress {
public:
  /// Of a loop from `done` to `total` steps.
  LoopProgress(const std::function<void(Offset)>& progress, Offset total, Offset done = 0)
      : progress_(progress), total_(total), piece_(std::max<Offset>(1, (total - done) / 100)),
        next_(progress ? done + piece_ : never) {}

  /// So many are done, which may be no more than before.
  void tell(Offset done) {
    if (done >= next_)
      tellNow(done);
  }
  /// The same, told in any case: after a step that may have taken long.
  void tellAnyway(Offset done) {
    if (next_ != never)
      tellNow(done);
  }

private:
  static constexpr Offset never = std::numeric_limits<Offset>::max();

  void tellNow(Offset done) {
    next_ = done < total_ ? std::min(done + piece_, total_) : never;
    progress_(done);
  }

  const std::function<void(Offset)>& progress_;
  const Offset total_;
  const Offset piece_;
  Offset next_; ///< to be told of
};

/// For one of `shares` loops of as many steps each, before which `before` steps of them are done:
/// `progress` is told of all as if they were one loop of that length. Empty if `progress` is, to
/// which it keeps a reference.
inline std::function<void(Offset)> shareOf(const std::function<void(Offset)>& progress,
                                           Offset before, Offset shares = 1) {
  if (!progress)
    return {};
  return [&progress, before, shares](Offset done) { progress((before + done) / shares); };
}

/// Rows of n that a launch takes: all, or if there is `progress` to be told, so many that there are
/// `launches`, but not fewer than are work for longer than a launch takes.
inline Ordinal rowsOfLaunch(Ordinal n, Ordinal fewest, const std::function<void(Offset)>& progress,
                            Ordinal launches = 100) {
  return progress ? std::max(fewest, n / launches + (n % launches > 0 ? 1 : 0)) : n;
}

/// launch(first, end) for so many of n rows at a time; waits for each and tells `progress`, if
/// there is one.
template <class Exec, class Launch>
void launchInPieces(const Exec& exec, Ordinal n, Ordinal rows_of_launch,
                    const std::function<void(Offset)>& progress, const Launch& launch) {
  for (Ordinal first = 0, end = 0; first < n; first = end) {
    end = first + std::min(rows_of_launch, n - first);
    launch(first, end);
    if (progress) {
      compat::fence(exec, "Ainvil::progress");
      progress(end);
    }
  }
}

} // namespace detail
} // namespace ainvil
