// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Lanes: those of a thread of a team, which work on one row or one small dense problem together,
/// those of a warp's matrix unit, and those of a host's vector register. What the lanes of a thread
/// have written the others see after joinLanes() and after the loop of forLanes(); a reduction, a
/// scan and Kokkos::single join nothing.
///
/// A group of lanes, all of a thread or of a team or one core of a host, has for one source:
///   group.forEach(n, f)  calls f(0) .. f(n - 1), spread over the lanes, and joins them at its end;
///   group.join()         after it every lane sees what every other has written;
///   group.lanes          how many there are.

#include "backend/Ainvil_KokkosCompat.hpp"

namespace ainvil {
namespace compat {

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
    friend Type operator*(const Type& a, Type b) {
      for (std::size_t i = 0; i < simd_bytes / sizeof(T); ++i)
        b.value[i] *= a.value[i];
      return b;
    }
    Type& operator+=(const Type& b) {
      for (std::size_t i = 0; i < simd_bytes / sizeof(T); ++i)
        value[i] += b.value[i];
      return *this;
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

/// Two numbers with arithmetic entry by entry, in a vector register of a host; in functions that
/// are compiled for GPUs, too, whose compilers refuse such registers.
#if defined(__GNUC__) && !defined(__NVCOMPILER) && !defined(__CUDACC__) && !defined(__HIPCC__)
template <class T>
struct PairOf {
  typedef T Type __attribute__((vector_size(2 * sizeof(T)))); ///< the pair
};
#else
template <class T>
struct PairOf {
  struct Type {
    T value[2];

    KOKKOS_INLINE_FUNCTION T operator[](int i) const { return value[i]; }
    KOKKOS_INLINE_FUNCTION friend Type operator*(const Type& a, const Type& b) {
      return {a.value[0] * b.value[0], a.value[1] * b.value[1]};
    }
    KOKKOS_INLINE_FUNCTION Type& operator-=(const Type& b) {
      value[0] -= b.value[0];
      value[1] -= b.value[1];
      return *this;
    }
  };
};
#endif
/// The pair of PairOf.
template <class T>
using Pair = typename PairOf<T>::Type;

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

} // namespace compat

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define AINVIL_PRAGMA(text) _Pragma(#text)
/// The loop behind it is unrolled n times on GPUs. Defined in this file only.
#define AINVIL_UNROLL(n) AINVIL_PRAGMA(unroll n)
/// The same for a loop of constant length, as a whole. For loops that join lanes and end early: as
/// a function that returns whether to go on nvcc 13 takes all lanes to the end of every round, and
/// the batched Cholesky up to 19 % longer for it. Others are unrolled().
#define AINVIL_UNROLLED_LOOP _Pragma("unroll")
#else
/// The loop behind it is unrolled n times on GPUs, and left to the compiler here.
#define AINVIL_UNROLL(n)
/// A loop of constant length is unrolled as a whole on GPUs, and left to the compiler here.
#define AINVIL_UNROLLED_LOOP
#endif

/// The loop behind it is compiled to vector instructions as it stands, though its iterations may
/// store: none reads what another one writes. GCC unrolls short loops whole before it looks for
/// vectors, and then finds few.
#if defined(__GNUC__) && !defined(__clang__) && !defined(KOKKOS_ENABLE_CUDA)
#define AINVIL_VECTOR_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define AINVIL_VECTOR_LOOP
#endif

/// Calls f(0) .. f(N - 1) one after the other. GPUs unroll the loop whole, because an array indexed
/// by its counter lives in registers only then; compilers for hosts decide.
template <int N, class F>
KOKKOS_FORCEINLINE_FUNCTION void unrolled(const F& f) {
  AINVIL_UNROLL(N)
  for (int i = 0; i < N; ++i)
    f(i);
}

/// The same, as long as f returns true. Not for f that joins lanes: see AINVIL_UNROLLED_LOOP.
template <int N, class F>
KOKKOS_FORCEINLINE_FUNCTION void unrolledWhile(const F& f) {
  AINVIL_UNROLL(N)
  for (int i = 0; i < N; ++i)
    if (!f(i))
      break;
}

/// Calls f(i) for i = begin, begin + step, ... below end, N of them without a jump on GPUs, which
/// then issue the loads of these before they wait for the first.
template <int N, class Index, class F>
KOKKOS_FORCEINLINE_FUNCTION void unrolledBy(Index begin, Index end, Index step, const F& f) {
  AINVIL_UNROLL(N)
  for (Index i = begin; i < end; i += step)
    f(i);
}
#undef AINVIL_UNROLL
#undef AINVIL_PRAGMA

namespace detail {

/// Every lane of the thread sees what the others have written before. On CUDA a loop ends with a
/// barrier of the thread's part of the warp, be it an empty loop. The lanes of HIP's wavefronts run
/// in lock step and their loops end with nothing: here the compiler may move no access across.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void joinLanes([[maybe_unused]] const Member& member) {
#if defined(__CUDA_ARCH__)
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, 0), [](int) {});
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#endif
}

/// Calls f(i) for begin <= i < end, spread over the lanes of the thread, and joins them.
template <class Member, class Index, class F>
KOKKOS_FORCEINLINE_FUNCTION void forLanes(const Member& member, Index begin, Index end,
                                          const F& f) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, begin, end), f);
#if defined(__HIP_DEVICE_COMPILE__)
  joinLanes(member);
#endif
}

/// The same for 0 <= i < n.
template <class Member, class Index, class F>
KOKKOS_FORCEINLINE_FUNCTION void forLanes(const Member& member, Index n, const F& f) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, n), f);
#if defined(__HIP_DEVICE_COMPILE__)
  joinLanes(member);
#endif
}

/// The vector lanes of one thread of a team.
template <class Member>
struct ThreadLanes {
  const Member& member;
  int lanes;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    forLanes(member, n, f);
  }
  KOKKOS_INLINE_FUNCTION void join() const { joinLanes(member); }
};

/// All lanes of all threads of a team.
template <class Member>
struct TeamLanes {
  const Member& member;
  int lanes;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, n), f);
    member.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION void join() const { member.team_barrier(); }
};

/// A thread on its own.
struct OneLane {
  static constexpr int lanes = 1;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    for (int i = 0; i < n; ++i)
      f(i);
  }
  KOKKOS_INLINE_FUNCTION void join() const {}
};

/// to[e] = from[e] for e < count: neighbouring lanes take neighbouring entries, and each lane has
/// several loads under way before it waits for the first.
template <class Group, class Scalar>
KOKKOS_INLINE_FUNCTION void copyEntries(const Group& group, int count, const Scalar* from,
                                        Scalar* to) {
  constexpr int batch = 8;
  const int step = group.lanes;
  const int batches = (count + batch * step - 1) / (batch * step);
  group.forEach(batches * step, [&](const int t) {
    const int first = t / step * step * batch + t % step;
    Scalar value[batch];
    unrolled<batch>(
        [&](int v) { value[v] = first + v * step < count ? from[first + v * step] : Scalar(0); });
    unrolled<batch>([&](int v) {
      if (first + v * step < count)
        to[first + v * step] = value[v];
    });
  });
}

/// Which of its thread's `Lanes` vector lanes runs this code. For GPUs, where what stands outside
/// of nested loops is run by all lanes, each with variables of its own.
template <int Lanes, class Member>
KOKKOS_INLINE_FUNCTION int laneOf(const Member& member) {
  int lane = 0;
  forLanes(member, Lanes, [&](const int i) { lane = i; });
  return lane;
}

} // namespace detail
} // namespace ainvil
