// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of factored sparse approximate inverses that grow where they gain most.

#include "Ainvil_Fsai.hpp"

#include <functional>

namespace ainvil {
namespace detail {

template <class Device>
struct AdaptiveParameters {
  Graph<Device> start;      ///< lower triangular with its diagonal
  Graph<Device> neighbours; ///< A~, a symmetric part of the graph of A
  FsaiAdaptive growth;
  Ordinal max_row = 0;                    ///< rows of so many blocks stop, 0: no limit
  Offset chunk_bytes = Offset(256) << 20; ///< as in FsaiParameters
};

/// The pattern of G after the adaptive steps described at Fsai, for A with sorted rows. All rows
/// take a step together: their G_i are solved for, the gradients evaluated, the pattern merged with
/// what they chose. Every candidate is looked at, however many a row has. Of candidates with the
/// same gain, up to single precision, those nearest to the diagonal are taken. A row is complete
/// if
///   * its last step left psi_i > (1 - tolerance) psi_i of the step before, tolerance > 0,
///   * no candidate has a gain above 0, or it holds max_row blocks already,
///   * its local system is not SPD: the pattern remains, compute() will meet and count it,
/// and is not solved for any more. `progress`, if there is one, is told of n = a.numRows() rows how
/// many are done, a step counting for its share of them. Memory: G on the pattern, per_step columns
/// a row.
template <class Scalar, class Device>
Graph<Device> adaptivePattern(const typename Device::execution_space& exec,
                              const BsrMatrix<Scalar, Device>& a,
                              const AdaptiveParameters<Device>& parameters,
                              const std::function<void(Offset)>& progress);

} // namespace detail
} // namespace ainvil
