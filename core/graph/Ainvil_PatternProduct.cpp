// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_PatternProduct.hpp"

#include "graph/Ainvil_CollectRows.hpp"

namespace ainvil {
namespace {

/// Sorted lists of row i of the product: the rows j of B for the entries (i, j) of A.
template <class Device>
struct ProductLists {
  Graph<Device> a, b;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return static_cast<Ordinal>(a.row_map(row + 1) - a.row_map(row));
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const {
    return b.row_map(a.entries(a.row_map(row) + k));
  }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    const Ordinal j = a.entries(a.row_map(row) + k);
    return static_cast<Ordinal>(b.row_map(j + 1) - b.row_map(j));
  }
  KOKKOS_FUNCTION Ordinal at(Offset position) const { return b.entries(position); }
};

} // namespace

template <class Device>
Graph<Device> detail::patternProduct(const typename Device::execution_space& exec,
                                     const Graph<Device>& a, const Graph<Device>& b) {
  return unionOfSortedLists<Device>(exec, "Ainvil::patternProduct", a.num_rows, b.num_cols,
                                    ProductLists<Device>{a, b},
                                    a.meanRowLength() * b.meanRowLength());
}

template <class Device>
Graph<Device> detail::identityPattern(const typename Device::execution_space& exec, Ordinal n) {
  using Exec = typename Device::execution_space;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", n);
  Kokkos::parallel_for(
      "Ainvil::identityPattern", Range<Exec>(exec, 0, Offset(n) + 1),
      KOKKOS_LAMBDA(const Offset i) {
        row_map(i) = i;
        if (i < n)
          entries(i) = static_cast<Ordinal>(i);
      });
  return {n, n, row_map, entries};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Graph<DEVICE> detail::patternProduct<DEVICE>(                                           \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&, const Graph<DEVICE>&);        \
  template Graph<DEVICE> detail::identityPattern<DEVICE>(const typename DEVICE::execution_space&,  \
                                                         Ordinal);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
