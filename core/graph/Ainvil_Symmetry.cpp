// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_Symmetry.hpp"

#include "backend/Ainvil_Counted.hpp"
#include "graph/Ainvil_CountRows.hpp"

#include <climits>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

/// So many threads that search a row for each entry take as long as one that walks through all.
constexpr int few = 4;

/// One thread of a host: whether every entry (i, j) off the diagonal has a mirror image (j, i), and
/// agree(e, mirror) says so of all these and, for diagonal entries, of agree(e, e). Rows are
/// sorted; `next` is room for a number a row: next[j] is the first entry of row j right of its
/// diagonal that no row has been a mirror image of. Rows come in ascending order, as the columns of
/// row j do, so it is the next one to come.
template <class Device, class Agree>
bool matchesMirror(const Graph<Device>& graph, Offset* next, const Agree& agree) {
  for (Ordinal i = 0; i < graph.num_rows; ++i) {
    const Offset end = graph.row_map(i + 1);
    Offset e = graph.row_map(i);
    for (; e < end && graph.entries(e) < i; ++e) {
      const Ordinal j = graph.entries(e);
      const Offset mirror = next[j]++;
      if (mirror >= graph.row_map(j + 1) || graph.entries(mirror) != i || !agree(e, mirror))
        return false;
    }
    if (e < end && graph.entries(e) == i) {
      if (!agree(e, e))
        return false;
      ++e;
    }
    next[i] = e;
  }
  for (Ordinal j = 0; j < graph.num_rows; ++j)
    if (next[j] != graph.row_map(j + 1))
      return false;
  return true;
}

/// Whether every block off the diagonal has a mirror image that differs by no more than accepted
/// times the norm of the block, and diagonal blocks from themselves. `next` is room.
template <class Scalar, class Device>
bool isSymmetricTo(const BsrMatrix<Scalar, Device>& a, double accepted, Offset* next) {
  const int bs = a.block_size, bs2 = bs * bs;
  return matchesMirror(a.graph, next, [&](Offset e, Offset mirror) {
    double difference = 0;
    for (int k = 0; k < bs2; ++k) {
      const double d = std::abs(double(a.values(e * bs2 + k)) -
                                double(a.values(mirror * bs2 + k % bs * bs + k / bs)));
      difference = d > difference ? d : difference;
    }
    return difference == 0 || difference <= accepted * detail::blockNorm(a, e);
  });
}

/// Whether an entry (i, j) of row i has no mirror image.
template <class Device>
struct LacksMirror {
  Graph<Device> graph;

  KOKKOS_FUNCTION bool operator()(Offset i) const {
    for (Offset e = graph.row_map(i); e < graph.row_map(i + 1); ++e) {
      const Ordinal j = graph.entries(e);
      if (detail::findEntry(graph.entries, graph.row_map(j), graph.row_map(j + 1),
                            static_cast<Ordinal>(i)) < 0)
        return true;
    }
    return false;
  }
};

} // namespace

template <class Scalar, class Device>
detail::Asymmetry detail::countAsymmetric(const typename Device::execution_space& exec,
                                          const BsrMatrix<Scalar, Device>& a,
                                          const Kokkos::View<Offset*, Device>& room) {
  using Exec = typename Device::execution_space;
  const double accepted = std::sqrt(double(std::numeric_limits<Scalar>::epsilon()));
  if constexpr (!compat::IsGpu<Exec>::value) {
    if (exec.concurrency() <= few && Ordinal(room.extent(0)) == a.numRows() &&
        isSymmetricTo(a, accepted, room.data()))
      return {};
  }
  const int bs = a.block_size, bs2 = bs * bs;
  Offset found = 0;
  Ordinal first = INT_MAX;
  Kokkos::parallel_reduce(
      "Ainvil::countAsymmetric", detail::Range<Exec>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset i, Offset& sum, Ordinal& smallest) {
        for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
          const Ordinal j = a.graph.entries(e);
          const Offset mirror = findEntry(a.graph.entries, a.graph.row_map(j),
                                          a.graph.row_map(j + 1), static_cast<Ordinal>(i));
          double difference = 0;
          for (int k = 0; k < bs2; ++k) {
            const double other =
                mirror < 0 ? 0.0 : double(a.values(mirror * bs2 + k % bs * bs + k / bs));
            const double d = compat::math::fabs(double(a.values(e * bs2 + k)) - other);
            difference = d > difference ? d : difference;
          }
          if (difference > 0 && difference > accepted * blockNorm(a, e) &&
              difference > accepted * compat::math::sqrt(diagonalNorm(a, i)) *
                               compat::math::sqrt(diagonalNorm(a, j))) {
            ++sum;
            smallest = i < smallest ? static_cast<Ordinal>(i) : smallest;
          }
        }
      },
      found, Kokkos::Min<Ordinal>(first));
  compat::fence(exec, "Ainvil::countAsymmetric");
  return {found, first};
}

template <class Scalar, class Device>
void detail::requireSymmetric(const typename Device::execution_space& exec,
                              const BsrMatrix<Scalar, Device>& a, const char* method,
                              const char* advice, const Kokkos::View<Offset*, Device>& room) {
  const auto [found, first] = countAsymmetric<Scalar, Device>(exec, a, room);
  if (found > 0)
    throw InvalidArgument(message(method, " needs a symmetric matrix, but ",
                                  found == 1 ? "1 block differs from its mirror image, in "
                                             : message(found, " blocks differ from their mirror "
                                                              "image, the first in "),
                                  counted("block row", first), ": ", advice));
}

template <class Device>
bool detail::isSymmetricPattern(const typename Device::execution_space& exec,
                                const Graph<Device>& graph) {
  requireSquare("a symmetric pattern", graph.num_rows, graph.num_cols);
  if constexpr (!compat::IsGpu<typename Device::execution_space>::value) {
    if (exec.concurrency() <= few) {
      const auto next = allocate<Offset, Device>(exec, "Ainvil::next", graph.num_rows);
      return matchesMirror(graph, next.data(), [](Offset, Offset) { return true; });
    }
  }
  Ordinal first;
  return countRows(exec, "Ainvil::isSymmetricPattern", graph.num_rows, LacksMirror<Device>{graph},
                   first) == 0;
}

#define AINVIL_INSTANTIATE_PATTERN(DEVICE)                                                         \
  template bool detail::isSymmetricPattern<DEVICE>(const typename DEVICE::execution_space&,        \
                                                   const Graph<DEVICE>&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE_PATTERN)

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template detail::Asymmetry detail::countAsymmetric<SCALAR, DEVICE>(                              \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const Kokkos::View<Offset*, DEVICE>&);                                                       \
  template void detail::requireSymmetric<SCALAR, DEVICE>(                                          \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, const char*,      \
      const char*, const Kokkos::View<Offset*, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
