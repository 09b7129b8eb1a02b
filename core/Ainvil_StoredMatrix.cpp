// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_StoredMatrix.hpp"

#include "Ainvil_RowTeams.hpp"

#include <limits>

namespace ainvil {

using detail::Range;

template <class Stored, class Device>
void detail::checkStorage(const typename Device::execution_space& exec,
                          const BsrMatrix<Stored, Device>& a, bool full_rows) {
  using Exec = typename Device::execution_space;
  const int bs = a.block_size;
  constexpr Stored smallest = std::numeric_limits<Stored>::min();
  Offset unfit = 0;
  Kokkos::parallel_reduce(
      "Ainvil::checkStorage", Range<Exec>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset row, Offset& sum) {
        Stored largest = 0;
        bool finite = true;
        const Offset end = a.graph.row_map(row + 1) * bs * bs;
        for (Offset e = a.graph.row_map(row) * bs * bs; e < end; ++e) {
          const Stored size = compat::math::fabs(a.values(e));
          finite = finite && size * Stored(0) == Stored(0);
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

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void detail::checkStorage<double, DEVICE>(const typename DEVICE::execution_space&,      \
                                                     const BsrMatrix<double, DEVICE>&, bool);      \
  template void detail::checkStorage<float, DEVICE>(const typename DEVICE::execution_space&,       \
                                                    const BsrMatrix<float, DEVICE>&, bool);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
