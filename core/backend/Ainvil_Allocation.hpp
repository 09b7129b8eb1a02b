// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The one place where arrays get their memory, and what is told when there is none.

#include "Ainvil_Error.hpp"
#include "Ainvil_Types.hpp"

#include <cstddef>
#include <string>
#include <type_traits>

namespace ainvil {
namespace detail {

/// If set, called with the label and the bytes of every array before it is allocated. Tests count
/// with it, or throw std::bad_alloc.
using AllocationHook = void (*)(const std::string& label, std::size_t bytes);
inline AllocationHook allocation_hook = nullptr; ///< for tests

[[noreturn]] void throwNoKokkos();

/// Everything that a user calls and that launches kernels begins with it, or with an allocation,
/// which does. \throws Error unless Kokkos has been initialised, has not been finalised, and takes
/// kernels of this execution space from the calling thread
template <class Exec>
void requireKokkos() {
  if (!Kokkos::is_initialized() || !compat::mayLaunch<Exec>())
    throwNoKokkos();
}

/// n * size. \throws OutOfMemory if there are no such numbers of bytes: n < 0 as size_t included
std::size_t arrayBytes(const std::string& label, std::size_t n, std::size_t size);

/// Throws the exception that is being handled: OutOfMemory with what could not be allocated if
/// Kokkos or the standard library have thrown it for lack of memory, else as it is.
[[noreturn]] void rethrowOutOfMemory(const std::string& label, std::size_t bytes,
                                     const char* memory);
/// The same where only the work is known, as "initialize()".
[[noreturn]] void rethrowOutOfMemory(const std::string& work);

/// Asks the operating system for large pages inside of an array on the host that nobody has touched
/// yet; does nothing where it knows none. A page costs a fault when first touched and a place in
/// the translation buffers: with pages of 4 KiB the faults of a set-up can take longer than its
/// kernels.
void adviseLargePages(void* data, std::size_t bytes) noexcept;

/// make(), which allocates an array of so many bytes. \throws OutOfMemory
template <class Memory, class Make>
auto allocating(const std::string& label, std::size_t bytes, const Make& make) {
  requireKokkos<typename Memory::execution_space>();
  try {
    if (allocation_hook != nullptr)
      allocation_hook(label, bytes);
    return make();
  } catch (...) {
    rethrowOutOfMemory(label, bytes, Memory::name());
  }
}

/// work(), which may need memory that is not allocated here: that of Kokkos' kernels, of the
/// standard library, of METIS. What is public and grows a container with the matrix runs in here.
/// \throws OutOfMemory
template <class Work>
auto reportingOutOfMemory(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (...) {
    rethrowOutOfMemory(name);
  }
}

} // namespace detail

/// A view of any rank, not initialised, allocated on the instance. \throws OutOfMemory
template <class View, class... Extents>
View allocateView(const typename View::execution_space& exec, const std::string& label,
                  Extents... extents) {
  std::size_t bytes = sizeof(typename View::value_type);
  for (const std::size_t extent : {std::size_t(1), std::size_t(extents)...})
    bytes = detail::arrayBytes(label, extent, bytes);
  View view = detail::allocating<typename View::memory_space>(label, bytes, [&] {
    return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), extents...);
  });
  if constexpr (std::is_same<typename View::memory_space, Kokkos::HostSpace>::value)
    detail::adviseLargePages(view.data(), bytes);
  return view;
}

/// An array of n elements, not initialised, allocated on the instance. \throws OutOfMemory
template <class T, class Device>
Kokkos::View<T*, Device> allocate(const typename Device::execution_space& exec,
                                  const std::string& label, std::size_t n) {
  return allocateView<Kokkos::View<T*, Device>>(exec, label, n);
}

/// An array of n zeros, allocated on the instance. \throws OutOfMemory
template <class T, class Device>
Kokkos::View<T*, Device> allocateZeros(const typename Device::execution_space& exec,
                                       const std::string& label, std::size_t n) {
  const std::size_t bytes = detail::arrayBytes(label, n, sizeof(T));
  return detail::allocating<typename Device::memory_space>(
      label, bytes, [&] { return Kokkos::View<T*, Device>(Kokkos::view_alloc(exec, label), n); });
}

/// The first n elements of an array.
template <class T, class Device>
Kokkos::View<T*, Device> firstOf(const Kokkos::View<T*, Device>& array, Offset n) {
  return Kokkos::subview(array, std::make_pair(Offset(0), n));
}

/// Room for n elements, and for `spare` more where that takes a new array; the old one is freed
/// first, and what it holds is lost. \throws OutOfMemory, and the array is empty then
template <class T, class Device>
void reserve(const typename Device::execution_space& exec, const std::string& label,
             Kokkos::View<T*, Device>& array, Offset n, Offset spare = 0) {
  if (Offset(array.extent(0)) >= n)
    return;
  array = {};
  array = allocate<T, Device>(exec, label, n + spare);
}

/// An array of the same size that the host can read and write: the array itself where it can, else
/// not initialised.
/// \throws OutOfMemory
template <class View>
typename View::HostMirror hostMirror(const View& view) {
  using Memory = typename View::HostMirror::memory_space;
  if constexpr (std::is_same<typename View::memory_space, Memory>::value)
    return view;
  else
    return detail::allocating<Memory>(
        view.label(), view.span() * sizeof(typename View::value_type), [&] {
          return typename View::HostMirror(
              Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), view.layout());
        });
}

/// The same array in the memory of another device; itself where the memory is the same. Waits for
/// everything. \throws OutOfMemory
template <class ToDevice, class View>
auto copyArray(const View& view, const std::string& label) {
  using Memory = typename ToDevice::memory_space;
  const auto copy = [&] { return Kokkos::create_mirror_view_and_copy(Memory(), view, label); };
  if constexpr (std::is_same<typename View::memory_space, Memory>::value)
    return copy();
  else
    return detail::allocating<Memory>(label, view.span() * sizeof(typename View::value_type), copy);
}

} // namespace ainvil
