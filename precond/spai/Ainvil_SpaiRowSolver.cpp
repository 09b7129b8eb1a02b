// SPDX-License-Identifier: BSD-3-Clause
#include "spai/Ainvil_SpaiRowSolver.hpp"

#include "graph/Ainvil_PatternProduct.hpp"
#include "graph/Ainvil_RowClasses.hpp"
#include "spai/Ainvil_SpaiRow.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// The rows of a body from `first` on.
template <class Body>
struct RowsFrom {
  Body body;
  Ordinal first;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    body(member, first + row, scratch);
  }
};

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
  constexpr Ordinal pieces = 100, fewest_rows = 256; // which are work for some time
  const Ordinal piece =
      progress ? std::max(fewest_rows, pattern_.num_rows / pieces) : pattern_.num_rows;
  const auto shape = teamsForRowsOf(pattern_, block_size_);
  Offset done = 0;
  for (const RowClass<Device>& rows : classes_)
    for (Ordinal first = 0; first < rows.num_rows; first += piece) {
      const Ordinal count = std::min(piece, rows.num_rows - first);
      const SpaiRow<Scalar, Device> body{a,
                                         pattern_,
                                         shadow_,
                                         values,
                                         results.failed,
                                         results.squared_residuals,
                                         Scalar(shift),
                                         rows.rows,
                                         active};
      forEachRow(exec, "Ainvil::Spai[solve]", count, shape,
                 RowsFrom<SpaiRow<Scalar, Device>>{body, first}, rows.bytes);
      if (progress) {
        compat::fence(exec, "Ainvil::Spai[progress]");
        progress(done += count);
      }
    }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template struct SpaiRowResults<DEVICE>;                                                          \
  template class SpaiRowSolver<double, DEVICE>;                                                    \
  template class SpaiRowSolver<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
