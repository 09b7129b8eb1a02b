// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The bandwidth that floors are reckoned with.

#include "Ainvil_BsrMatrix.hpp"
#include "program/Measure.hpp"

namespace ainvil {
namespace perf {

/// Bytes that a copy reads, as many as it writes: five times what the L2 cache of a large GPU
/// holds.
constexpr size_t copied_bytes = size_t(1) << 28;

/// Seconds of a copy of so many bytes on the device.
template <class Device>
double copySeconds(int repetitions) {
  const typename Device::execution_space exec;
  constexpr size_t length = copied_bytes / sizeof(double);
  const auto from = allocateZeros<double, Device>(exec, "Ainvil::perf", length);
  const auto to = allocateZeros<double, Device>(exec, "Ainvil::perf", length);
  return medianSeconds(exec, repetitions, [&] { Kokkos::deep_copy(exec, to, from); });
}

/// What a copy reads and writes a second.
template <class Device>
double copyBytesPerSecond(int repetitions) {
  return 2 * double(copied_bytes) / copySeconds<Device>(repetitions);
}

} // namespace perf
} // namespace ainvil
