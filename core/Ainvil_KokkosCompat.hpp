// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The one place that knows versions and backends: Kokkos 3.4.01 up to the current release look the
/// same from here on, and a backend is described by traits instead of preprocessor tests.

#include <Kokkos_Core.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <string>

namespace ainvil {
namespace compat {

#if KOKKOS_VERSION < 30700
namespace math = Kokkos::Experimental;
#else
namespace math = Kokkos;
#endif

/// x^-1/2. Where Kokkos has it, one instruction sequence instead of a square root and a division.
template <class T>
KOKKOS_INLINE_FUNCTION T rsqrt(T x) {
#if KOKKOS_VERSION < 40600
  return T(1) / math::sqrt(x);
#else
  return Kokkos::rsqrt(x);
#endif
}

/// Waits for everything enqueued on the instance. Kokkos before 3.6 takes no label.
template <class Exec>
void fence(const Exec& exec, [[maybe_unused]] const std::string& label) {
#if KOKKOS_VERSION < 30600
  exec.fence();
#else
  exec.fence(label);
#endif
}

/// Reads a value that another thread may be writing, straight from memory.
template <class T>
KOKKOS_INLINE_FUNCTION T volatileLoad(const T* pointer) {
  return *static_cast<const volatile T*>(pointer);
}

/// Writes a value that another thread may be reading, straight to memory.
template <class T>
KOKKOS_INLINE_FUNCTION void volatileStore(T* pointer, T value) {
  *static_cast<volatile T*>(pointer) = value;
}

/// True where consecutive team ranks are dispatched in order and a waiting team does not starve the
/// teams it waits for, so that a kernel may spin on results of lower ranks.
template <class Exec>
struct TeamsStartInOrder {
  static constexpr bool value = false;
};

/// True where many lanes run in lock step and a row is worth a warp.
template <class Exec>
struct IsGpu {
  static constexpr bool value = false;
};

#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct TeamsStartInOrder<Kokkos::Cuda> {
  static constexpr bool value = true;
};
template <>
struct IsGpu<Kokkos::Cuda> {
  static constexpr bool value = true;
};
#endif
#if defined(KOKKOS_ENABLE_HIP)
#if KOKKOS_VERSION < 40000
using Hip = Kokkos::Experimental::HIP;
#else
using Hip = Kokkos::HIP;
#endif
template <>
struct IsGpu<Hip> {
  static constexpr bool value = true;
};
#endif

/// A name for reports: the device's own where the backend tells it, else empty.
template <class Exec>
std::string deviceName(const Exec&) {
  return {};
}
#if defined(KOKKOS_ENABLE_CUDA)
inline std::string deviceName(const Kokkos::Cuda& exec) {
  return exec.cuda_device_prop().name;
}
#endif

/// Version of the Kokkos this was compiled with, as "4.6.1".
inline std::string kokkosVersion() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

} // namespace compat

using DefaultDevice = Kokkos::DefaultExecutionSpace::device_type;
using HostDevice = Kokkos::DefaultHostExecutionSpace::device_type;

} // namespace ainvil

/// Stands before a loop whose iterations are independent loads: on GPUs the compiler then issues
/// the loads of n iterations before it waits for the first.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define AINVIL_PRAGMA(text) _Pragma(#text)
#define AINVIL_UNROLL_LOADS(n) AINVIL_PRAGMA(unroll n)
#else
#define AINVIL_UNROLL_LOADS(n)
#endif

/// Stands before a loop of constant length that GPUs must unroll whole, because an array indexed by
/// its counter lives in registers only then.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define AINVIL_UNROLL _Pragma("unroll")
#else
#define AINVIL_UNROLL
#endif

/// Applies a macro to every device the library is instantiated for: the default one, and the host
/// where that is another.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
#define AINVIL_FOR_EACH_DEVICE(MACRO)                                                              \
  MACRO(::ainvil::DefaultDevice)                                                                   \
  MACRO(::ainvil::HostDevice)
#else
#define AINVIL_FOR_EACH_DEVICE(MACRO) MACRO(::ainvil::DefaultDevice)
#endif
