// SPDX-License-Identifier: BSD-3-Clause
#include "spai/Ainvil_SpaiRowSolver.hpp"

#include "backend/Ainvil_LoopProgress.hpp"
#include "graph/Ainvil_PatternProduct.hpp"
#include "graph/Ainvil_RowClasses.hpp"
#include "spai/Ainvil_SpaiRow.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

template <class Device>
SpaiRowResults<Device>::SpaiRowResults(const typename Device::execution_space& exec, Ordinal n)
    : failed(allocate<int, Device>(exec, "Ainvil::Spai::failed", n)),
      squared_residuals(allocate<double, Device>(exec, "Ainvil::Spai::squared_residuals", n)) {}

template <class Scalar, class Device>
SpaiRowSolver<Scalar, Device>::SpaiRowSolver(const execution_space& exec,
                                             const Graph<Device>& pattern,
                                             const Graph<Device>& a_with_diagonal, int block_size)
    : block_size_(block_size), pattern_(pattern),
      shadow_(patternProduct<Device>(exec, pattern, a_with_diagonal)),
      classes_(rowClasses<Device>(
          exec, pattern.num_rows,
          SpaiRowBytes<execution_space, Scalar>{pattern_, shadow_, block_size})) {}

template <class Scalar, class Device>
void SpaiRowSolver<Scalar, Device>::run(const execution_space& exec,
                                        const BsrMatrix<Scalar, Device>& a,
                                        const Kokkos::View<Scalar*, Device>& values,
                                        const SpaiRowResults<Device>& results, double shift,
                                        const Kokkos::View<const char*, Device>& active,
                                        const std::function<void(Offset)>& progress) const {
  const Ordinal at_a_time = rowsOfLaunch(pattern_.num_rows, 256, progress);
  const auto shape = teamsForRowsOf(pattern_, block_size_);
  Offset done = 0;
  for (const RowClass<Device>& rows : classes_) {
    const SpaiRow<Scalar, Device> body{a,
                                       pattern_,
                                       shadow_,
                                       values,
                                       results.failed,
                                       results.squared_residuals,
                                       Scalar(shift),
                                       rows.rows,
                                       active};
    launchInPieces(
        exec, rows.num_rows, at_a_time, shareOf(progress, done), [&](Ordinal first, Ordinal end) {
          forEachRow(exec, "Ainvil::Spai[solve]", end - first, shape,
                     RowsFrom<SpaiRow<Scalar, Device>>{body, first}, rows.bytes, &scratch_);
        });
    done += rows.num_rows;
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template struct SpaiRowResults<DEVICE>;                                                          \
  template class SpaiRowSolver<double, DEVICE>;                                                    \
  template class SpaiRowSolver<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
