// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparseObjects.hpp"

namespace ainvil {
namespace perf {
namespace cusparse {

Kokkos::View<const int*, Device> narrowed(const Exec& exec, const Graph<Device>& graph) {
  if (graph.numEntries() > INT_MAX)
    throw InvalidArgument("cuSPARSE's functions for block matrices and factorisations count fewer "
                          "than 2^31 entries");
  const auto row_map = graph.row_map;
  const auto offsets = allocate<int, Device>(exec, "Ainvil::perf", row_map.extent(0));
  Kokkos::parallel_for(
      "Ainvil::perf[narrow]", Kokkos::RangePolicy<Exec>(exec, 0, row_map.extent(0)),
      KOKKOS_LAMBDA(const int i) { offsets(i) = static_cast<int>(row_map(i)); });
  return offsets;
}

void describeTriangle(const Description& description, Uplo uplo, cusparseDiagType_t diagonal) {
  check(cusparseSetMatFillMode(description, uplo == Uplo::Lower ? CUSPARSE_FILL_MODE_LOWER
                                                                : CUSPARSE_FILL_MODE_UPPER),
        "SetMatFillMode");
  check(cusparseSetMatDiagType(description, diagonal), "SetMatDiagType");
}

} // namespace cusparse
} // namespace perf
} // namespace ainvil
