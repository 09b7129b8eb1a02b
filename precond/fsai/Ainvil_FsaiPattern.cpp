// SPDX-License-Identifier: BSD-3-Clause
#include "fsai/Ainvil_FsaiPattern.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "graph/Ainvil_PatternProduct.hpp"
#include "graph/Ainvil_SelectEntries.hpp"
#include "graph/Ainvil_Sparsify.hpp"
#include "graph/Ainvil_Symmetry.hpp"

#include <climits>

namespace ainvil {
namespace {

using detail::blockNorm;
using detail::findEntry;
using detail::forLanes;
using detail::joinLanes;
using detail::Range;

template <class Device>
struct KeepLower {
  Graph<Device> a;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const { return a.entries(e) <= row; }
};

/// Sorted lists of row i of Low(B A): row j of A up to column i, for the j of row i of B.
template <class Device>
struct LowerProductLists {
  Graph<Device> b, a;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return static_cast<Ordinal>(b.row_map(row + 1) - b.row_map(row));
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const {
    return a.row_map(b.entries(b.row_map(row) + k));
  }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    const Ordinal j = b.entries(b.row_map(row) + k);
    const Offset begin = a.row_map(j);
    return static_cast<Ordinal>(detail::lowerBound(a.entries, begin, a.row_map(j + 1), row + 1) -
                                begin);
  }
  KOKKOS_FUNCTION Ordinal at(Offset position) const { return a.entries(position); }
};

/// Low(B A).
template <class Device>
Graph<Device> lowerProduct(const typename Device::execution_space& exec, const Graph<Device>& b,
                           const Graph<Device>& a) {
  return detail::unionOfSortedLists<Device>(exec, "Ainvil::Fsai[product]", b.num_rows, b.num_rows,
                                            LowerProductLists<Device>{b, a},
                                            b.meanRowLength() * a.meanRowLength() / 2);
}

/// A graph and a weight an entry.
template <class Device>
struct WeightedGraph {
  Graph<Device> graph;
  Kokkos::View<const float*, Device> weights;
};

/// ||A_ij||_F / sqrt(||A_ii||_F ||A_jj||_F) on a part of the graph of A; at most 1, as it is for
/// SPD matrices, and 1 where it is not a number.
template <class Scalar, class Device>
WeightedGraph<Device> couplings(const typename Device::execution_space& exec,
                                const BsrMatrix<Scalar, Device>& a, const Graph<Device>& part) {
  using Exec = typename Device::execution_space;
  const auto scales = detail::diagonalScales(exec, a);
  const auto weights = allocate<float, Device>(exec, "Ainvil::Fsai::weights", part.numEntries());
  Kokkos::parallel_for(
      "Ainvil::Fsai[couplings]", Range<Exec>(exec, 0, part.num_rows),
      KOKKOS_LAMBDA(const Offset i) {
        for (Offset e = part.row_map(i); e < part.row_map(i + 1); ++e) {
          const Ordinal j = part.entries(e);
          const Offset at =
              findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1), j);
          const double norm = at < 0 ? 0.0 : blockNorm(a, at); // a diagonal that A lacks
          const double weight = norm / (scales(i) * scales(j));
          weights(e) = weight < 1 ? static_cast<float>(weight) : 1.0f;
        }
      });
  return {part, weights};
}

/// weights(i, l) <- sum over j of B_ij A_jl on the graph of the product; a lane an entry. A row
/// that grows large is scaled down by a power of two: only what its weights are to each other
/// counts, and high powers would overflow.
template <class Device>
struct ProductWeights {
  WeightedGraph<Device> b, a;
  Graph<Device> product;
  Kokkos::View<float*, Device> weights;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset begin = product.row_map(row);
    const Ordinal length = static_cast<Ordinal>(product.row_map(row + 1) - begin);
    forLanes(member, length, [&](const Ordinal k) {
      const Ordinal column = product.entries(begin + k);
      double sum = 0;
      for (Offset e = b.graph.row_map(row); e < b.graph.row_map(row + 1); ++e) {
        const Ordinal j = b.graph.entries(e);
        const Offset at =
            findEntry(a.graph.entries, a.graph.row_map(j), a.graph.row_map(j + 1), column);
        if (at >= 0)
          sum += double(b.weights(e)) * double(a.weights(at));
      }
      weights(begin + k) = static_cast<float>(sum);
    });
    float largest = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length),
        [&](const Ordinal k, float& most) {
          most = weights(begin + k) > most ? weights(begin + k) : most;
        },
        Kokkos::Max<float>(largest));
    if (largest > 0x1p+64f)
      forLanes(member, length, [&](const Ordinal k) { weights(begin + k) *= 0x1p-64f; });
  }
};

