// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of AINV share: the factors as lists of columns, and their comparison with the
/// reference.

#include "precond/PrecondSupport.hpp"
#include "precond/ainv/AinvReference.hpp"

#include "ainv/Ainvil_InverseFactors.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace test {

using AinvMethod = Ainv<double, Device>;

const Ordering orders[] = {Ordering::Natural, Ordering::Rcm, Ordering::NestedDissection};

/// S A S with S = diag(||A e_i||_2^-1/2).
HostBsr scaledByNorm(const HostBsr& a);

/// A problem of the gallery, a public matrix, or random patterns, as a scalar matrix; empty if a
/// file is not there.
HostBsr matrixNamed(const std::string& name);

AinvParameters ainv(double drop, Ordering order = Ordering::Natural, bool stabilized = true,
                    bool symmetric = true);

/// Those of Z or W that count, in the elimination order.
template <class D>
std::vector<SparseColumn> columnsOf(const detail::SparseColumns<double, D>& columns,
                                    const detail::ColumnState<double, D>& state) {
  const auto begin = toHost(columns.pool.begin);
  const auto rows = toHost(columns.rows);
  const auto values = toHost(columns.values);
  const auto counts = toHost(columns.counts);
  const auto current = toHost(state.current);
  std::vector<SparseColumn> result(current.size());
  for (size_t j = 0; j < result.size(); ++j) {
    const size_t list = j + current[j] * result.size();
    for (Offset e = begin[list]; e < begin[list] + counts[list]; ++e)
      result[j].push_back({rows[e], values[e]});
  }
  return result;
}

template <class D>
std::vector<double> pivotsOf(const detail::ColumnState<double, D>& state) {
  const auto current = toHost(state.current);
  const auto pivots = toHost(state.pivots);
  std::vector<double> result(current.size());
  for (size_t j = 0; j < result.size(); ++j)
    result[j] = pivots[j + current[j] * result.size()];
  return result;
}

/// Columns of Z and of W and pivots in the elimination order, as the method found them.
inline std::vector<SparseColumn> zOf(const AinvMethod& method) {
  return columnsOf(method.factors().z(), method.factors().state());
}
inline std::vector<SparseColumn> wOf(const AinvMethod& method) {
  return columnsOf(method.factors().w(), method.factors().state());
}
inline std::vector<double> pivotsOf(const AinvMethod& method) {
  return pivotsOf(method.factors().state());
}

std::string nameOf(const AinvParameters& parameters);

/// The scalar matrix in its elimination order without what BAINV leaves out.
HostBsr eliminated(const HostBsr& a, const AinvParameters& parameters);

/// The reference for the scalar matrix in its elimination order without what BAINV leaves out.
AinvReference referenceOf(const HostBsr& a, const AinvParameters& parameters);

/// The same entries, of the same values to `tolerance` of the largest in the column.
void expectSameColumns(const std::vector<SparseColumn>& found,
                       const std::vector<SparseColumn>& expected, double tolerance);

/// Factors, pivots to 1e3 times the tolerance, and counters.
void expectReference(const AinvMethod& method, const AinvReference& expected,
                     double tolerance = 1e-12);
void compareWithReference(const HostBsr& a, const AinvParameters& parameters,
                          double tolerance = 1e-12);

} // namespace test
} // namespace ainvil
