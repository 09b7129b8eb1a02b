// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A matrix whose precision is chosen at run time.

#include "product/Ainvil_Spmv.hpp"

#include <type_traits>
#include <utility>
#include <variant>

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

/// A block sparse matrix whose values are in the precision of the vectors it multiplies or in a
/// shorter one. Copies share the arrays and the workspace of long rows: see LongRows.
template <class Scalar, class Device>
class StoredMatrix {
public:
  using execution_space = typename Device::execution_space;

  StoredMatrix() = default;
  /// As many of the values as the graph has.
  StoredMatrix(const execution_space& exec, const Graph<Device>& graph, int block_size,
               const StoredValues<Scalar, Device>& values)
      : StoredMatrix(graph, block_size, values, LongRows<Device>(exec, graph, block_size)) {}
  /// With the long rows of the graph, where they are known; does not wait.
  StoredMatrix(const Graph<Device>& graph, int block_size,
               const StoredValues<Scalar, Device>& values, const LongRows<Device>& long_rows)
      : matrix_(make(graph, block_size, values)), long_rows_(long_rows) {}

  /// y = alpha A x + beta y as in ainvil::spmv.
  void multiply(const execution_space& exec, Scalar alpha, MultiVectorArg<const Scalar, Device> x,
                Scalar beta, MultiVectorArg<Scalar, Device> y) const {
    visit([&](const auto& a) {
      using Stored = typename std::decay_t<decltype(a)>::value_type;
      spmv<Stored, Scalar, Device>(exec, Trans::No, alpha, a, x, beta, y, long_rows_);
    });
  }

  /// y = A^T x, by atomics.
  void multiplyTransposed(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                          MultiVectorArg<Scalar, Device> y) const {
    visit([&](const auto& a) {
      using Stored = typename std::decay_t<decltype(a)>::value_type;
      spmv<Stored, Scalar, Device>(exec, Trans::Yes, Scalar(1), a, x, Scalar(0), y);
    });
  }

  /// Stored values.
  Offset numScalars() const {
    return visit([](const auto& a) { return a.numScalars(); });
  }
  /// Bytes a product reads from the matrix.
  Offset bytes() const {
    return visit([](const auto& a) { return a.bytes(); });
  }
  /// Of the blocks.
  const Graph<Device>& graph() const {
    return visit([](const auto& a) -> const Graph<Device>& { return a.graph; });
  }
  /// f(matrix), whichever its precision.
  template <class F>
  decltype(auto) visit(const F& f) const {
    return std::visit(f, matrix_);
  }
  /// The matrix; its storage must be native.
  const BsrMatrix<Scalar, Device>& native() const { return std::get<0>(matrix_); }

private:
  using Matrix = std::variant<BsrMatrix<Scalar, Device>, BsrMatrix<float, Device>,
                              BsrMatrix<BFloat16, Device>>;

  template <size_t I = 0>
  static Matrix make(const Graph<Device>& graph, int block_size,
                     const StoredValues<Scalar, Device>& values) {
    if constexpr (I + 1 < std::variant_size<Matrix>::value)
      if (values.index() != I)
        return make<I + 1>(graph, block_size, values);
    const Offset scalars = graph.numEntries() * block_size * block_size;
    return Matrix(std::in_place_index<I>, graph, firstOf(std::get<I>(values), scalars), block_size);
  }

  Matrix matrix_;
  LongRows<Device> long_rows_;
};

} // namespace ainvil
