// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays of another library, on the host or on the GPU, where a rank's preconditioner takes them.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace ranks {

/// Where a rank's preconditioner is set up and applied.
using Device = DefaultDevice;

/// Whether that is a GPU, which cannot read the host's memory.
constexpr bool on_gpu =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device::memory_space>::accessible;

/// Where an array lies.
enum class Memory { Host, Device };

/// Arrays of vectors, column after column.
template <class Scalar>
struct Columns {
  Scalar* data;                 ///< of the first column
  Offset stride;                ///< from one column to the next
  Memory memory = Memory::Host; ///< of all of them
};

/// Writes one value into each of the first rows of all columns. Waits.
void fill(const Device::execution_space& exec, Columns<double> columns, Offset num_rows,
          int num_columns, double value);

/// Columns of another library as the device sees them: themselves, or, where they lie on the host
/// and the device is a GPU, a copy in a buffer that is kept for the next ones.
class DeviceColumns {
public:
  using Exec = Device::execution_space; ///< where they are copied

  /// Columns to read. Waits if they are copied. \throws OutOfMemory
  MultiVectorArg<const double, Device> toRead(const Exec& exec, Columns<const double> columns,
                                              Offset num_rows, int num_columns);

  /// Columns to write; of a copy the contents are undefined until written. \throws OutOfMemory
  MultiVectorArg<double, Device> toWrite(const Exec& exec, Columns<double> columns, Offset num_rows,
                                         int num_columns);

  /// Brings what was written into the copy that toWrite() has returned to the columns it stands
  /// for, and waits; nothing where it was no copy.
  void giveBack(const Exec& exec, Columns<double> columns, Offset num_rows, int num_columns) const;

private:
  void reserve(const Exec& exec, Offset num_rows, int num_columns);

  Kokkos::View<double**, Kokkos::LayoutLeft, Device> copy_;
};

} // namespace ranks
} // namespace ainvil
