// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sorting rows by the scratch memory that they need.

#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_RowClass.hpp"

#include <climits>
#include <vector>

namespace ainvil {
namespace detail {

/// Rows with bytes(i) up to first_class share a launch, those with up to class_growth times as many
/// the next one, and so on: no row pays for one much longer than itself. `most` is the largest
/// bytes(i). Waits where there are several classes.
template <class Device, class Bytes>
std::vector<RowClass<Device>> rowClasses(const typename Device::execution_space& exec, Ordinal n,
                                         const Bytes& bytes, Offset most) {
  // With 1 KiB a row all 64 warps of a multiprocessor find room in its scratch memory; 4 is an
  // estimate: more launches with less, more idle memory with more.
  constexpr Offset first_class = 1024, class_growth = 4;
  if (most <= first_class)
    return {{{}, n, most}};
  std::vector<RowClass<Device>> classes;
  const auto members = allocate<Ordinal, Device>(exec, "Ainvil::rows", n);
  Ordinal begin = 0;
  for (Offset below = -1, limit = first_class; below < most; below = limit, limit *= class_growth) {
    const Ordinal end = selectSizes(exec, n, bytes, below, limit, begin, members);
    if (end > begin)
      classes.push_back({Kokkos::subview(members, std::make_pair(begin, end)), end - begin,
                         limit < most ? limit : most});
    begin = end;
  }
  return classes;
}

/// The same, `most` being found. Waits.
template <class Device, class Bytes>
std::vector<RowClass<Device>> rowClasses(const typename Device::execution_space& exec, Ordinal n,
                                         const Bytes& bytes) {
  return rowClasses<Device>(exec, n, bytes, largestSize(exec, n, bytes, LLONG_MAX));
}

} // namespace detail
} // namespace ainvil
