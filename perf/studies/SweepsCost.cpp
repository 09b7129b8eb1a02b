// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparsePeer.hpp"
#include "peers/KokkosKernelsPeer.hpp"
#include "studies/SweepsStudy.hpp"
#include "studies/SweepsTriangle.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace perf {
namespace {

using HostMatrix = BsrMatrix<double, HostDevice>;

/// I + M, M = D^-1 S, for the factor T = D + S: the scaled system (I + M) x = D^-1 b has the
/// solution of T x = b and its pattern, and it can be given to libraries that know triangular
/// diagonal blocks only.
template <class Device>
HostMatrix scaledFactor(const TriangularFactor<double, Device>& factor) {
  TriangularFactor<double, HostDevice> t;
  t.matrix = copyTo<HostDevice>(factor.matrix);
  t.diagonal_inverse =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), factor.diagonal_inverse);
  t.uplo = factor.uplo;
  t.unit = factor.unit;

  const Ordinal n = t.matrix.numRows();
  const int bs = t.matrix.block_size, bs2 = bs * bs;
  const Offset entries = t.matrix.numEntries() + (t.unit ? n : 0);
  const Kokkos::View<Offset*, HostDevice> row_map("Ainvil::perf", size_t(n) + 1);
  const Kokkos::View<Ordinal*, HostDevice> columns("Ainvil::perf", entries);
  const Kokkos::View<double*, HostDevice> values("Ainvil::perf", entries * bs2);
  Offset at = 0;
  const auto addDiagonal = [&](Ordinal row) {
    columns(at) = row;
    for (int r = 0; r < bs; ++r)
      values(at * bs2 + r * bs + r) = 1;
    ++at;
  };
  for (Ordinal row = 0; row < n; ++row) {
    if (t.uplo == Uplo::Upper)
      addDiagonal(row);
    for (Offset e = t.offDiagonal(row).first; e < t.offDiagonal(row).second; ++e, ++at) {
      columns(at) = t.matrix.graph.entries(e);
      const double* block = t.matrix.values.data() + e * bs2;
      if (t.unit)
        std::copy(block, block + bs2, values.data() + at * bs2);
      else
        for (int r = 0; r < bs; ++r)
          for (int c = 0; c < bs; ++c)
            for (int k = 0; k < bs; ++k)
              values(at * bs2 + r * bs + c) +=
                  t.diagonal_inverse(Offset(row) * bs2 + r * bs + k) * block[k * bs + c];
    }
    if (t.uplo == Uplo::Lower)
      addDiagonal(row);
    row_map(row + 1) = at;
  }
  return {Graph<HostDevice>(n, n, row_map, columns), values, bs};
}

/// The matrix without its diagonal blocks, which come first or last in their rows.
HostMatrix strictPart(const HostMatrix& t, Uplo uplo) {
  const Ordinal n = t.numRows();
  const int bs2 = t.block_size * t.block_size;
  const Kokkos::View<Offset*, HostDevice> row_map("Ainvil::perf", size_t(n) + 1);
  const Kokkos::View<Ordinal*, HostDevice> columns("Ainvil::perf", t.numEntries() - n);
  const Kokkos::View<double*, HostDevice> values("Ainvil::perf", (t.numEntries() - n) * bs2);
  for (Ordinal row = 0; row < n; ++row) {
    row_map(row + 1) = t.graph.row_map(row + 1) - (row + 1);
    const Offset from = t.graph.row_map(row) + (uplo == Uplo::Upper ? 1 : 0);
    for (Offset at = row_map(row); at < row_map(row + 1); ++at) {
      const Offset e = from + at - row_map(row);
      columns(at) = t.graph.entries(e);
      for (int k = 0; k < bs2; ++k)
        values(at * bs2 + k) = t.values(e * bs2 + k);
    }
  }
  return {Graph<HostDevice>(n, n, row_map, columns), values, t.block_size};
}

/// The same entries in the same order, dealt out to rows of equal length: the same work without
/// imbalance.
HostMatrix dealtEvenly(const HostMatrix& a) {
  const Ordinal n = a.numRows();
  const Kokkos::View<Offset*, HostDevice> row_map("Ainvil::perf", size_t(n) + 1);
  for (Ordinal row = 0; row <= n; ++row)
    row_map(row) = n > 0 ? a.numEntries() / n * row + a.numEntries() % n * row / n : 0;
  return {Graph<HostDevice>(n, n, row_map, a.graph.entries), a.values, a.block_size};
}

struct Cost {
  const char* method;
  PeerTimes times;
  double difference = not_measured; ///< from the exact solution, relative
};

