// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_WeakDiagonals.hpp"

#include "backend/Ainvil_RowTeams.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace detail {

template <class Scalar>
Offset countWeakDiagonals(const BsrMatrix<Scalar, HostDevice>& a) {
  using Exec = HostDevice::execution_space;
  constexpr double rounding = 10 * double(std::numeric_limits<Scalar>::epsilon());
  const int bs = a.block_size;
  Offset count = 0;
  Kokkos::parallel_reduce(
      "Ainvil::countWeakDiagonals", Range<Exec>(Exec(), 0, a.numPointRows()),
      [&](const Offset point_row, Offset& sum) {
        const Offset row = point_row / bs, r = point_row % bs;
        double largest = 0, within = 0;
        for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
          for (int c = 0; c < bs; ++c) {
            const double size = std::fabs(double(a.values((e * bs + r) * bs + c)));
            largest = std::max(largest, size);
            if (a.graph.entries(e) == row)
              within = std::max(within, size);
          }
        sum += within <= rounding * largest ? 1 : 0;
      },
      count);
  return count;
}

template Offset countWeakDiagonals<double>(const BsrMatrix<double, HostDevice>&);
template Offset countWeakDiagonals<float>(const BsrMatrix<float, HostDevice>&);

} // namespace detail
} // namespace ainvil
