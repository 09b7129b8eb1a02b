// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Index types, enumerations and view aliases shared by the whole library.

#include "backend/Ainvil_BFloat16.hpp"

#include <cstdint>
#include <type_traits>

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
/// Precision of the vectors, for what is no template of it.
enum class VectorPrecision { Double, Float };
/// That of vectors of Scalar.
template <class Scalar>
constexpr VectorPrecision precisionOf() {
  return std::is_same<Scalar, float>::value ? VectorPrecision::Float : VectorPrecision::Double;
}

/// The device that an execution space, a memory space or a device stands for.
template <class Space>
using DeviceOf = typename Space::device_type;

namespace detail {

// The library is compiled, but for what its headers hold. What it was not compiled for would end in
// a linker's list of symbols, so class templates ask these for their arguments.

/// Does not compile for any other device.
template <class Device>
struct CompiledDevice : std::true_type {
  static_assert(std::is_same<Device, DefaultDevice>::value ||
                    std::is_same<Device, HostDevice>::value,
                "Ainvil is compiled for ainvil::DefaultDevice and ainvil::HostDevice: of an "
                "execution space or a memory space take its device_type");
};

/// Does not compile for any other type of vector entries, or device.
template <class Scalar, class Device>
struct CompiledScalar : CompiledDevice<Device> {
  static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value,
                "Ainvil is compiled for double and float, without const");
};

/// Does not compile for any other type of matrix values, or device.
template <class Scalar, class Device>
struct CompiledValues : CompiledDevice<Device> {
  static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value ||
                    std::is_same<Scalar, BFloat16>::value,
                "Ainvil is compiled for values of double, float and, for stored factors, "
                "ainvil::BFloat16, without const");
};

} // namespace detail

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

namespace detail {

/// Whether a type is a view of rank 2 whose rows are contiguous. A strided one may hold columns:
/// Kokkos looks at the strides of those it converts.
template <class T>
struct IsRowMajor : std::false_type {};
template <class Data, class... Properties>
struct IsRowMajor<Kokkos::View<Data, Properties...>>
    : std::integral_constant<
          bool, int(Kokkos::View<Data, Properties...>::rank) == 2 &&
                    std::is_same<typename Kokkos::View<Data, Properties...>::array_layout,
                                 Kokkos::LayoutRight>::value> {};

/// Enables an overload where one of the arguments is such a view. It exists for the sentence of
/// RequireColumnMajor: without it the compiler would name constructors of views that do not match.
template <class... Arguments>
using EnableIfRowMajor = std::enable_if_t<(IsRowMajor<Arguments>::value || ...)>;

/// Does not compile for such a view.
template <class... Arguments>
struct RequireColumnMajor : std::true_type {
  static_assert(!(IsRowMajor<Arguments>::value || ...),
                "multivectors are column-major: views of Ainvil's arguments have "
                "Kokkos::LayoutLeft, one right-hand side a column");
};

} // namespace detail

} // namespace ainvil