/// Of a lower triangular row the diagonal and, up to max_row entries in all, those with the largest
/// weights; of equal weights those nearest to the diagonal.
template <class Device>
struct KeepLargest {
  WeightedGraph<Device> b;
  Ordinal max_row;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    const Offset begin = b.graph.row_map(row), diagonal = b.graph.row_map(row + 1) - 1;
    if (diagonal - begin < max_row || e == diagonal)
      return true;
    const float weight = b.weights(e);
    Ordinal larger = 1; // the diagonal
    for (Offset f = begin; f < diagonal && larger < max_row; ++f)
      larger += b.weights(f) > weight || (b.weights(f) == weight && f > e) ? 1 : 0;
    return larger < max_row;
  }
};

template <class Device>
struct WriteWeighted {
  WeightedGraph<Device> from;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<float*, Device> weights;

  KOKKOS_FUNCTION void operator()(Offset to, Offset e) const {
    entries(to) = from.graph.entries(e);
    weights(to) = from.weights(e);
  }
};

/// The largest max_row entries of every row of Low(B A).
template <class Device>
WeightedGraph<Device> largestOfProduct(const typename Device::execution_space& exec,
                                       const WeightedGraph<Device>& b,
                                       const WeightedGraph<Device>& a, Ordinal max_row) {
  const Ordinal n = b.graph.num_rows;
  const Graph<Device> product = lowerProduct<Device>(exec, b.graph, a.graph);
  const auto weights = allocate<float, Device>(exec, "Ainvil::Fsai::weights", product.numEntries());
  detail::forEachRow(exec, "Ainvil::Fsai[weights]", n, detail::teamsForRowsOf(product),
                     ProductWeights<Device>{b, a, product, weights});
  const WeightedGraph<Device> whole{product, weights};
  const KeepLargest<Device> keep{whole, max_row};
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  const Offset total = detail::countSelected(exec, product, keep, row_map);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  const auto kept_weights = allocate<float, Device>(exec, "Ainvil::Fsai::weights", total);
  detail::writeSelected(exec, product, keep, WriteWeighted<Device>{whole, entries, kept_weights},
                        Kokkos::View<const Offset*, Device>(row_map));
  return {{n, n, row_map, entries}, kept_weights};
}

} // namespace

template <class Device>
Graph<Device> detail::lowerPower(const typename Device::execution_space& exec,
                                 const Graph<Device>& a, int power) {
  if (power == 0)
    return detail::identityPattern<Device>(exec, a.num_rows);
  Graph<Device> b = selectEntries(exec, a, KeepLower<Device>{a}); // Low(I A)
  for (int k = 1; k < power; ++k) {
    const Offset before = b.numEntries();
    b = lowerProduct<Device>(exec, b, a);
    if (b.numEntries() == before) // B_k is part of B_{k+1}, because A has its diagonal
      break;
  }
  return b;
}

template <class Scalar, class Device>
Graph<Device> detail::largestLowerPower(const typename Device::execution_space& exec,
                                        const BsrMatrix<Scalar, Device>& a,
                                        const Graph<Device>& sparse, int power, Ordinal max_row) {
  const Graph<Device> start = detail::identityPattern<Device>(exec, a.numRows());
  const auto ones = allocate<float, Device>(exec, "Ainvil::Fsai::weights", a.numRows());
  Kokkos::deep_copy(exec, ones, 1.0f);
  WeightedGraph<Device> b{start, ones};
  const WeightedGraph<Device> factor = couplings(exec, a, sparse);
  for (int k = 0; k < power; ++k) {
    const Graph<Device> before = b.graph;
    b = largestOfProduct<Device>(exec, b, factor, max_row);
    if (samePattern<Device>(exec, before, b.graph))
      break;
  }
  return b.graph;
}

#define AINVIL_INSTANTIATE_TYPE(SCALAR, DEVICE)                                                    \
  template Graph<DEVICE> detail::largestLowerPower<SCALAR, DEVICE>(                                \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const Graph<DEVICE>&, int, Ordinal);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_TYPE(double, DEVICE)                                                          \
  AINVIL_INSTANTIATE_TYPE(float, DEVICE)                                                           \
  template Graph<DEVICE> detail::lowerPower<DEVICE>(const typename DEVICE::execution_space&,       \
                                                    const Graph<DEVICE>&, int);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
