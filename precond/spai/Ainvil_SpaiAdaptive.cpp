// SPDX-License-Identifier: BSD-3-Clause
#include "spai/Ainvil_SpaiAdaptive.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "graph/Ainvil_BestCandidates.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "product/Ainvil_LongRows.hpp"
#include "spai/Ainvil_SpaiRow.hpp"
#include "spai/Ainvil_SpaiRowSolver.hpp"
#include "spai/Ainvil_SpaiWork.hpp"

namespace ainvil {
namespace {

using detail::forLanes;

/// Chooses what row i of M on the pattern J takes next. With its residual
///   R = E_i - M_i,J A_J,I,
/// the k outside of J whose rows of A meet I, of the largest
///   sum over point rows s of A_k, r of R:  (R_r a_ks^T)^2 / ||a_ks||^2,
/// which is what || R_r ||^2 loses to the best multiple of a_ks alone. The lanes of a row share the
/// entries of rows of A, then the candidates; a k that meets several columns of I counts for the
/// first of them.
template <class Scalar, class Device>
struct GrowSpaiRow {
  BsrMatrix<Scalar, Device> a;
  Graph<Device> columns; ///< of A^T
  Graph<Device> pattern, shadow;
  Kokkos::View<const Scalar*, Device> values; ///< of M
  detail::SpaiRowResults<Device> results;
  Kokkos::View<char*, Device> active;
  Kokkos::View<Ordinal*, Device> chosen; ///< per_step columns a row, -1 where there are fewer
  int per_step;
  double least; ///< of the squared residuals of rows that grow

  /// Of a row whose shadow has `longest` columns.
  std::size_t scratchBytes(Ordinal longest) const {
    return detail::BestCandidates::bytes(per_step) +
           std::size_t(longest) * a.block_size * a.block_size * sizeof(double);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    if (active(row) == 0) // chose nothing in the step before, and has chosen(...) = -1
      return;
    detail::Rank* const ranks = static_cast<detail::Rank*>(scratch);
    const detail::BestCandidates candidates{ranks, ranks + per_step, per_step};
    double* const residual =
        reinterpret_cast<double*>(ranks + per_step + detail::BestCandidates::batch);
    forLanes(member, per_step, [&](const int q) { candidates.best[q] = 0; });
    if (results.failed(row) == 0 && results.squared_residuals(row) > least) {
      findResidual(member, row, residual);
      for (Offset e = shadow.row_map(row); e < shadow.row_map(row + 1); ++e) {
        const Ordinal column = shadow.entries(e);
        candidates.consider(
            member, columns.row_map(column), columns.row_map(column + 1),
            [&](const Offset at, int) { return rank(row, column, columns.entries(at), residual); });
      }
    }
    forLanes(member, per_step, [&](const int q) {
      const detail::Rank rank = candidates.best[q];
      chosen(Offset(row) * per_step + q) = rank > 0 ? detail::columnOf(rank) : -1;
      if (q == 0)
        active(row) = rank > 0 ? 1 : 0;
    });
  }

private:
  /// R, b x b numbers for each column of I.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void findResidual(const Member& member, Ordinal row,
                                           double* residual) const {
    const int bs = a.block_size, bs2 = bs * bs;
    const Offset begin = shadow.row_map(row), end = shadow.row_map(row + 1);
    forLanes(member, static_cast<int>(end - begin) * bs2, [&](const int item) {
      const int at = item / bs2, e = item - at * bs2;
      residual[item] = shadow.entries(begin + at) == row && e % (bs + 1) == 0 ? 1.0 : 0.0;
    });
    for (Offset q = pattern.row_map(row); q < pattern.row_map(row + 1); ++q) {
      const Ordinal j = pattern.entries(q);
      const Offset first = a.graph.row_map(j);
      forLanes(member, static_cast<Ordinal>(a.graph.row_map(j + 1) - first), [&](const Ordinal t) {
        const Offset at =
            detail::lowerBound(shadow.entries, begin, end, a.graph.entries(first + t));
        for (int e = 0; e < bs2; ++e) {
          const int r = e / bs, c = e - r * bs;
          double sum = 0;
          for (int s = 0; s < bs; ++s)
            sum += double(values(q * bs2 + r * bs + s)) *
                   double(a.values((first + t) * bs2 + s * bs + c));
          residual[(at - begin) * bs2 + e] -= sum;
        }
      });
    }
  }

