// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_StoredValues.hpp"

#include "backend/Ainvil_RowTeams.hpp"

#include <limits>
#include <type_traits>

namespace ainvil {

using detail::Range;

namespace {

/// Where the scalars of block row i begin.
template <class Device>
struct BeginOfRow {
  Kokkos::View<const Offset*, Device> row_map;
  Offset block_scalars;

  KOKKOS_INLINE_FUNCTION Offset operator()(Offset row) const {
    return row_map(row) * block_scalars;
  }
};
struct BeginOfBlock {
  Offset block_scalars;

  KOKKOS_INLINE_FUNCTION Offset operator()(Offset block) const { return block * block_scalars; }
};

/// begin(i) is where the scalars of row i begin.
template <class Stored, class Device, class Begin>
void requireFit(const typename Device::execution_space& exec, Offset num_rows, const Begin& begin,
                const Kokkos::View<const Stored*, Device>& values, bool full_rows) {
  using Exec = typename Device::execution_space;
  // Of bfloat16 the range is that of float.
  using Real = std::conditional_t<std::is_same<Stored, BFloat16>::value, float, Stored>;
  constexpr Real smallest = std::numeric_limits<Real>::min();
  Offset unfit = 0;
  Kokkos::parallel_reduce(
      "Ainvil::checkStorage", Range<Exec>(exec, 0, num_rows),
      KOKKOS_LAMBDA(const Offset row, Offset& sum) {
        Real largest = 0;
        bool finite = true;
        const Offset end = begin(row + 1);
        for (Offset e = begin(row); e < end; ++e) {
          const Real size = compat::math::fabs(Real(values(e)));
          finite = finite && size * Real(0) == Real(0);
          largest = size > largest ? size : largest;
        }
        if (!finite || (full_rows && largest < smallest))
          ++sum;
      },
      unfit);
  if (unfit > 0)
    throw InvalidArgument(message(unfit,
                                  " block rows of a factor do not fit the range of the storage "
                                  "precision: scale the matrix or store it in double"));
}

} // namespace

template <class Stored, class Device>
void detail::checkStorage(const typename Device::execution_space& exec,
                          const BsrMatrix<Stored, Device>& a, bool full_rows) {
  const Offset block_scalars = Offset(a.block_size) * a.block_size;
  requireFit<Stored, Device>(exec, a.numRows(), BeginOfRow<Device>{a.graph.row_map, block_scalars},
                             a.values, full_rows);
}

template <class Stored, class Device>
void detail::checkDiagonalStorage(const typename Device::execution_space& exec,
                                  const Kokkos::View<const Stored*, Device>& blocks,
                                  int block_size) {
  const Offset block_scalars = Offset(block_size) * block_size;
  requireFit<Stored, Device>(exec, Offset(blocks.extent(0)) / block_scalars,
                             BeginOfBlock{block_scalars}, blocks, true);
}

#define AINVIL_INSTANTIATE_TYPE(STORED, DEVICE)                                                    \
  template void detail::checkStorage<STORED, DEVICE>(const typename DEVICE::execution_space&,      \
                                                     const BsrMatrix<STORED, DEVICE>&, bool);      \
  template void detail::checkDiagonalStorage<STORED, DEVICE>(                                      \
      const typename DEVICE::execution_space&, const Kokkos::View<const STORED*, DEVICE>&, int);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_TYPE(double, DEVICE)                                                          \
  AINVIL_INSTANTIATE_TYPE(float, DEVICE)                                                           \
  AINVIL_INSTANTIATE_TYPE(BFloat16, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
