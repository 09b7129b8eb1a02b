// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Matrix values whose precision is chosen at run time: rounding and its checks.

#include "Ainvil_BsrMatrix.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <type_traits>
#include <variant>

namespace ainvil {

/// Values in one of the precisions that Storage names, in its order.
template <class Scalar, class Device>
using StoredValues = std::variant<Kokkos::View<Scalar*, Device>, Kokkos::View<float*, Device>,
                                  Kokkos::View<BFloat16*, Device>>;

/// No values, in that precision.
template <class Scalar, class Device>
StoredValues<Scalar, Device> noValues(Storage storage) {
  using Values = StoredValues<Scalar, Device>;
  switch (storage) {
  case Storage::Float:
    return Values(std::in_place_index<1>);
  case Storage::BFloat16:
    return Values(std::in_place_index<2>);
  default:
    return Values(std::in_place_index<0>);
  }
}

/// The name of a precision where vectors are of type Scalar.
template <class Scalar>
const char* nameOf(Storage storage) {
  if (storage == Storage::BFloat16)
    return "bfloat16";
  return storage == Storage::Float || std::is_same<Scalar, float>::value ? "float" : "double";
}

/// The Storage of values of type Stored beside vectors of type Scalar.
template <class Stored, class Scalar>
constexpr Storage storageOf() {
  if (std::is_same<Stored, Scalar>::value)
    return Storage::Native;
  return std::is_same<Stored, float>::value ? Storage::Float : Storage::BFloat16;
}

namespace detail {

/// Throws InvalidArgument if a value has overflowed in the storage precision or, with `full_rows`,
/// a whole row has fallen below its smallest normal number. Rows that hold a diagonal are full: the
/// rest of a row may underflow without harm. One pass; waits.
template <class Stored, class Device>
void checkStorage(const typename Device::execution_space& exec, const BsrMatrix<Stored, Device>& a,
                  bool full_rows);

/// The same for blocks of a diagonal, stored one after the other; every one is a full row.
template <class Stored, class Device>
void checkDiagonalStorage(const typename Device::execution_space& exec,
                          const Kokkos::View<const Stored*, Device>& blocks, int block_size);

/// Memory for values in the precision Stored: the array itself where that is its own, else a new
/// one as long.
template <class Stored, class Scalar, class Device>
Kokkos::View<Stored*, Device> arrayFor(const typename Device::execution_space& exec,
                                       const char* label,
                                       const Kokkos::View<Scalar*, Device>& values) {
  if constexpr (std::is_same<Stored, Scalar>::value)
    return values;
  else
    return allocate<Stored, Device>(exec, label, values.extent(0));
}

/// Rounds the values into `to` and checks their range; nothing where the precision is the same,
/// since the arrays are then, too. \throws InvalidArgument as checkStorage()
template <class Stored, class Scalar, class Device>
void roundInto(const typename Device::execution_space& exec,
               const Kokkos::View<Scalar*, Device>& values, const BsrMatrix<Stored, Device>& to,
               bool full_rows) {
  if constexpr (!std::is_same<Stored, Scalar>::value) {
    convert<Scalar, Stored, Device>(exec, values, to.values);
    checkStorage(exec, to, full_rows);
  }
}

/// The same for the blocks of a diagonal.
template <class Stored, class Scalar, class Device>
void roundDiagonalInto(const typename Device::execution_space& exec,
                       const Kokkos::View<Scalar*, Device>& blocks, int block_size,
                       const Kokkos::View<Stored*, Device>& to) {
  if constexpr (!std::is_same<Stored, Scalar>::value) {
    convert<Scalar, Stored, Device>(exec, blocks, to);
    checkDiagonalStorage<Stored, Device>(exec, to, block_size);
  }
}

} // namespace detail

} // namespace ainvil
