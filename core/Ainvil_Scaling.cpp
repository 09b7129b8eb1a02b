// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Scaling.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <limits>

namespace ainvil {
namespace {

using detail::Range;

/// d_i = |a_ii|, 0 where no block is stored.
template <class Scalar, class Device>
struct DiagonalKernel {
  BsrMatrix<Scalar, Device> a;
  Vector<Scalar, Device> d;

  KOKKOS_FUNCTION void operator()(const Offset point_row) const {
    const int bs = a.block_size;
    const Ordinal row = static_cast<Ordinal>(point_row / bs);
    const int r = static_cast<int>(point_row - Offset(row) * bs);
    Scalar value = 0;
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
      if (a.graph.entries(e) == row)
        value = a.values((e * bs + r) * bs + r);
    d(point_row) = compat::math::fabs(value);
  }
};

/// d_j = (sum over i of a_ij^2)^1/2, which neither overflows nor loses small columns: safeNorm().
/// Row j of the transposed graph lists the blocks of block column j, so that one thread adds up a
/// point column, always in the same order.
template <class Scalar, class Device>
struct ColumnNormKernel {
  Graph<Device> columns;
  Kokkos::View<const Offset*, Device> source; ///< of the blocks of `columns` in `values`
  Kokkos::View<const Scalar*, Device> values;
  int bs;
  Vector<Scalar, Device> d;

  KOKKOS_FUNCTION void operator()(const Offset point_column) const {
    const Offset column = point_column / bs;
    const Offset c = point_column - column * bs;
    const Offset begin = columns.row_map(column), end = columns.row_map(column + 1);
    d(point_column) = static_cast<Scalar>(detail::safeNorm([&](const auto& f) {
      for (Offset e = begin; e < end; ++e)
        for (int r = 0; r < bs; ++r)
          f(values((source(e) * bs + r) * bs + c));
    }));
  }
};

/// r_i a_ij c_j, one point row a thread.
template <class Scalar, class Device>
struct ScaleRowKernel {
  BsrMatrix<Scalar, Device> a;
  Vector<const Scalar, Device> rows, columns;
  Kokkos::View<Scalar*, Device> out;

