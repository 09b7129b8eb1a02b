// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_FsaiPattern.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_SelectEntries.hpp"

#include <climits>

namespace ainvil {
namespace {

using detail::findEntry;
using detail::Range;

template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION double blockNorm(const BsrMatrix<Scalar, Device>& a, Offset e) {
  const int bs2 = a.block_size * a.block_size;
  double sum = 0;
  for (int k = 0; k < bs2; ++k) {
    const double value = a.values(e * bs2 + k);
    sum += value * value;
  }
  return compat::math::sqrt(sum);
}

/// ||A_ii||_F, 0 where it is missing.
template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION double diagonalNorm(const BsrMatrix<Scalar, Device>& a, Offset i) {
  const Offset at = findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1),
                              static_cast<Ordinal>(i));
  return at < 0 ? 0.0 : blockNorm(a, at);
}

template <class Scalar, class Device>
Kokkos::View<double*, Device> diagonalNorms(const typename Device::execution_space& exec,
                                            const BsrMatrix<Scalar, Device>& a) {
  using Exec = typename Device::execution_space;
  const auto norms = allocate<double, Device>(exec, "Ainvil::diagonal_norms", a.numRows());
  Kokkos::parallel_for(
      "Ainvil::diagonalNorms", Range<Exec>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset i) { norms(i) = diagonalNorm(a, i); });
  return norms;
}

template <class Scalar, class Device>
struct KeepLarge {
  BsrMatrix<Scalar, Device> a;
  Kokkos::View<const double*, Device> norms;
  double tau;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    const Ordinal column = a.graph.entries(e);
    return column == row || blockNorm(a, e) > tau * compat::math::sqrt(norms(row)) *
                                                  compat::math::sqrt(norms(column));
  }
};

/// Lists of row i of Low(B A): row j of A up to column i, for the j of row i of B.
template <class Device>
struct LowerProductLists {
  Graph<Device> b, a;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return static_cast<Ordinal>(b.row_map(row + 1) - b.row_map(row));
  }
  KOKKOS_FUNCTION Ordinal next(Ordinal row, Ordinal k, Ordinal last) const {
    const Ordinal j = b.entries(b.row_map(row) + k);
    const Ordinal column = detail::nextInRow(a, j, last);
    return column <= row ? column : detail::list_end;
  }
};

/// Of row i of `grown`, the entries of row i of `before` and, nearest to the diagonal, as many
/// others as there is room for.
template <class Device>
struct KeepNearest {
  Graph<Device> grown, before;
  Ordinal max_row;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    const Offset end = grown.row_map(row + 1);
    if (end - grown.row_map(row) <= max_row)
      return true;
    const Offset old_begin = before.row_map(row), old_end = before.row_map(row + 1);
    const Ordinal column = grown.entries(e);
    const Offset old_after =
        old_end - detail::lowerBound(before.entries, old_begin, old_end, column);
    if (old_after > 0 && before.entries(old_end - old_after) == column)
      return true;
    const Offset new_after = end - e - 1 - old_after;
    return new_after < max_row - (old_end - old_begin);
  }
};

/// Lists that end a row's growth once it has reached the limit: the row itself.
template <class Device>
struct LimitedProductLists {
  LowerProductLists<Device> lists;
  Ordinal max_row;

  KOKKOS_FUNCTION bool full(Ordinal row) const { return lists.count(row) >= max_row; }
  KOKKOS_FUNCTION Ordinal count(Ordinal row) const { return full(row) ? 1 : lists.count(row); }
  KOKKOS_FUNCTION Ordinal next(Ordinal row, Ordinal k, Ordinal last) const {
    return full(row) ? detail::nextInRow(lists.b, row, last) : lists.next(row, k, last);
  }
};

template <class Device>
Graph<Device> identity(const typename Device::execution_space& exec, Ordinal n) {
  using Exec = typename Device::execution_space;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", n);
  Kokkos::parallel_for(
      "Ainvil::identity", Range<Exec>(exec, 0, Offset(n) + 1), KOKKOS_LAMBDA(const Offset i) {
        row_map(i) = i;
        if (i < n)
          entries(i) = static_cast<Ordinal>(i);
      });
  return {n, n, row_map, entries};
}

} // namespace

template <class Scalar, class Device>
Offset detail::countUnsymmetric(const typename Device::execution_space& exec,
                                const BsrMatrix<Scalar, Device>& a, Ordinal& first_row) {
  using Exec = typename Device::execution_space;
  constexpr double accepted = 1e-8;
  const int bs = a.block_size, bs2 = bs * bs;
  Offset found = 0;
  Ordinal first = INT_MAX;
  Kokkos::parallel_reduce(
      "Ainvil::countUnsymmetric", Range<Exec>(exec, 0, a.numRows()),
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
          if (difference > 0 && difference > accepted * compat::math::sqrt(diagonalNorm(a, i)) *
                                                 compat::math::sqrt(diagonalNorm(a, j))) {
            ++sum;
            smallest = i < smallest ? static_cast<Ordinal>(i) : smallest;
          }
        }
      },
      found, Kokkos::Min<Ordinal>(first));
  compat::fence(exec, "Ainvil::countUnsymmetric");
  first_row = found > 0 ? first : -1;
  return found;
}

template <class Scalar, class Device>
Graph<Device> detail::sparsified(const typename Device::execution_space& exec,
                                 const BsrMatrix<Scalar, Device>& a, double tau) {
  return selectEntries(exec, a.graph, KeepLarge<Scalar, Device>{a, diagonalNorms(exec, a), tau});
}

template <class Device>
Graph<Device> detail::lowerPower(const typename Device::execution_space& exec,
                                 const Graph<Device>& a, int power, Ordinal max_row) {
  Graph<Device> b = identity<Device>(exec, a.num_rows);
  for (int k = 0; k < power; ++k) {
    const double lists = b.meanRowLength();
    const LowerProductLists<Device> product{b, a};
    if (max_row == 0) {
      b = unionGraph<Device>(exec, b.num_rows, b.num_cols, product, lists);
      continue;
    }
    const Graph<Device> grown = unionGraph<Device>(
        exec, b.num_rows, b.num_cols, LimitedProductLists<Device>{product, max_row}, lists);
    b = selectEntries(exec, grown, KeepNearest<Device>{grown, b, max_row});
  }
  return b;
}

#define AINVIL_INSTANTIATE_TYPE(SCALAR, DEVICE)                                                    \
  template Offset detail::countUnsymmetric<SCALAR, DEVICE>(                                        \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, Ordinal&);        \
  template Graph<DEVICE> detail::sparsified<SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, double);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_TYPE(double, DEVICE)                                                          \
  AINVIL_INSTANTIATE_TYPE(float, DEVICE)                                                           \
  template Graph<DEVICE> detail::lowerPower<DEVICE>(const typename DEVICE::execution_space&,       \
                                                    const Graph<DEVICE>&, int, Ordinal);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
