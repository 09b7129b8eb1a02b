// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What differs between versions of Kokkos: 3.4.01 up to the current release look the same from
/// here on, and a backend is described by traits instead of preprocessor tests. Lanes, and memory
/// that threads share during a kernel, have headers of their own beside this one.

#include <Kokkos_Core.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#if defined(KOKKOS_ENABLE_SYCL)
static_assert(false, "Ainvil does not support SYCL: take Kokkos with CUDA, HIP or a host backend.");
#endif
#if defined(__CUDA_ARCH__)
static_assert(__CUDA_ARCH__ >= 700,
              "Ainvil needs CUDA GPUs from compute capability 7.0 on: before, "
              "the lanes of a warp cannot wait for each other.");
#endif

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

/// The number of zeros below the lowest bit of a word that is not zero.
inline int trailingZeros(std::uint64_t word) {
#if defined(__GNUC__)
  return __builtin_ctzll(word);
#else
  int zeros = 0;
  for (; !(word & 1); word >>= 1)
    ++zeros;
  return zeros;
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

/// Whether there are instances besides the default one. Not in a Kokkos older than 4.
constexpr bool has_instances = KOKKOS_VERSION >= 40000;

/// An instance besides the default one, if there are any: a stream of its own on GPUs.
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

/// True where many lanes run in lock step and a row is worth a warp.
template <class Exec>
struct IsGpu {
  static constexpr bool value = false; ///< the answer
};

#if defined(KOKKOS_ENABLE_CUDA)
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

/// Memory of the host that kernels of Exec read and write where it stands: pinned, for GPUs.
template <class Exec>
struct HostPinned {
  using Space = Kokkos::HostSpace; ///< the memory
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct HostPinned<Kokkos::Cuda> {
  using Space = Kokkos::CudaHostPinnedSpace;
};
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
struct HostPinned<Hip> {
#if KOKKOS_VERSION < 40000
  using Space = Kokkos::Experimental::HIPHostPinnedSpace;
#else
  using Space = Kokkos::HIPHostPinnedSpace;
#endif
};
#endif

/// The same for arrays that kernels of Exec and the host share.
template <class Exec>
using PinnedDevice = Kokkos::Device<Exec, typename HostPinned<Exec>::Space>;

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

/// A place in the queue of an instance, which the host can wait for while what is launched behind
/// it runs. Where there is no such thing record() waits.
template <class Exec>
class QueueMarker {
public:
  void record(const Exec& exec) { exec.fence(); } ///< the place behind what has been launched
  void wait() const {}                            ///< until the queue has come there
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
class QueueMarker<Kokkos::Cuda> {
public:
  void record(const Kokkos::Cuda& exec) {
    if (event_ == nullptr) {
      cudaEvent_t event;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      event_ = {event, cudaEventDestroy};
    }
    check(cudaEventRecord(event_.get(), exec.cuda_stream()));
  }
  void wait() const {
    if (event_ != nullptr)
      check(cudaEventSynchronize(event_.get()));
  }

private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess)
      throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
  }

  std::shared_ptr<std::remove_pointer_t<cudaEvent_t>> event_;
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

/// Bytes that a host fetches together.
constexpr std::ptrdiff_t cache_line = 64;
/// Asks a host's caches for the line with this address, where there may be nothing. GPUs do
/// nothing.
KOKKOS_FORCEINLINE_FUNCTION void prefetchLine([[maybe_unused]] std::uintptr_t address) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  __builtin_prefetch(reinterpret_cast<const void*>(address));
#endif
}

/// What a thread of a host does between two looks at a flag: a processor that is told so lets the
/// others have the caches, and the other thread of its core the core.
inline void pause() {
#if defined(__GNUC__) && defined(__x86_64__)
  asm volatile("pause");
#elif defined(__GNUC__) && defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Version of the Kokkos this was compiled with, as "4.6.1".
inline std::string kokkosVersion() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

/// Kokkos::initialize() without its warnings of threads and ranks, on the GPU of this number unless
/// it is negative: Kokkos chooses then.
inline void initializeQuietly(int gpu = -1) {
#if KOKKOS_VERSION < 30700
  Kokkos::InitArguments settings;
  settings.disable_warnings = true;
  settings.device_id = gpu;
#else
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (gpu >= 0)
    settings.set_device_id(gpu);
#endif
  Kokkos::initialize(settings);
}

/// Where Kokkos allocates from CUDA's pool, memory that is freed stays there for the next set-up;
/// by default CUDA gives it back whenever the host waits.
inline void keepFreedMemory() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOS_ENABLE_IMPL_CUDA_MALLOC_ASYNC)
  cudaMemPool_t pool;
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  if (cudaDeviceGetDefaultMemPool(&pool, Kokkos::Cuda().cuda_device()) == cudaSuccess)
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
#endif
}

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

} // namespace compat

/// Where Kokkos runs by default: the GPU if it was built for one.
using DefaultDevice = Kokkos::DefaultExecutionSpace::device_type;
/// Kokkos' default space on the host.
using HostDevice = Kokkos::DefaultHostExecutionSpace::device_type;

} // namespace ainvil

/// EACH(WHAT, DEVICE) for every device that the library is instantiated for: the default one, and
/// the host where that is another.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define AINVIL_ON_EACH_DEVICE(EACH, WHAT)                                                          \
  EACH(WHAT, ::ainvil::DefaultDevice)                                                              \
  EACH(WHAT, ::ainvil::HostDevice)
#else
#define AINVIL_ON_EACH_DEVICE(EACH, WHAT) EACH(WHAT, ::ainvil::DefaultDevice)
#endif

/// For one device: the macro itself.
#define AINVIL_APPLY(MACRO, DEVICE) MACRO(DEVICE)
/// For one device: MACRO with each precision of the vectors.
#define AINVIL_APPLY_SCALARS(MACRO, DEVICE)                                                        \
  MACRO(double, DEVICE)                                                                            \
  MACRO(float, DEVICE)
/// For one device: MACRO with each precision of the vectors and each in which a matrix is stored.
#define AINVIL_APPLY_STORED(MACRO, DEVICE)                                                         \
  MACRO(double, double, DEVICE)                                                                    \
  MACRO(float, double, DEVICE)                                                                     \
  MACRO(BFloat16, double, DEVICE)                                                                  \
  MACRO(float, float, DEVICE)                                                                      \
  MACRO(BFloat16, float, DEVICE)
/// For one device: instantiates CLASS with each precision of the vectors.
#define AINVIL_INSTANTIATE_SCALARS(CLASS, DEVICE)                                                  \
  template class CLASS<double, DEVICE>;                                                            \
  template class CLASS<float, DEVICE>;

/// MACRO(DEVICE) for all that the library is instantiated for.
#define AINVIL_FOR_EACH_DEVICE(MACRO) AINVIL_ON_EACH_DEVICE(AINVIL_APPLY, MACRO)
/// MACRO(SCALAR, DEVICE) likewise.
#define AINVIL_FOR_EACH_TYPE(MACRO) AINVIL_ON_EACH_DEVICE(AINVIL_APPLY_SCALARS, MACRO)
/// MACRO(STORED, SCALAR, DEVICE) likewise, with the precisions in which matrices may be stored.
#define AINVIL_FOR_EACH_STORED_TYPE(MACRO) AINVIL_ON_EACH_DEVICE(AINVIL_APPLY_STORED, MACRO)
/// Instantiates CLASS<Scalar, Device> for all of these.
#define AINVIL_INSTANTIATE_CLASS(CLASS) AINVIL_ON_EACH_DEVICE(AINVIL_INSTANTIATE_SCALARS, CLASS)
