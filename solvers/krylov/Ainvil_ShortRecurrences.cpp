// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_ShortRecurrences.hpp"

namespace ainvil {

template <class Scalar, class Device>
ShortRecurrences<Scalar, Device>::ShortRecurrences(SolverOptions options, const char* name,
                                                   const char* label, int num_sums,
                                                   const char* why_fixed)
    : Base(std::move(options), name, why_fixed), label_(label), num_sums_(num_sums) {}

template <class Scalar, class Device>
auto ShortRecurrences<Scalar, Device>::vectors(const execution_space& exec, const char* name,
                                               Offset n) const -> Vectors {
  return allocateView<Vectors>(exec, label_ + "::" + name, size_t(n), size_t(this->capacity_));
}

template <class Scalar, class Device>
void ShortRecurrences<Scalar, Device>::allocate(const execution_space& exec, Offset n,
                                                bool preconditioned) {
  allocateVectors(exec, n, preconditioned);
  sums_ = detail::PartialSums<Device>(exec, num_sums_, this->shape_, this->reduction(),
                                      this->capacity_);
  recurrence_ =
      detail::DeviceRecurrence<Device>(exec, label_ + "::state", this->options_, this->capacity_);
}

template <class Scalar, class Device>
void ShortRecurrences<Scalar, Device>::run(const System& system, const Columns& columns,
                                           SolveResult* results, Stop* stops) {
  const bool fewest = this->options_.reductions != Reductions::Usual;
  if (!system.resumes) {
    recurrence_.start(system.exec, this->options_, system.targets, columns, results);
    begin(system, columns);
    if (fewest)
      open(system, columns, -1, TakesNorm::Yes);
  }
  const auto iterate = [&](int slot, const Columns& running) {
    if (fewest) {
      close(system, running, slot, TakesNorm::No);
      open(system, running, slot, TakesNorm::Yes);
    } else {
      open(system, running, slot, TakesNorm::No);
      close(system, running, slot, TakesNorm::Yes);
    }
  };
  const auto ends = recurrence_.run(
      system.exec, this->options_, system.targets, columns, system.resumes, results, iterate,
      [&](const Columns& looked) { return this->goesOn(system, looked, results); });
  for (const int c : columns)
    if (ends[c] == detail::NotFinite)
      stops[c] = Base::notFinite();
    else if (ends[c] >= detail::FirstBreakdown)
      stops[c] = breakdown(ends[c]);
}

AINVIL_INSTANTIATE_CLASS(ShortRecurrences)

} // namespace ainvil
