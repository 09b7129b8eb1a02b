// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_Symmetry.hpp"

#include "backend/Ainvil_Counted.hpp"
#include "graph/Ainvil_CountRows.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

/// A host's thread: whether every entry (i, j), j < i, of the rows [first, last) has a mirror image
/// (j, i), and agree(e, mirror) says so of all these and, for diagonal entries, of agree(e, e).
/// `excess` becomes the entries left of the diagonal less those right of it. Rows are sorted;
/// `next` is room for a number a row: for rows j from `first` on next[j] is the first entry right
/// of the diagonal that no row has been a mirror image of. Rows come in ascending order, as the
/// columns of row j do, so it is the next one to come. Rows before `first` are searched.
template <class Device, class Agree>
bool matchesMirror(const Graph<Device>& graph, Ordinal first, Ordinal last, Offset* next,
                   const Agree& agree, Offset& excess) {
  excess = 0;
  for (Ordinal i = first; i < last; ++i) {
    const Offset begin = graph.row_map(i), end = graph.row_map(i + 1);
    Offset e = begin;
    for (; e < end && graph.entries(e) < i; ++e) {
      const Ordinal j = graph.entries(e);
      const Offset mirror =
          j >= first ? next[j]++
                     : detail::findEntry(graph.entries, graph.row_map(j), graph.row_map(j + 1), i);
      if (mirror < 0 || mirror >= graph.row_map(j + 1) || graph.entries(mirror) != i ||
          !agree(e, mirror))
        return false;
    }
    excess += e - begin;
    if (e < end && graph.entries(e) == i) {
      if (!agree(e, e))
        return false;
      ++e;
    }
    excess -= end - e;
    next[i] = e;
  }
  return true;
}

/// The same of all rows, which the threads share. Mirror images are different entries: where there
/// are as many left of the diagonal as right of it, those right of it have theirs, too.
template <class Device, class Agree>
bool matchesMirror(const typename Device::execution_space& exec, const Graph<Device>& graph,
                   Offset* next, const Agree& agree) {
  const Offset parts = std::max(1, std::min(exec.concurrency(), graph.num_rows));
  Offset excess = 0, differing = 0;
  Kokkos::parallel_reduce(
      "Ainvil::matchesMirror", detail::Range<typename Device::execution_space>(exec, 0, parts),
      [&](const Offset part, Offset& sum, Offset& differs) {
        const auto rowOf = [&](Offset p) {
          return static_cast<Ordinal>(p * graph.num_rows / parts);
        };
        Offset own = 0;
        if (!matchesMirror(graph, rowOf(part), rowOf(part + 1), next, agree, own))
          ++differs;
        sum += own;
      },
      excess, differing);
  return differing == 0 && excess == 0;
}

/// Whether every block off the diagonal has a mirror image that differs by no more than accepted
/// times the norm of the block, and diagonal blocks from themselves. `next` is room.
template <class Scalar, class Device>
bool isSymmetricTo(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                   double accepted, Offset* next) {
  const int bs = a.block_size, bs2 = bs * bs;
  return matchesMirror(exec, a.graph, next, [&](Offset e, Offset mirror) {
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
    if (Ordinal(room.extent(0)) == a.numRows() && isSymmetricTo(exec, a, accepted, room.data()))
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
    const auto next = allocate<Offset, Device>(exec, "Ainvil::next", graph.num_rows);
    return matchesMirror(exec, graph, next.data(), [](Offset, Offset) { return true; });
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
