// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Index types, enumerations and view aliases shared by the whole library.

#include "Ainvil_BFloat16.hpp"

#include <cstdint>

namespace ainvil {

/// Index of a block row or block column.
using Ordinal = int;
/// Position in a list of entries; 64-bit, so more than 2^31 entries are legal.
using Offset = std::int64_t;

/// Which triangle.
enum class Uplo { Lower, Upper };
/// op(A) = A or A^T.
enum class Trans { No, Yes };
/// Precision in which applied factors or basis vectors are stored: that of the vectors, in which
/// all arithmetic is, float, or (factors only) bfloat16.
enum class Storage { Native, Float, BFloat16 };

/// Column-major multivector, one right-hand side a column. The stride may exceed the number of
/// rows.
template <class Scalar, class Device>
using MultiVector = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;

/// One column of a multivector; contiguous.
template <class Scalar, class Device>
using Vector = Kokkos::View<Scalar*, Kokkos::LayoutLeft, Device>;

/// Non-owning arguments of apply-like functions: any managed or unmanaged view converts to them.
template <class Scalar, class Device>
using MultiVectorArg =
    Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

} // namespace ainvil