  KOKKOS_FUNCTION void operator()(const Offset point_row) const {
    const int bs = a.block_size;
    const Offset row = point_row / bs;
    const Offset r = point_row - row * bs;
    const Scalar factor = rows(point_row);
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
      for (int c = 0; c < bs; ++c) {
        const Offset at = (e * bs + r) * bs + c;
        out(at) = a.values(at) * factor * columns(Offset(a.graph.entries(e)) * bs + c);
      }
  }
};

/// d_i becomes d_i^-1/2. Returns the first i whose d_i is zero or not finite and stays as it is.
template <class Scalar, class Device>
Offset invertRoots(const typename Device::execution_space& exec, const Vector<Scalar, Device>& d) {
  Offset first_bad = std::numeric_limits<Offset>::max();
  Kokkos::parallel_reduce(
      "Ainvil::scalingFactors[roots]",
      Range<typename Device::execution_space>(exec, 0, d.extent(0)),
      KOKKOS_LAMBDA(const Offset i, Offset& first) {
        if (d(i) > Scalar(0) && detail::isFinite(d(i)))
          d(i) = Scalar(1) / compat::math::sqrt(d(i));
        else if (i < first)
          first = i;
      },
      Kokkos::Min<Offset>(first_bad));
  return first_bad;
}

} // namespace

template <class Scalar, class Device>
Vector<Scalar, Device> scalingFactors(const typename Device::execution_space& exec,
                                      const BsrMatrix<Scalar, Device>& a, ScalingRule rule) {
  using Exec = typename Device::execution_space;
  ScopedRegion region("Ainvil::scalingFactors");
  detail::requireSquare("symmetric scaling", a.numPointRows(), a.numPointCols());
  validate(exec, a.graph);
  const Offset n = a.numPointRows();
  const auto d = allocateView<Vector<Scalar, Device>>(exec, "Ainvil::scaling", n);
  if (rule == ScalingRule::Diagonal) {
    Kokkos::parallel_for("Ainvil::scalingFactors[diagonal]", Range<Exec>(exec, 0, n),
                         DiagonalKernel<Scalar, Device>{a, d});
  } else {
    const PermutedGraph<Device> columns = transpose(exec, a.graph);
    Kokkos::parallel_for(
        "Ainvil::scalingFactors[norms]", Range<Exec>(exec, 0, n),
        ColumnNormKernel<Scalar, Device>{columns.graph, columns.source, a.values, a.block_size, d});
  }
  const Offset bad = invertRoots<Scalar, Device>(exec, d);
  if (bad < n)
    throw InvalidArgument(message(
        "cannot scale the matrix: the ",
        rule == ScalingRule::Diagonal ? counted("diagonal entry of row", bad)
                                      : counted("norm of column", bad),
        " is ", detail::readBack(exec, d, bad),
        rule == ScalingRule::Diagonal ? ", so scale by norms, exchange rows, or do not scale"
                                      : ", so mend the matrix or do not scale it"));
  return d;
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> scaled(const typename Device::execution_space& exec,
                                 const RowColumnScaling<Scalar, Device>& scaling,
                                 const BsrMatrix<Scalar, Device>& a) {
  if (Offset(scaling.rows.extent(0)) != a.numPointRows() ||
      Offset(scaling.columns.extent(0)) != a.numPointCols())
    throw InvalidArgument(message("scaling a matrix of ", a.numPointRows(), " rows and ",
                                  a.numPointCols(), " columns by ", scaling.rows.extent(0), " and ",
                                  scaling.columns.extent(0), " factors"));
  const auto values = allocate<Scalar, Device>(exec, "Ainvil::values", a.values.extent(0));
  Kokkos::parallel_for("Ainvil::scaled",
                       Range<typename Device::execution_space>(exec, 0, a.numPointRows()),
                       ScaleRowKernel<Scalar, Device>{a, scaling.rows, scaling.columns, values});
  return {a.graph, values, a.block_size};
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> scaled(const typename Device::execution_space& exec,
                                 const Vector<Scalar, Device>& s,
                                 const BsrMatrix<Scalar, Device>& a) {
  if (Offset(s.extent(0)) != a.numPointRows() || a.numRows() != a.numCols())
    throw InvalidArgument(message("scaling a matrix of ", a.numPointRows(), " rows and ",
                                  a.numPointCols(), " columns by ", s.extent(0), " factors"));
  return scaled(exec, RowColumnScaling<Scalar, Device>{s, s}, a);
}

template <class Scalar, class Device>
void scale(const typename Device::execution_space& exec, const Vector<Scalar, Device>& s,
           const Vector<Scalar, Device>& x) {
  if (s.extent(0) != x.extent(0))
    throw InvalidArgument(
        message("scaling a vector of ", x.extent(0), " entries by ", s.extent(0), " factors"));
  Kokkos::parallel_for(
      "Ainvil::scale", Range<typename Device::execution_space>(exec, 0, x.extent(0)),
      KOKKOS_LAMBDA(const Offset i) { x(i) *= s(i); });
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template Vector<SCALAR, DEVICE> scalingFactors<SCALAR, DEVICE>(                                  \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, ScalingRule);     \
  template BsrMatrix<SCALAR, DEVICE> scaled<SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const Vector<SCALAR, DEVICE>&,                      \
      const BsrMatrix<SCALAR, DEVICE>&);                                                           \
  template BsrMatrix<SCALAR, DEVICE> scaled<SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const RowColumnScaling<SCALAR, DEVICE>&,            \
      const BsrMatrix<SCALAR, DEVICE>&);                                                           \
  template void scale<SCALAR, DEVICE>(const typename DEVICE::execution_space&,                     \
                                      const Vector<SCALAR, DEVICE>&,                               \
                                      const Vector<SCALAR, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
