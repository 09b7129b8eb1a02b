// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The one place that knows versions and backends: Kokkos 3.4.01 up to the current release look the
/// same from here on, and a backend is described by traits instead of preprocessor tests.

#include <Kokkos_Core.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

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

/// An instance besides the default one: a stream of its own on GPUs. The default one where Kokkos
/// is older than 4.
template <class Exec>
Exec newInstance() {
#if KOKKOS_VERSION < 40000
  return Exec();
#else
  return Kokkos::Experimental::partition_space(Exec(), 1)[0];
#endif
}

/// True if the calling thread may launch kernels. OpenMP of Kokkos before 4 takes them from the one
/// that initialised it only, outside of parallel regions.
template <class Exec>
bool mayLaunch() {
#if KOKKOS_VERSION < 40000 && defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same<Exec, Kokkos::OpenMP>::value)
    return Kokkos::OpenMP::impl_is_initialized();
#endif
  return true;
}

/// Reads a value that another thread may be writing, straight from memory. On a host what the other
/// thread wrote before volatileStore() or an atomic operation is then visible too.
template <class T>
KOKKOS_INLINE_FUNCTION T volatileLoad(const T* pointer) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return *static_cast<const volatile T*>(pointer);
#else
  T value;
  __atomic_load(pointer, &value, __ATOMIC_ACQUIRE);
  return value;
#endif
}

/// Writes a value that another thread may be reading, or writing too, straight to memory.
template <class T>
KOKKOS_INLINE_FUNCTION void volatileStore(T* pointer, T value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  *static_cast<volatile T*>(pointer) = value;
#else
  __atomic_store(pointer, &value, __ATOMIC_RELEASE);
#endif
}

/// Reads a flag; what its writer wrote before storeRelease() is then visible to the caller, and,
/// once lanes or threads have been joined, to these.
KOKKOS_INLINE_FUNCTION unsigned loadAcquire(const unsigned* flag) {
#if defined(__CUDA_ARCH__)
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
#elif defined(__HIP_DEVICE_COMPILE__)
  const unsigned value = volatileLoad(flag);
  Kokkos::memory_fence();
  return value;
#else
  return volatileLoad(flag);
#endif
}

/// Raises a flag after everything that the caller has written, and that has been joined before.
KOKKOS_INLINE_FUNCTION void storeRelease(unsigned* flag, unsigned value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  Kokkos::memory_fence();
  volatileStore(flag, value);
#else
  volatileStore(flag, value);
#endif
}

/// True where consecutive team ranks are dispatched in order and a waiting team does not starve the
/// teams it waits for, so that a kernel may spin on results of lower ranks.
template <class Exec>
struct TeamsStartInOrder {
  static constexpr bool value = false; ///< the answer
};

/// True where many lanes run in lock step and a row is worth a warp.
template <class Exec>
struct IsGpu {
  static constexpr bool value = false; ///< the answer
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

/// Names the queue in which the kernels of an instance run one after the other: two instances with
/// the same queue never run at the same time. 0 on hosts, whose launches return when the kernel has
/// run.
template <class Exec>
std::uintptr_t queueOf(const Exec&) {
  return 0;
}
#if defined(KOKKOS_ENABLE_CUDA)
inline std::uintptr_t queueOf(const Kokkos::Cuda& exec) {
  return reinterpret_cast<std::uintptr_t>(exec.cuda_stream());
}
#endif
#if defined(KOKKOS_ENABLE_HIP)
inline std::uintptr_t queueOf(const Hip& exec) {
  return reinterpret_cast<std::uintptr_t>(exec.hip_stream());
}
#endif

/// Bytes of the vector registers that host code is compiled for.
#if defined(__AVX512F__)
constexpr int simd_bytes = 64;
#elif defined(__AVX__)
constexpr int simd_bytes = 32;
#else
constexpr int simd_bytes = 16;
#endif

/// As many numbers as fill a vector register of a host, with arithmetic entry by entry; a scalar
/// operand stands for a vector of it. Compilers keep arrays of these in registers where they would
/// keep arrays of numbers in memory.
#if defined(__GNUC__) && !defined(__NVCOMPILER)
template <class T>
struct SimdOf {
  typedef T Type __attribute__((vector_size(simd_bytes), may_alias)); ///< the vector
};
#else
template <class T>
struct SimdOf {
  struct Type {
    T value[simd_bytes / sizeof(T)];

