// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of threshold ILU by steps that take all rows at a time.

#include "ilu/Ainvil_IluOnPattern.hpp"
#include "ilu/Ainvil_IlutRule.hpp"

#include <functional>

namespace ainvil {
namespace detail {

/// The patterns of a symmetric factorisation: that of U is given, without its diagonal.
template <class Device>
FillTriangles<Device> symmetricTriangles(const typename Device::execution_space& exec,
                                         const Graph<Device>& upper) {
  const Graph<Device> lower = transpose(exec, upper).graph;
  return {triangle(exec, lower, Uplo::Lower, Diagonal::Keep), upper};
}

/// The patterns of the factors by ParILUT with rows in place of entries. A step has factors L and U
/// on a pattern S, which begins as that of A, and
///   1. adds the candidates: the pattern of A - L U, row i that of A_i, L_i and the U_k for k in
///   L_i;
///   2. computes all rows on it from the U of S, a sweep as in IluOnPattern;
///   3. keeps as S what `rule` says of these, the largest of all rows where it bounds them;
///   4. computes all rows of S from the U that is left of step 2, another sweep.
/// With symmetric patterns only the sizes of U count, whose entries have half of what the rule
/// allows, and L follows; the sweeps are those of general matrices, twice the work that symmetry
/// needs. Pivots that cannot be inverted are replaced as the policy of `options` says; `breakdowns`
/// becomes how many the last sweep had. `progress`, if there is one, is told of n = a.numRows()
/// rows how many are done, a sweep counting for its share of them. The result depends on no order
/// in which threads run. Cost of a step: two sweeps, the first on a pattern of about the mean row
/// of U times the entries of L, which have to find room in memory. Waits. Source: Anzt, Chow,
/// Dongarra, ParILUT: A new parallel threshold ILU factorization, SIAM J. Sci. Comput. 40 (2018);
/// Ribizel, Anzt, Parallel selection on GPUs, and Anzt, Ribizel, Flegar, Chow, Dongarra, ParILUT: a
/// parallel threshold ILU for GPUs, IPDPS (2019). There a sweep solves an equation an entry, and L
/// and U are bounded each.
template <class Scalar, class Device>
FillTriangles<Device> ilutPatternBySteps(const typename Device::execution_space& exec,
                                         const BsrMatrix<Scalar, Device>& a, const IlutRule& rule,
                                         const IluOnPatternOptions& options, int steps,
                                         FactorKind kind, Ordinal& breakdowns,
                                         const std::function<void(Offset)>& progress);

} // namespace detail
} // namespace ainvil
