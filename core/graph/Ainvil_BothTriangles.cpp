// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_BothTriangles.hpp"

#include "backend/Ainvil_AllocateTogether.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace {

using detail::KernelArray;
using detail::KernelGraph;
using detail::Range;

/// lower(i) = 1 + #{j < i}, upper(i) = #{j > i} over the entries j of row i. Short rows are counted
/// without a branch, long ones searched.
struct CountBoth {
  KernelGraph graph;
  KernelArray<Offset> lower, upper;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    const Offset begin = graph.row_map(row), end = graph.row_map(row + 1);
    const Ordinal i = static_cast<Ordinal>(row);
    int before = 0, behind = 0;
    if (end - begin <= short_row) {
      for (Offset e = begin; e < end; ++e) {
        before += graph.entries(e) < i ? 1 : 0;
        behind += graph.entries(e) > i ? 1 : 0;
      }
    } else {
      before = static_cast<int>(detail::lowerBound(graph.entries, begin, end, i) - begin);
      behind =
          static_cast<int>(end - detail::lowerBound(graph.entries, begin + before, end, i + 1));
    }
    lower(row) = 1 + before;
    upper(row) = behind;
  }

private:
  static constexpr Offset short_row = 32; ///< about as long as the five steps of its search
};

/// counts(i) <- sum over k < i of counts(k), i = 0 .. n; the last of them also to `total`.
template <class Device>
struct ScanWithTotal {
  detail::ExclusiveScan<Offset, Device> scan;
  Offset* total;

  KOKKOS_FUNCTION void operator()(Offset i, Offset& sum, bool final) const {
    scan(i, sum, final);
    if (final && i == scan.n)
      *total = sum;
  }
};

/// The diagonal entry ends a row of the lower triangle.
struct FillBoth {
  KernelGraph graph;
  KernelArray<const Offset> lower_map, upper_map;
  KernelArray<Ordinal> lower, upper;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    const Offset diagonal = lower_map(row + 1) - 1;
    Offset from = graph.row_map(row);
    for (Offset to = lower_map(row); to < diagonal; ++to)
      lower(to) = graph.entries(from++);
    lower(diagonal) = static_cast<Ordinal>(row);
    const Offset begin = upper_map(row), end = upper_map(row + 1);
    from = graph.row_map(row + 1) - (end - begin);
    for (Offset to = begin; to < end; ++to)
      upper(to) = graph.entries(from++);
  }
};

} // namespace

template <class Device>
FillTriangles<Device> detail::bothTriangles(const typename Device::execution_space& exec,
                                            const Graph<Device>& graph) {
  using Exec = typename Device::execution_space;
  const Ordinal n = graph.num_rows;
  const std::size_t offsets = std::size_t(n) + 1;
  const auto [lower_map, upper_map, totals] =
      allocateTogether<Offset, Device>(exec, "Ainvil::row_maps", offsets, offsets, 2);
  Kokkos::parallel_for("Ainvil::bothTriangles[count]", Range<Exec>(exec, 0, n),
                       CountBoth{graph, lower_map, upper_map});
  detail::scanInOrder<Offset>(exec, "Ainvil::bothTriangles[scan]", offsets,
                              ScanWithTotal<Device>{{lower_map, n}, totals.data()});
  detail::scanInOrder<Offset>(exec, "Ainvil::bothTriangles[scan]", offsets,
                              ScanWithTotal<Device>{{upper_map, n}, totals.data() + 1});
  const auto [in_lower, in_upper] = readBackFirst<2>(exec, totals);
  const auto [lower, upper] =
      allocateTogether<Ordinal, Device>(exec, "Ainvil::entries", in_lower, in_upper);
  Kokkos::parallel_for("Ainvil::bothTriangles[fill]", Range<Exec>(exec, 0, n),
                       FillBoth{graph, lower_map, upper_map, lower, upper});
  return {{n, n, lower_map, lower}, {n, n, upper_map, upper}};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template FillTriangles<DEVICE> detail::bothTriangles<DEVICE>(                                    \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
