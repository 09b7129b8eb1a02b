// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Several arrays in one allocation, and several numbers in one wait: on a GPU each takes longer
/// than many a kernel.

#include "backend/Ainvil_Allocation.hpp"

#include <array>
#include <initializer_list>

namespace ainvil {

/// Arrays of so many elements, not initialised, in one allocation on the instance, which is freed
/// with the last of them: for arrays that go together. Each begins at a multiple of 256 bytes, as
/// an allocation of its own does on a GPU. \throws OutOfMemory
template <class T, class Device, class... Sizes>
std::array<Kokkos::View<T*, Device>, sizeof...(Sizes)>
allocateTogether(const typename Device::execution_space& exec, const std::string& label,
                 Sizes... sizes) {
  constexpr std::size_t step = 256 / sizeof(T);
  static_assert(step * sizeof(T) == 256, "elements have to fill 256 bytes");
  std::array<std::size_t, sizeof...(Sizes)> begins{};
  std::size_t end = 0, part = 0;
  for (const std::size_t size : {std::size_t(sizes)...}) {
    begins[part] = (end + step - 1) / step * step;
    detail::arrayBytes(label, size, sizeof(T)); // throws before sums leave their range
    end = begins[part++] + size;
    detail::arrayBytes(label, end, sizeof(T));
  }
  const auto all = allocate<T, Device>(exec, label, end);
  part = 0;
  const auto next = [&](std::size_t size) -> Kokkos::View<T*, Device> {
    const std::size_t begin = begins[part++];
    return Kokkos::subview(all, std::make_pair(begin, begin + size));
  };
  return {next(std::size_t(sizes))...}; // braces: from left to right
}

namespace detail {

/// The first N elements of an array on the host. Waits for the instance.
template <std::size_t N, class T, class Device>
std::array<T, N> readBackFirst(const typename Device::execution_space& exec,
                               const Kokkos::View<T*, Device>& array) {
  std::array<T, N> values{};
  const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), N);
  Kokkos::deep_copy(exec, host, Kokkos::subview(array, std::make_pair(std::size_t(0), N)));
  compat::fence(exec, "Ainvil::readBackFirst");
  return values;
}

} // namespace detail
} // namespace ainvil
