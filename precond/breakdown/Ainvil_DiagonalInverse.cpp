// SPDX-License-Identifier: BSD-3-Clause
#include "breakdown/Ainvil_DiagonalInverse.hpp"

#include "backend/Ainvil_AllocateTogether.hpp"
#include "graph/Ainvil_RowSearch.hpp"

#include <limits>

namespace ainvil {
namespace detail {
namespace {

/// D_i^-1 for the diagonal block (or, with size 1 within larger blocks, scalar) i of A, one a
/// thread.
template <int BS, class Scalar, class Device>
struct InvertDiagonal {
  KernelMatrix<const Scalar> a;
  int size; ///< of the inverted blocks: the matrix's block size or 1
  KernelArray<Scalar> diagonal, inverse;
  KernelArray<int> pivots;
  KernelArray<Scalar> scales;
  PivotInversion<Scalar> inverter;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int bs = a.block_size;
    const int per_block = bs / size;
    const Ordinal row = static_cast<Ordinal>(item / per_block);
    const int first = static_cast<int>(item - Offset(row) * per_block) * size;
    const Offset at =
        findEntry(a.graph.entries, a.graph.row_map(row), a.graph.row_map(row + 1), row);
    Scalar* d = diagonal.data() + item * size * size;
    for (int r = 0; r < size; ++r)
      for (int c = 0; c < size; ++c)
        d[r * size + c] = at < 0 ? Scalar(0) : a.values((at * bs + first + r) * bs + first + c);
    inverter.template invert<BS>(row, size, d, inverter.row_sizes.data() + item * size,
                                 inverse.data() + item * size * size, pivots.data() + item * size,
                                 scales.data() + 2 * item * size);
  }
};

} // namespace

template <class Scalar, class Device>
void DiagonalInverse<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a,
                                                 DiagonalOf of, BreakdownPolicy policy,
                                                 double shift, double pivot_tolerance) {
  checkDiagonal(exec, a.graph, policy);
  block_size_ = of == DiagonalOf::Points ? 1 : a.block_size;
  const Offset entries = a.numPointRows() * block_size_;
  const auto [diagonal, inverse, scales, row_sizes] = allocateTogether<Scalar, Device>(
      exec, "Ainvil::diagonal", entries, entries, 2 * a.numPointRows(), a.numPointRows());
  diagonal_ = diagonal;
  inverse_ = inverse;
  scales_ = scales;
  pivots_ = allocate<int, Device>(exec, "Ainvil::pivots", a.numPointRows());
  // The diagonal is given, not computed: what rounding has left of it is that of whoever assembled
  // A, in double as a rule.
  pivot_inverter_ = PivotInverter<Scalar, Device>(
      exec, policy, shift, pivot_tolerance * std::numeric_limits<double>::epsilon(), row_sizes);
}

template <class Scalar, class Device>
void DiagonalInverse<Scalar, Device>::compute(const execution_space& exec, const char* label,
                                              const Matrix& a, Report& report) {
  pivot_inverter_.start(exec, a);
  dispatchBlockSize(block_size_, [&](auto bs) {
    Kokkos::parallel_for(
        label, Range<execution_space>(exec, 0, a.numPointRows() / block_size_),
        InvertDiagonal<decltype(bs)::value, Scalar, Device>{a, block_size_, diagonal_, inverse_,
                                                            pivots_, scales_, pivot_inverter_});
  });
  pivot_inverter_.check(exec, report);
}

template <class Scalar, class Device>
void DiagonalInverse<Scalar, Device>::apply(const execution_space& exec, Trans trans, Scalar alpha,
                                            MultiVectorArg<const Scalar, Device> x, Scalar beta,
                                            MultiVectorArg<Scalar, Device> y) const {
  blockDiagonalProduct<Scalar, Scalar, Device>(exec, trans, alpha, inverse_, block_size_, x, beta,
                                               y);
}

AINVIL_INSTANTIATE_CLASS(DiagonalInverse)

} // namespace detail
} // namespace ainvil
