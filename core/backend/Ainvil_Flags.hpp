// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Memory that threads share while a kernel runs: plain reads and writes of it, flags with acquire
/// and release, numbers that are their own flags, and tickets, by which a team knows that those it
/// waits for have started.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstring>
#include <type_traits>

namespace ainvil {
namespace compat {

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
/// once lanes or threads have been joined, to these. PTX on CUDA, for all versions of Kokkos: the
/// load and the store that it has with an order (desul's, up to 4.6 at least) compare and exchange
/// in a loop, and Kokkos 3.4 has none.
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

/// Adds one to a counter after everything that the caller has written, and that has been joined
/// before; who reads the sum by loadAcquire() sees what all who added have written. The instruction
/// is the one that desul's atomic_add makes, where Kokkos has it.
KOKKOS_INLINE_FUNCTION void addRelease(unsigned* counter) {
#if defined(__CUDA_ARCH__)
  asm volatile("red.release.gpu.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#else
  Kokkos::memory_fence();
  Kokkos::atomic_add(counter, 1U);
#endif
}

/// The bits of a number that is not there yet: a NaN that setValue() never writes.
template <class T>
struct UnsetBits {
  using Type = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>; ///< as many bits
  static_assert(sizeof(Type) == sizeof(T), "a number of 8 or 4 bytes");
  static constexpr Type value = ~Type(0); ///< all of them set
};

/// Marks a number as not there yet.
template <class T>
KOKKOS_INLINE_FUNCTION void markUnset(T* pointer) {
  constexpr auto bits = UnsetBits<T>::value;
  std::memcpy(pointer, &bits, sizeof(T));
}

/// Whether this is what markUnset() left.
template <class T>
KOKKOS_INLINE_FUNCTION bool isUnset(T value) {
  typename UnsetBits<T>::Type bits;
  std::memcpy(&bits, &value, sizeof(T));
  return bits == UnsetBits<T>::value;
}

/// Writes a number for which others may wait, straight to memory; another NaN in place of the one
/// that means that it is not there.
template <class T>
KOKKOS_INLINE_FUNCTION void setValue(T* pointer, T value) {
  constexpr auto other_nan = UnsetBits<T>::value >> 1; // without the sign
  if (isUnset(value))
    std::memcpy(&value, &other_nan, sizeof(T));
  volatileStore(pointer, value);
}

/// True where a team that runs keeps running while others wait for it, so that a kernel may spin on
/// what teams write that have started before. In which order a device starts teams is nobody's
/// promise: take a detail::Ticket.
template <class Exec>
struct TeamsMayWait {
  static constexpr bool value = false; ///< the answer
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct TeamsMayWait<Kokkos::Cuda> {
  static constexpr bool value = true;
};
#endif

} // namespace compat

namespace detail {

/// The place of a team in a launch by its rank, for teams that wait for nobody.
struct ByRank {
  template <class Member>
  KOKKOS_INLINE_FUNCTION int take(const Member& member) const {
    return member.league_rank();
  }
};

/// The ranks of teams in place of tickets: nothing is counted.
struct PlacesByRank {
  ByRank ofNextLaunch() const { return {}; } ///< for every team
  void launched(int) {}                      ///< nothing to count
};

/// The place of a team in a launch by the order in which teams start: a team with ticket t may wait
/// for those with tickets below t, which are running or have ended.
struct Ticket {
  unsigned* next; ///< of the teams of all launches so far
  unsigned first; ///< of this launch

  /// To be called by all lanes of a team, once. The same in all of them. Costs one atomic operation
  /// and the barriers of a broadcast over the team.
  template <class Member>
  KOKKOS_INLINE_FUNCTION int take(const Member& member) const {
    unsigned mine = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](unsigned& ticket) { ticket = Kokkos::atomic_fetch_add(next, 1U) - first; }, mine);
    return static_cast<int>(mine);
  }
};

/// Hands out the tickets of one launch after the other, each of which takes all of its own: what
/// counts them is never reset, wraps around, and is memory of the device. One launch at a time.
template <class Device>
class Tickets {
public:
  Tickets() = default;
  /// `counter` holds one zero.
  explicit Tickets(const Kokkos::View<unsigned*, Device>& counter) : counter_(counter) {}

  /// For all teams of it.
  Ticket ofNextLaunch() const { return {counter_.data(), taken_}; }
  /// To be called after the launch.
  void launched(int teams) { taken_ += static_cast<unsigned>(teams); }

private:
  Kokkos::View<unsigned*, Device> counter_;
  unsigned taken_ = 0;
};

} // namespace detail
} // namespace ainvil
