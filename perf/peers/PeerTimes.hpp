// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What other libraries take for the same work.

#include <limits>

namespace ainvil {
namespace perf {

/// Seconds, NaN where the library is not there: medians of several measurements.
struct PeerTimes {
  double setup_seconds = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();
};

} // namespace perf
} // namespace ainvil
