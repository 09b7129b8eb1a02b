// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows that share a launch.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// Rows that need about as much scratch memory, see rowClasses().
template <class Device>
struct RowClass {
  Kokkos::View<const Ordinal*, Device> rows; ///< ascending; empty: all rows
  Ordinal num_rows = 0;
  Offset bytes = 0; ///< that suffice for each of them
};

} // namespace detail
} // namespace ainvil