template <class Device>
Cost exactCost(const SweepsOptions& options, const Triangle<Device>& triangle) {
  const typename Device::execution_space exec;
  const auto x = triangle.vector();
  const auto make = [&] {
    return makeTriangularSolver<Exact<Device>>(exec, triangle.factor(), ExactParameters());
  };
  const double setup_seconds = medianSeconds(exec, options.repeat, make);
  const auto solver = make();
  const double seconds = medianSeconds(exec, options.repeat, [&] {
    solver->apply(exec, asColumn(triangle.b()), asColumn(x), Trans::No);
  });
  return {"exact", {setup_seconds, seconds}, triangle.error(x)};
}

template <class Device>
Cost sweepCost(const SweepsOptions& options, const Triangle<Device>& triangle,
               const SweepMethod& method) {
  const typename Device::execution_space exec;
  const double setup_seconds = medianSeconds(exec, options.repeat, [&] {
    makeTriangularSolver<Sweeps<Device>>(exec, triangle.factor(), sweepParameters(method, 1));
  });
  return {method.name, {setup_seconds, secondsPerSweep(exec, options.repeat, triangle, method)}};
}

template <class Device>
Cost productCost(const SweepsOptions& options, const char* name, const Triangle<Device>& triangle,
                 const BsrMatrix<double, Device>& a) {
  const typename Device::execution_space exec;
  const SparseOperator<double, Device> product(exec, a);
  const auto y = triangle.vector();
  const double seconds = medianSeconds(exec, options.repeat, [&] {
    product.multiply(exec, Trans::No, 1.0, asColumn(triangle.exact()), 0.0, asColumn(y));
  });
  return {name, {0, seconds}};
}

/// What other libraries take for (I + M) x = D^-1 b.
template <class Device>
std::vector<Cost> peerCosts(const SweepsOptions& options, const Triangle<Device>& triangle,
                            const BsrMatrix<double, Device>& scaled,
                            const BsrMatrix<double, Device>& strict) {
  const typename Device::execution_space exec;
  const auto& factor = triangle.factor();
  const auto c = triangle.vector(), x = triangle.vector();
  if (factor.unit)
    Kokkos::deep_copy(exec, c, triangle.b());
  else
    blockDiagonalProduct<double, double, Device>(exec, Trans::No, 1.0, factor.diagonal_inverse,
                                                 scaled.block_size, asColumn(triangle.b()), 0.0,
                                                 asColumn(c));
  std::vector<Cost> costs;
  const auto add = [&](const char* method, const PeerTimes& times) {
    if (!std::isnan(times.seconds))
      costs.push_back({method, times, triangle.error(x)});
  };
  if (scaled.block_size == 1)
    add("kokkos-kernels", kokkosKernelsSolve<Device>(scaled, factor.uplo, c, x, options.repeat));
  if constexpr (compat::IsGpu<typename Device::execution_space>::value) {
    add("cusparse", cusparseSolve(scaled, factor.uplo, c, x, options.repeat));
    const PeerTimes product = cusparseProduct(strict, triangle.exact(), x, options.repeat);
    if (!std::isnan(product.seconds))
      costs.push_back({"cusparse-spmv", product});
  }
  return costs;
}

} // namespace

std::vector<Column> costColumns() {
  return {{"factor", "factor", -6},
          {"levels", "levels", 6},
          {"longest_row", "longest", 7},
          {"method", "method", -14},
          milliseconds("setup_seconds", "setup ms"),
          microseconds("seconds", "us"),
          {"jacobi_sweeps", "in sweeps"}, // how many take the same time
          {"even_products", "in spmv-even", 12},
          {"difference", "difference", 10}};
}

template <class Device>
void studyCost(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  const typename Device::execution_space exec;
  forBothFactors<Device>(system, [&](const Triangle<Device>& triangle) {
    const Uplo uplo = triangle.factor().uplo;
    const HostMatrix scaled = scaledFactor(triangle.factor()), strict = strictPart(scaled, uplo);
    const auto device_strict = copyTo<Device>(strict);
    std::vector<Cost> costs = {
        sweepCost(options, triangle, jacobi_sweeps),
        productCost(options, "spmv-even", triangle, copyTo<Device>(dealtEvenly(strict))),
        productCost(options, "spmv", triangle, device_strict),
        sweepCost(options, triangle, async_sweeps), exactCost(options, triangle)};
    for (const Cost& cost : peerCosts(options, triangle, copyTo<Device>(scaled), device_strict))
      costs.push_back(cost);
    const double sweep = costs[0].times.seconds, even = costs[1].times.seconds;
    const Ordinal longest = detail::longestRow(exec, device_strict.graph);
    for (const Cost& cost : costs)
      results.add({triangle.name(), Offset(triangle.numLevels()), Offset(longest), cost.method,
                   cost.times.setup_seconds, cost.times.seconds, cost.times.seconds / sweep,
                   cost.times.seconds / even, cost.difference});
  });
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyCost<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
