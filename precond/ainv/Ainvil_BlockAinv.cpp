// SPDX-License-Identifier: BSD-3-Clause
#include "ainv/Ainvil_BlockAinv.hpp"

#include "ainv/Ainvil_BlockColumn.hpp"
#include "dense/Ainvil_SmallBlock.hpp"

#include <numeric>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

using HostExec = HostDevice::execution_space;

/// The graph and room for the values where the host reads them, which are those of the device where
/// it can.
template <class Scalar, class Device>
BsrMatrix<Scalar, HostDevice> mirrorOf(const BsrMatrix<Scalar, Device>& a) {
  return {copyTo<HostDevice>(a.graph), hostMirror(a.values), a.block_size};
}

/// to = from, in another memory; nothing where both are the same array. Asynchronous.
template <class Exec, class To, class From>
void copyBetween(const Exec& exec, const To& to, const From& from) {
  if (static_cast<const void*>(to.data()) != static_cast<const void*>(from.data()))
    Kokkos::deep_copy(exec, to, from);
}

} // namespace

template <class Scalar, class Device>
BlockAinv<Scalar, Device>::BlockAinv(const execution_space& exec,
                                     const InverseFactorsParameters& parameters,
                                     const Matrix& ordered, const Matrix& transposed,
                                     const Permutation<Device>& order)
    : symmetric_(parameters.symmetric), factors_(parameters) {
  compat::fence(exec, "Ainvil::BlockAinv[plan]"); // the graphs are complete
  a_ = mirrorOf(ordered);
  transposed_ = symmetric_ ? a_ : mirrorOf(transposed);
  order_ = copyTo<HostDevice>(order);
}

template <class Scalar, class Device>
void BlockAinv<Scalar, Device>::compute(const execution_space& exec, const Matrix& ordered,
                                        const Matrix& transposed, const ColumnProgress& progress) {
  copyBetween(exec, a_.values, ordered.values);
  if (!symmetric_)
    copyBetween(exec, transposed_.values, transposed.values);
  compat::fence(exec, "Ainvil::BlockAinv[columns]"); // before the host reads
  factors_.compute(a_, transposed_, progress);
}

/// The transposed factor in the numbering of A: block row order(j) is factor_of(j) X_j^T.
template <class Scalar, class Device>
template <class FactorOf>
BsrMatrix<Scalar, Device> BlockAinv<Scalar, Device>::rowsOf(const execution_space& exec,
                                                            const BlockColumns<Scalar>& columns,
                                                            const FactorOf& factor_of, Arrays& to) {
  const Ordinal n = a_.numRows();
  const int bs = a_.block_size;
  const Offset bs2 = Offset(bs) * bs, total = static_cast<Offset>(columns.rows.size());
  to.reserveRows(exec, n);
  to.reserveBlocks(exec, total, total * bs2);
  const auto row_map = to.row_map;
  const auto entries = firstOf(to.entries, total);
  const auto values = firstOf(to.values, total * bs2);
  HostArrays host;
  if constexpr (std::is_same<typename Device::memory_space, HostDevice::memory_space>::value) {
    host = {row_map, entries, values};
  } else {
    arrays_.reserveRows(HostExec(), n);
    arrays_.reserveBlocks(HostExec(), total, total * bs2);
    host = arrays_;
  }

  const auto& order = order_.new_to_old;
  host.row_map(0) = 0;
  for (Ordinal j = 0; j < n; ++j)
    host.row_map(order(j) + 1) = columns.begins[j + 1] - columns.begins[j];
  for (Ordinal row = 0; row < n; ++row)
    host.row_map(row + 1) += host.row_map(row);
  std::vector<Scalar> transposed(bs2);
  std::vector<std::pair<Ordinal, Offset>> sources; // by columns of A
  for (Ordinal j = 0; j < n; ++j) {
    const Scalar* const factor = factor_of(j);
    sources.clear();
    for (Offset e = columns.begins[j]; e < columns.begins[j + 1]; ++e)
      sources.push_back({order(columns.rows[e]), e});
    std::sort(sources.begin(), sources.end());
    Offset at = host.row_map(order(j));
    for (const auto& [column, e] : sources) {
      host.entries(at) = column;
      for (Offset v = 0; v < bs2; ++v)
        transposed[v % bs * bs + v / bs] = columns.values[e * bs2 + v];
      Scalar* const block = host.values.data() + at * bs2;
      std::fill_n(block, bs2, Scalar(0));
      addProduct<0>(Trans::No, block, factor, transposed.data(), bs);
      ++at;
    }
  }
  copyBetween(exec, row_map, firstOf(host.row_map, Offset(n) + 1));
  copyBetween(exec, entries, firstOf(host.entries, total));
  copyBetween(exec, values, firstOf(host.values, total * bs2));
  compat::fence(exec, "Ainvil::BlockAinv[factors]"); // before the host writes again
  return {Graph<Device>(n, n, row_map, entries), values, bs};
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> BlockAinv<Scalar, Device>::right(const execution_space& exec,
                                                           Arrays& to) {
  const int bs = a_.block_size;
  const Offset bs2 = Offset(bs) * bs;
  std::vector<Scalar> root(bs2);
  return rowsOf(
      exec, factors_.w(),
      [&](const Ordinal j) -> const Scalar* {
        if (!symmetric_)
          return factors_.inverses().data() + j * bs2;
        std::copy_n(factors_.pivots().data() + j * bs2, bs2, root.data());
        invertCholeskyFactor(root.data(), bs);
        return root.data();
      },
      to);
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> BlockAinv<Scalar, Device>::zTransposed(const execution_space& exec,
                                                                 Arrays& to) {
  const int bs = a_.block_size;
  std::vector<Scalar> identity(size_t(bs) * bs, Scalar(0));
  for (int r = 0; r < bs; ++r)
    identity[r * (bs + 1)] = 1;
  return rowsOf(
      exec, factors_.z(), [&](const Ordinal) { return identity.data(); }, to);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class BlockAinv<double, DEVICE>;                                                        \
  template class BlockAinv<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
