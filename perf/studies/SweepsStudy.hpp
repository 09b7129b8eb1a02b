// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The studies of ainvil-triangular-sweeps. Each measures one system and adds rows to the results,
/// whose columns it names. They repeat figures 2 to 5 and table 2 of Chow, Anzt, Scott, Dongarra,
/// Using Jacobi iterations and blocking for solving sparse triangular systems in incomplete
/// factorization preconditioning (2018).

#include "studies/StudyResults.hpp"
#include "studies/SweepsOptions.hpp"

namespace ainvil {
namespace perf {

/// What sweeps on L x = b and U x = b, b = 1, leave after each of them: ||b - T x|| / ||b|| and
/// ||x - T^-1 b|| / ||T^-1 b||, over all runs where the sweeps are asynchronous.
template <class Device>
void studyResiduals(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> residualColumns();

/// Seconds of one sweep, of exact solves and of products with the same entries.
template <class Device>
void studyCost(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> costColumns();

/// Seconds of a product with A, ours, Kokkos Kernels' and cuSPARSE's, and of a copy, with the bytes
/// they move.
template <class Device>
void studyProduct(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> productColumns();

/// Seconds of the patterns of ISAI, S(|L|^p) of the lower triangle L of A for each p from 2 on, and
/// of Kokkos Kernels' sparse matrix products, with the bytes of L and its power.
template <class Device>
void studyPattern(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> patternColumns();

/// Iterations and seconds of FGMRES with ILU(0): exact solves, sweeps instead of them, sweeps
/// instead of the exact factorisation.
template <class Device>
void studySolve(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> solveColumns();

/// Seconds of ILU(0), level by level and by sweeps, and what the latter leave of A - L U.
template <class Device>
void studyFactor(const SweepsOptions& options, const LinearSystem& system, Results& results);
std::vector<Column> factorColumns();

} // namespace perf
} // namespace ainvil
