// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/Ainvil_ForeignColumns.hpp"

#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"

#include <algorithm>

namespace ainvil {
namespace ranks {
namespace {

template <class Scalar>
bool isCopied(const Columns<Scalar>& columns) {
  return on_gpu && columns.memory == Memory::Host;
}

template <class Scalar>
MultiVectorArg<Scalar, Device> viewOf(const Columns<Scalar>& v, Offset num_rows, int num_columns) {
  const MultiVectorArg<Scalar, Device> all(v.data, std::max<Offset>(v.stride, 1), num_columns);
  return Kokkos::subview(all, std::make_pair(Offset(0), num_rows), Kokkos::ALL);
}

/// A column where it lies. Kokkos copies between memories what is contiguous.
template <class Space, class Scalar>
auto columnOf(const Columns<Scalar>& columns, Offset num_rows, int column) {
  return Kokkos::View<Scalar*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      columns.data + column * columns.stride, num_rows);
}

} // namespace

void fill(const Device::execution_space& exec, Columns<double> columns, Offset num_rows,
          int num_columns, double value) {
  for (int c = 0; c < num_columns; ++c)
    if (isCopied(columns))
      std::fill_n(columns.data + c * columns.stride, num_rows, value);
    else
      Kokkos::deep_copy(exec, columnOf<Device>(columns, num_rows, c), value);
  compat::fence(exec, "Ainvil::ranks::fill");
}

void DeviceColumns::reserve(const Exec& exec, Offset num_rows, int num_columns) {
  if (Offset(copy_.extent(0)) != num_rows || int(copy_.extent(1)) < num_columns)
    copy_ = allocateView<decltype(copy_)>(exec, "Ainvil::columns", num_rows, num_columns);
}

MultiVectorArg<const double, Device> DeviceColumns::toRead(const Exec& exec,
                                                           Columns<const double> columns,
                                                           Offset num_rows, int num_columns) {
  if (!isCopied(columns))
    return viewOf(columns, num_rows, num_columns);
  reserve(exec, num_rows, num_columns);
  for (int c = 0; c < num_columns; ++c)
    Kokkos::deep_copy(exec, Kokkos::subview(copy_, Kokkos::ALL, c),
                      columnOf<Kokkos::HostSpace>(columns, num_rows, c));
  compat::fence(exec, "Ainvil::ranks::DeviceColumns");
  return Kokkos::subview(copy_, Kokkos::ALL, std::make_pair(0, num_columns));
}

MultiVectorArg<double, Device> DeviceColumns::toWrite(const Exec& exec, Columns<double> columns,
                                                      Offset num_rows, int num_columns) {
  if (!isCopied(columns))
    return viewOf(columns, num_rows, num_columns);
  reserve(exec, num_rows, num_columns);
  return Kokkos::subview(copy_, Kokkos::ALL, std::make_pair(0, num_columns));
}

void DeviceColumns::giveBack(const Exec& exec, Columns<double> columns, Offset num_rows,
                             int num_columns) const {
  if (!isCopied(columns))
    return;
  for (int c = 0; c < num_columns; ++c)
    Kokkos::deep_copy(exec, columnOf<Kokkos::HostSpace>(columns, num_rows, c),
                      Kokkos::subview(copy_, Kokkos::ALL, c));
  compat::fence(exec, "Ainvil::ranks::DeviceColumns");
}

} // namespace ranks
} // namespace ainvil
