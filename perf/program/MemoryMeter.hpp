// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How much memory Kokkos holds.

#include <cstdint>
#include <string>

namespace ainvil {
namespace perf {

/// Counts what is allocated in a Kokkos memory space from its construction on, by the callbacks of
/// Kokkos Tools, unless a profiling tool has them already: then all counts are 0. One object a
/// program.
class MemoryMeter {
public:
  /// `space` is the name of the memory space.
  explicit MemoryMeter(const std::string& space);
  ~MemoryMeter();
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  std::int64_t current() const; ///< bytes
  std::int64_t peak() const;    ///< most bytes since the last resetPeak()
  void resetPeak();

private:
  bool counting_ = false;
};

} // namespace perf
} // namespace ainvil
