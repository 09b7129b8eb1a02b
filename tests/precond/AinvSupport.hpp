// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of AINV share: the factors as lists of columns, and their comparison with the
/// reference.

#include "AinvReference.hpp"
#include "PrecondSupport.hpp"

#include "Ainvil_Ainv.hpp"

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

/// Columns of Z and of W and pivots in the elimination order, as the method found them.
std::vector<SparseColumn> zOf(const AinvMethod& method);
std::vector<SparseColumn> wOf(const AinvMethod& method);
std::vector<double> pivotsOf(const AinvMethod& method);

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
