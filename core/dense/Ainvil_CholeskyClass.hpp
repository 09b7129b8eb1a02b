// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A size class of a batch of matrices.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// The matrices members(begin) .. members(end - 1) of a batch.
template <class Device>
struct CholeskyClass {
  Kokkos::View<const Ordinal*, Device> sizes;
  Kokkos::View<const Ordinal*, Device> members;
  Ordinal begin = 0, end = 0;
  int largest = 0; ///< of their sizes
};

} // namespace detail
} // namespace ainvil
