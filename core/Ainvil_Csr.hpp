// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Matrices over arrays on the host, such as std::vector.

#include "Ainvil_GraphAlgebra.hpp"

#include <string>
#include <type_traits>

namespace ainvil {
namespace detail {

/// An array of the host as one of To on the device: itself where the device has that memory and the
/// type is To, else a copy. \throws InvalidArgument naming the array if an index does not fit To
template <class To, class Device, class Array>
Kokkos::View<To*, Device> fromHostArray(const char* name, Array& array) {
  using From = std::remove_reference_t<decltype(*array.data())>;
  constexpr bool on_host = std::is_same<typename Device::memory_space, Kokkos::HostSpace>::value;
  if constexpr (on_host && std::is_convertible<From*, To*>::value) {
    return Kokkos::View<To*, Device>(array.data(), array.size());
  } else {
    const typename Device::execution_space exec;
    const auto copy = allocate<std::remove_const_t<To>, Device>(
        exec, std::string("Ainvil::") + name, array.size());
    const auto host = hostMirror(copy);
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto value = array.data()[i];
      host(i) = static_cast<To>(value);
      if constexpr (std::is_integral<To>::value)
        if (static_cast<std::remove_const_t<From>>(host(i)) != value ||
            (host(i) > 0) != (value > 0))
          throw InvalidArgument(message(name, "[", i, "] = ", value, " is out of range"));
    }
    Kokkos::deep_copy(exec, copy, host);
    compat::fence(exec, "Ainvil::csr");
    return copy;
  }
}

} // namespace detail

/// A square matrix of n block rows over arrays on the host: row_map has n + 1 offsets from 0,
/// `entries` the block columns from 0, `values` the blocks, row-major, in the order of the entries;
/// with block size 1 this is CSR. The arrays are anything with data() and size(), integers of any
/// width; Scalar is double or float.
///
/// On a host device `entries` of int and `values` that are not const are shared, and must live as
/// long as the matrix and what was computed from it; the row map is copied unless it holds
/// ainvil::Offset. A GPU gets copies of all. Waits for the default instance.
/// \throws InvalidArgument if the arrays do not fit together, see validate(); OutOfMemory
template <class Device = DefaultDevice, class RowMap, class Entries, class Values>
BsrMatrix<std::remove_const_t<typename Values::value_type>, Device>
csr(Ordinal n, const RowMap& row_map, const Entries& entries, Values& values, int block_size = 1) {
  using Scalar = std::remove_const_t<typename Values::value_type>;
  const Graph<Device> graph(n, n, detail::fromHostArray<const Offset, Device>("row_map", row_map),
                            detail::fromHostArray<const Ordinal, Device>("entries", entries));
  validate(typename Device::execution_space(), graph);
  return {graph, detail::fromHostArray<Scalar, Device>("values", values), block_size};
}

} // namespace ainvil
