// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Scaling.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

namespace ainvil {
namespace {

using detail::KernelArray;
using detail::Range;

constexpr int num_steps = 10;

/// max |r_i a_ij c_j| over the rows and over the columns, a lane an entry of a block of block row
/// `row`. The maximum does not depend on the order; most entries are below what is there already
/// and write nothing.
template <class Scalar>
struct LargestEntries {
  detail::KernelMatrix<const Scalar> a;
  KernelArray<const Scalar> rows, columns;
  KernelArray<Scalar> of_rows, of_columns;

  KOKKOS_INLINE_FUNCTION static void raise(Scalar& largest, Scalar size) {
    if (size > compat::volatileLoad(&largest))
      Kokkos::atomic_fetch_max(&largest, size);
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const int bs = a.block_size;
    const Offset bs2 = Offset(bs) * bs, begin = a.graph.row_map(row);
    detail::forLanes(member, (a.graph.row_map(row + 1) - begin) * bs2, [&](const Offset item) {
      const Offset e = begin + item / bs2, within = item % bs2;
      const Offset i = Offset(row) * bs + within / bs;
      const Offset j = Offset(a.graph.entries(e)) * bs + within % bs;
      const Scalar size = compat::math::fabs(a.values(e * bs2 + within)) * (rows(i) * columns(j));
      raise(of_rows(i), size);
      raise(of_columns(j), size);
    });
  }
};

/// r_i becomes r_i / norm_i^(1/2), and norm_i zero for the next step.
template <class Scalar>
struct DivideByRoots {
  KernelArray<Scalar> rows, columns, of_rows, of_columns;

  KOKKOS_INLINE_FUNCTION static void divide(Scalar& factor, Scalar& norm) {
    if (norm > Scalar(0))
      factor /= compat::math::sqrt(norm);
    norm = 0;
  }
  KOKKOS_FUNCTION void operator()(const Offset i) const {
    divide(rows(i), of_rows(i));
    divide(columns(i), of_columns(i));
  }
};

} // namespace

template <class Scalar, class Device>
void detail::equilibrate(const typename Device::execution_space& exec,
                         const BsrMatrix<Scalar, Device>& a,
                         const RowColumnScaling<Scalar, Device>& scaling,
                         const RowColumnScaling<Scalar, Device>& norms) {
  using Exec = typename Device::execution_space;
  Kokkos::deep_copy(exec, scaling.rows, Scalar(1));
  Kokkos::deep_copy(exec, scaling.columns, Scalar(1));
  Kokkos::deep_copy(exec, norms.rows, Scalar(0));
  Kokkos::deep_copy(exec, norms.columns, Scalar(0));
  for (int step = 0; step < num_steps; ++step) {
    detail::forEachRow(
        exec, "Ainvil::equilibrate[norms]", a.numRows(),
        detail::teamsForRowsOf(a.graph, a.block_size * a.block_size),
        LargestEntries<Scalar>{a, scaling.rows, scaling.columns, norms.rows, norms.columns});
    Kokkos::parallel_for(
        "Ainvil::equilibrate[divide]", Range<Exec>(exec, 0, a.numPointRows()),
        DivideByRoots<Scalar>{scaling.rows, scaling.columns, norms.rows, norms.columns});
  }
}

template <class Scalar, class Device>
RowColumnScaling<Scalar, Device> ruizScaling(const typename Device::execution_space& exec,
                                             const BsrMatrix<Scalar, Device>& a) {
  ScopedRegion region("Ainvil::ruizScaling");
  detail::requireSquare("the scaling of rows and columns", a.numPointRows(), a.numPointCols());
  validate(exec, a.graph);
  detail::requireFiniteMatrix<Scalar, Device>(exec, a.values);
  const auto vector = [&] {
    return allocateView<Vector<Scalar, Device>>(exec, "Ainvil::scaling", a.numPointRows());
  };
  const RowColumnScaling<Scalar, Device> scaling{vector(), vector()};
  detail::equilibrate(exec, a, scaling, {vector(), vector()});
  compat::fence(exec, "Ainvil::ruizScaling");
  return scaling;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void detail::equilibrate<SCALAR, DEVICE>(                                               \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const RowColumnScaling<SCALAR, DEVICE>&, const RowColumnScaling<SCALAR, DEVICE>&);           \
  template RowColumnScaling<SCALAR, DEVICE> ruizScaling<SCALAR, DEVICE>(                           \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