    friend Type operator*(T a, Type b) {
      for (T& v : b.value)
        v *= a;
      return b;
    }
    Type& operator-=(const Type& b) {
      for (std::size_t i = 0; i < simd_bytes / sizeof(T); ++i)
        value[i] -= b.value[i];
      return *this;
    }
  };
};
#endif
/// The vector of SimdOf.
template <class T>
using Simd = typename SimdOf<T>::Type;

/// C += A B by the matrix unit of a GPU, for A of 8 x 4 and B of 4 x 8 entries spread over the 32
/// lanes of a warp: lane l holds A(l / 4, l % 4), B(l % 4, l / 4) and C(l / 4, 2 (l % 4) + h) for
/// h = 0, 1. `exists` where the unit works in full precision.
template <class T>
struct MatrixUnit {
  static constexpr bool exists = false; ///< whether multiplyAdd() does anything
  /// The calling lane's entries of A, B and, both, C.
  KOKKOS_INLINE_FUNCTION static void multiplyAdd(T, T, T (&)[2]) {}
};
#if defined(KOKKOS_ARCH_AMPERE80) || defined(KOKKOS_ARCH_HOPPER90)
template <>
struct MatrixUnit<double> {
  static constexpr bool exists = true;
  KOKKOS_INLINE_FUNCTION static void multiplyAdd([[maybe_unused]] double a,
                                                 [[maybe_unused]] double b,
                                                 [[maybe_unused]] double (&c)[2]) {
#if defined(__CUDA_ARCH__)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
#endif
  }
};
#endif

/// Bytes of fast scratch memory that a team of `team_size` threads may ask for, `teams` of which
/// share a multiprocessor. Kokkos itself tells what the largest team there is leaves.
template <class Policy>
int teamScratchBytes([[maybe_unused]] int team_size, [[maybe_unused]] int teams) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<typename Policy::execution_space, Kokkos::Cuda>::value) {
    const auto& device = Kokkos::Cuda().cuda_device_prop();
    // Kokkos keeps a double a thread there, and a few, for reductions over the team; CUDA itself
    // takes 1 KiB a team from compute capability 8.0 on.
    const int taken = (team_size + 4) * int(sizeof(double)), taken_by_system = 1024;
    return std::min(int(device.sharedMemPerBlock),
                    int(device.sharedMemPerMultiprocessor) / teams - taken_by_system) -
           taken;
  }
#endif
  return Policy::scratch_size_max(0);
}

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

/// Bytes that a host fetches together.
constexpr std::ptrdiff_t cache_line = 64;
/// How far ahead, in bytes, a host loop prefetches what it reads in order: a page, because the
/// prefetcher of the hardware stops at the end of one.
constexpr std::ptrdiff_t prefetch_distance = 4096;

/// Asks a host's caches for `bytes` bytes from `ahead` bytes beyond `data` on, but no more than
/// prefetch_distance of them. There may be nothing. GPUs do nothing.
KOKKOS_INLINE_FUNCTION void prefetch([[maybe_unused]] const void* data,
                                     [[maybe_unused]] std::ptrdiff_t ahead,
                                     [[maybe_unused]] std::ptrdiff_t bytes) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) + ahead;
  for (std::ptrdiff_t b = 0; b < bytes && b < prefetch_distance; b += cache_line)
    __builtin_prefetch(reinterpret_cast<const void*>(first + b));
#endif
}

/// Version of the Kokkos this was compiled with, as "4.6.1".
inline std::string kokkosVersion() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

} // namespace compat

/// Where Kokkos runs by default: the GPU if it was built for one.
using DefaultDevice = Kokkos::DefaultExecutionSpace::device_type;
/// Kokkos' default space on the host.
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