  /// Of row k of A, which has an entry in that column; 0 if k is in J, or meets I before.
  KOKKOS_INLINE_FUNCTION detail::Rank rank(Ordinal row, Ordinal column, Ordinal k,
                                           const double* residual) const {
    if (detail::findEntry(pattern.entries, pattern.row_map(row), pattern.row_map(row + 1), k) >= 0)
      return 0;
    detail::CommonColumns<Device> common(a.graph, k, shadow, row);
    if (!common.find() || shadow.entries(common.q) != column)
      return 0;
    double total = 0;
    for (int s = 0; s < a.block_size; ++s)
      total += gain(row, k, s, residual);
    return detail::rankOf(total, k);
  }

  /// sum over r of (R_r a_ks^T)^2 / ||a_ks||^2, a_ks scaled to a largest entry about 1.
  KOKKOS_INLINE_FUNCTION double gain(Ordinal row, Ordinal k, int s, const double* residual) const {
    const int bs = a.block_size;
    const double scale = detail::inversePowerOfTwo(double(detail::largestOfRow(a, k, s)));
    const auto entry = [&](const Offset e, int c) {
      return double(a.values((e * bs + s) * bs + c)) * scale;
    };
    double norm = 0, products = 0;
    for (Offset e = a.graph.row_map(k); e < a.graph.row_map(k + 1); ++e)
      for (int c = 0; c < bs; ++c)
        norm += entry(e, c) * entry(e, c);
    for (int r = 0; r < bs; ++r) {
      double product = 0;
      for (detail::CommonColumns<Device> common(a.graph, k, shadow, row); common.find();
           common.advance()) {
        const Offset at = common.q - shadow.row_map(row);
        for (int c = 0; c < bs; ++c)
          product += residual[(at * bs + r) * bs + c] * entry(common.p, c);
      }
      products += product * product;
    }
    return norm > 0 ? products / norm : 0.0;
  }
};

} // namespace

template <class Scalar, class Device>
Graph<Device> detail::adaptiveSpaiPattern(const typename Device::execution_space& exec,
                                          const BsrMatrix<Scalar, Device>& a,
                                          const Graph<Device>& a_with_diagonal,
                                          const Graph<Device>& start,
                                          const SpaiAdaptive& parameters, double max_work,
                                          const std::function<void(Offset)>& progress) {
  const Ordinal n = a.numRows();
  const int bs = a.block_size, per_step = parameters.per_step;
  const Graph<Device> columns = transpose(exec, a.graph).graph;
  const SpaiRowResults<Device> results(exec, n);
  const auto active = allocate<char, Device>(exec, "Ainvil::SpaiAdaptive::active", n);
  const auto chosen =
      allocate<Ordinal, Device>(exec, "Ainvil::SpaiAdaptive::chosen", size_t(n) * per_step);
  Kokkos::deep_copy(exec, active, char(1));
  Graph<Device> pattern = start;
  SlowScratch<typename Device::execution_space> scratch; // of long rows, for all steps
  for (int step = 0; step < parameters.steps; ++step) {
    const SpaiRowSolver<Scalar, Device> solver(exec, pattern, a_with_diagonal, bs);
    requireSpaiWork<Device>(exec, {pattern, solver.shadow(), bs, active}, max_work);
    const auto values = allocate<Scalar, Device>(exec, "Ainvil::SpaiAdaptive::values",
                                                 size_t(pattern.numEntries()) * bs * bs);
    solver.run(exec, a, values, results, 0, active, progress);
    const GrowSpaiRow<Scalar, Device> grow{
        a,       columns, pattern, solver.shadow(), values,
        results, active,  chosen,  per_step,        parameters.eps * parameters.eps * bs};
    forEachRow(exec, "Ainvil::SpaiAdaptive[grow]", n, teamsForRowsOf(a.graph), grow,
               grow.scratchBytes(longestRow(exec, solver.shadow())), &scratch);
    const Offset before = pattern.numEntries();
    pattern = unionGraph<Device>(exec, "Ainvil::SpaiAdaptive[pattern]", n, n,
                                 GrownLists<Device>{pattern, chosen, per_step},
                                 pattern.meanRowLength() + per_step);
    if (pattern.numEntries() == before)
      break;
  }
  return pattern;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template Graph<DEVICE> detail::adaptiveSpaiPattern<SCALAR, DEVICE>(                              \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const Graph<DEVICE>&, const Graph<DEVICE>&, const SpaiAdaptive&, double,                     \
      const std::function<void(Offset)>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
