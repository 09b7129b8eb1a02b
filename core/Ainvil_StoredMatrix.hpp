// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A matrix whose precision is chosen at run time.

#include "Ainvil_Spmv.hpp"

namespace ainvil {

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

} // namespace detail

/// A block sparse matrix with values in the precision of the vectors it multiplies, or in float.
template <class Scalar, class Device>
class StoredMatrix {
public:
  using execution_space = typename Device::execution_space;

  StoredMatrix() = default;
  /// Takes values of either precision; only that of `storage` is to be given.
  StoredMatrix(const execution_space& exec, Storage storage, const Graph<Device>& graph,
               int block_size, const Kokkos::View<Scalar*, Device>& native,
               const Kokkos::View<float*, Device>& single)
      : StoredMatrix(storage, graph, block_size, native, single,
                     LongRows<Device>(exec, graph, block_size)) {}
  /// With the long rows of the graph, where they are known; does not wait.
  StoredMatrix(Storage storage, const Graph<Device>& graph, int block_size,
               const Kokkos::View<Scalar*, Device>& native,
               const Kokkos::View<float*, Device>& single, const LongRows<Device>& long_rows)
      : storage_(storage), long_rows_(long_rows) {
    if (storage == Storage::Float)
      single_ = BsrMatrix<float, Device>(graph, single, block_size);
    else
      native_ = BsrMatrix<Scalar, Device>(graph, native, block_size);
  }

  /// y = alpha A x + beta y as in ainvil::spmv.
  void multiply(const execution_space& exec, Scalar alpha, MultiVectorArg<const Scalar, Device> x,
                Scalar beta, MultiVectorArg<Scalar, Device> y) const {
    if (storage_ == Storage::Float)
      spmv<float, Scalar, Device>(exec, Trans::No, alpha, single_, x, beta, y, long_rows_);
    else
      spmv<Scalar, Scalar, Device>(exec, Trans::No, alpha, native_, x, beta, y, long_rows_);
  }

  /// y = A^T x, by atomics.
  void multiplyTransposed(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                          MultiVectorArg<Scalar, Device> y) const {
    if (storage_ == Storage::Float)
      spmv<float, Scalar, Device>(exec, Trans::Yes, Scalar(1), single_, x, Scalar(0), y);
    else
      spmv<Scalar, Scalar, Device>(exec, Trans::Yes, Scalar(1), native_, x, Scalar(0), y);
  }

  /// Stored values.
  Offset numScalars() const {
    return storage_ == Storage::Float ? single_.numScalars() : native_.numScalars();
  }
  /// Bytes a product reads from the matrix.
  Offset bytes() const { return storage_ == Storage::Float ? single_.bytes() : native_.bytes(); }
  /// Of the blocks.
  const Graph<Device>& graph() const {
    return storage_ == Storage::Float ? single_.graph : native_.graph;
  }
  /// Empty unless the storage is native.
  const BsrMatrix<Scalar, Device>& native() const { return native_; }
  /// Empty unless the storage is float.
  const BsrMatrix<float, Device>& single() const { return single_; }

private:
  Storage storage_ = Storage::Native;
  BsrMatrix<Scalar, Device> native_;
  BsrMatrix<float, Device> single_;
  LongRows<Device> long_rows_;
};

} // namespace ainvil
