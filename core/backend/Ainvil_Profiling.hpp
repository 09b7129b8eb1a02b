// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Profiling regions and wall-clock times of set-up phases.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ainvil {

/// Opens a Kokkos Tools region for the life of the object; label as "Ainvil::Isai::compute".
class ScopedRegion {
public:
  /// Opens the region; the destructor closes it.
  explicit ScopedRegion(const std::string& label) { Kokkos::Profiling::pushRegion(label); }
  ~ScopedRegion() { Kokkos::Profiling::popRegion(); }
  ScopedRegion(const ScopedRegion&) = delete;
  ScopedRegion& operator=(const ScopedRegion&) = delete;
};

/// Seconds of named phases, in the order in which they first ran. A phase that runs again
/// overwrites its time.
class PhaseTimes {
public:
  using Phase = std::pair<std::string, double>; ///< name and seconds

  /// Runs `work` inside a profiling region and records its wall time, the device work it enqueued
  /// on `exec` included: fences the instance once at the end.
  template <class Exec, class Work>
  void time(const Exec& exec, const char* owner, const std::string& phase, Work&& work) {
    const ScopedRegion region(regionOf(owner, phase));
    Kokkos::Timer timer;
    work();
    compat::fence(exec, "Ainvil::PhaseTimes");
    set(phase, timer.seconds());
  }

  /// Records a time that was taken otherwise.
  void set(const std::string& phase, double seconds);

  const std::vector<Phase>& phases() const { return phases_; } ///< in order of first run
  /// Seconds of all phases.
  double total() const;

private:
  /// "Ainvil::owner[phase]"
  static std::string regionOf(const char* owner, const std::string& phase);

  std::vector<Phase> phases_;
};

} // namespace ainvil
