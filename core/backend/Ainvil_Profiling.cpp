// SPDX-License-Identifier: BSD-3-Clause
#include "backend/Ainvil_Profiling.hpp"

namespace ainvil {

void PhaseTimes::set(const std::string& phase, double seconds) {
  for (Phase& p : phases_)
    if (p.first == phase) {
      p.second = seconds;
      return;
    }
  phases_.emplace_back(phase, seconds);
}

double PhaseTimes::total() const {
  double sum = 0;
  for (const Phase& p : phases_)
    sum += p.second;
  return sum;
}

std::string PhaseTimes::regionOf(const char* owner, const std::string& phase) {
  return std::string("Ainvil::") + owner + "[" + phase + "]";
}

} // namespace ainvil
