// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Tells how far a loop of the host is.

#include "Ainvil_Types.hpp"

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

} // namespace detail
} // namespace ainvil
