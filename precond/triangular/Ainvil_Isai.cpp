// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_Isai.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_RowClasses.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "product/Ainvil_Probes.hpp"

#include <cmath>

namespace ainvil {
namespace {

using detail::findEntry;
using detail::forLanes;
using detail::num_probes;

/// Row i of M on the pattern J (without the diagonal if T is unit), T lower say:
///   acc_k = delta_ik;  for l in J from i downwards:  x_l = acc_l T_ll^-1,
///   acc_k -= x_l T_lk for every (l, k) stored in T with k < l and k in J.
/// The accumulators of all of J lie in scratch; the lanes look up the targets of row l of T, then
/// share the block products entry by entry of the targets.
template <int BS, class Stored, class Scalar, class Device>
struct IsaiRow {
  detail::KernelTriangle<Scalar> factor;
  detail::KernelGraph pattern;
  detail::KernelArray<Stored> values;
  detail::KernelArray<const Ordinal> rows; ///< null: all rows

  /// Entries of a row of T whose targets are looked up at a time.
  static constexpr int chunk = 64;

  /// Scratch: accumulators, x_l, target positions of a chunk.
  static std::size_t scratchBytes(int bs, Offset accumulators) {
    return accumulators + bs * bs * sizeof(Scalar) + chunk * sizeof(int);
  }

  /// acc_k -= x T_lk for k in J; x = I if `x` is null.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void eliminate(const Member& member, Ordinal l, const Scalar* x,
                                        Offset begin, Offset end, Scalar* acc,
                                        int* positions) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const auto& graph = factor.matrix.graph;
    const Offset l_end = factor.offDiagonal(l).second;
    for (Offset lk = factor.offDiagonal(l).first; lk < l_end; lk += chunk) {
      const int count = static_cast<int>(l_end - lk < chunk ? l_end - lk : chunk);
      forLanes(member, count, [&](const int t) {
        const Offset at = findEntry(pattern.entries, begin, end, graph.entries(lk + t));
        positions[t] = at < 0 ? -1 : static_cast<int>(at - begin);
      });
      forLanes(member, count * bs2, [&](const int item) {
        const int t = item / bs2;
        if (positions[t] < 0)
          return;
        const int e = item - t * bs2;
        const int r = e / bs, c = e - r * bs;
        const Scalar* block = factor.matrix.values.data() + (lk + t) * bs2;
        Scalar sum = 0;
        if (x == nullptr)
          sum = block[e];
        else
          for (int m = 0; m < bs; ++m)
            sum += x[r * bs + m] * block[m * bs + c];
        acc[positions[t] * bs2 + e] -= sum;
      });
    }
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const Ordinal i = rows.data() != nullptr ? rows(index) : index;
    const Offset begin = pattern.row_map(i), end = pattern.row_map(i + 1);
    const int length = static_cast<int>(end - begin);
    const bool lower = factor.uplo == Uplo::Lower;
    Scalar* acc = static_cast<Scalar*>(scratch);
    Scalar* x = acc + Offset(length) * bs2;
    int* positions = reinterpret_cast<int*>(x + bs2);

    // The diagonal entry, stored only where T is general, is the one the walk begins with.
    const int diagonal = lower ? length - 1 : 0;
    forLanes(member, length * bs2, [&](const int item) {
      const int position = item / bs2;
      const int e = item - position * bs2;
      const bool one = !factor.unit && position == diagonal && e % (bs + 1) == 0;
      acc[item] = one ? Scalar(1) : Scalar(0);
    });
    if (factor.unit)
      eliminate(member, i, nullptr, begin, end, acc, positions);
    for (int walked = 0; walked < length; ++walked) {
      const int position = lower ? length - 1 - walked : walked;
      const Ordinal l = pattern.entries(begin + position);
      const Scalar* acc_l = acc + position * bs2;
      Stored* out = values.data() + (begin + position) * bs2;
      forLanes(member, bs2, [&](const int e) {
        Scalar sum = 0;
        if (factor.unit) {
          sum = acc_l[e];
        } else {
          const int r = e / bs, c = e - r * bs;
          const Scalar* inverse = factor.diagonal_inverse.data() + Offset(l) * bs2;
          for (int m = 0; m < bs; ++m)
            sum += acc_l[r * bs + m] * inverse[m * bs + c];
        }
        x[e] = sum;
        out[e] = static_cast<Stored>(sum);
      });
      eliminate(member, l, x, begin, end, acc, positions);
    }
  }
};

/// Of the accumulators of a row.
template <class Device>
struct AccumulatorBytes {
  detail::RowLength<Device> length;
  Offset of_block;

  KOKKOS_FUNCTION Offset operator()(Offset row) const { return length(row) * of_block; }
};

} // namespace

template <class Stored, class Scalar, class Device>
IsaiTriangularSolver<Stored, Scalar, Device>::IsaiTriangularSolver(
    const IsaiParameters<Device>& parameters)
    : parameters_(parameters) {
  parameterTable().checked(parameters);
}

template <class Stored, class Scalar, class Device>
std::string IsaiTriangularSolver<Stored, Scalar, Device>::description() const {
  const bool is_given = parameters_.lower_pattern.row_map.extent(0) > 0 ||
                        parameters_.upper_pattern.row_map.extent(0) > 0;
  return is_given ? "isai, pattern: user, " + parameterTable().describe(parameters_, {"power"})
                  : "isai, " + parameterTable().describe(parameters_);
}

template <class Stored, class Scalar, class Device>
Graph<Device>
IsaiTriangularSolver<Stored, Scalar, Device>::inversePattern(const execution_space& exec,
                                                             const Factor& factor) const {
  const Graph<Device>& user =
      factor.uplo == Uplo::Lower ? parameters_.lower_pattern : parameters_.upper_pattern;
  if (user.row_map.extent(0) == 0)
    return patternPower(exec, factor.matrix.graph, parameters_.power);
  return triangularPattern(exec, factor.uplo == Uplo::Lower ? "L^-1" : "U^-1", user,
                           factor.matrix.numRows(), factor.uplo,
                           factor.unit ? Diagonal::Drop : Diagonal::Keep);
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::initialize(const execution_space& exec,
                                                              const Factor& factor,
                                                              const std::string& prefix,
                                                              Report& report) {
  const int bs = factor.matrix.block_size;
  const Offset bs2 = Offset(bs) * bs;
  unit_ = factor.unit;
  uplo_ = factor.uplo;
  report.phases.time(exec, "Isai", prefix + "isai_pattern", [&] {
    const Graph<Device> pattern = inversePattern(exec, factor);
    const BsrMatrix<Stored, Device> inverse(
        pattern, allocate<Stored, Device>(exec, "Ainvil::inverse", pattern.numEntries() * bs2), bs);
    inverse_ = SparseOperator<Scalar, Device>(exec, inverse);
    if (keep_transposed_)
      inverse_.keepTransposed(exec);
    rows_factor_ = factor;
    rows_pattern_ = pattern;
    rows_values_ = inverse.values;
    if (parameters_.side == IsaiSide::Columns) {
      const PermutedGraph<Device> t = transpose(exec, factor.matrix.graph);
      const PermutedGraph<Device> m = transpose(exec, pattern);
      // M is read off M^T, so its entries come from there.
      inverse_source_ = transpose(exec, m.graph).source;
      factor_source_ = t.source;
      rows_factor_.matrix = BsrMatrix<Scalar, Device>(
          t.graph, allocate<Scalar, Device>(exec, "Ainvil::transposed", factor.matrix.numScalars()),
          bs);
      rows_factor_.diagonal_inverse = allocate<Scalar, Device>(exec, "Ainvil::diagonal_inverse",
                                                               factor.diagonal_inverse.extent(0));
      rows_factor_.uplo = factor.uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
      rows_pattern_ = m.graph;
      rows_values_ =
          allocate<Stored, Device>(exec, "Ainvil::transposed_inverse", inverse.numScalars());
    }
    const Ordinal longest = parameters_.side == IsaiSide::Columns
                                ? detail::longestRow(exec, rows_pattern_)
                                : inverse_.longRows().longest();
    const AccumulatorBytes<Device> bytes{{rows_pattern_.row_map}, bs2 * Offset(sizeof(Scalar))};
    classes_ =
        detail::rowClasses<Device>(exec, rows_pattern_.num_rows, bytes, longest * bytes.of_block);
    if (parameters_.relax != 0) {
      factor_ = SparseOperator<Scalar, Device>(storageOf<Stored, Scalar>());
      factor_.setGraph(exec, factor.matrix.graph, bs);
      if (keep_transposed_)
        factor_.keepTransposed(exec);
      detail::workspaceOf(exec, workspace_, inverse_.numPointRows(), 1);
    }
  });
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::solveRows(
    const execution_space& exec, const Factor& factor,
    const Kokkos::View<Stored*, Device>& values) const {
  const int bs = factor.matrix.block_size;
  const auto shape = detail::teamsForRowsOf(factor.matrix.graph, bs * bs);
  for (const detail::RowClass<Device>& rows : classes_)
    detail::dispatchBlockSize(bs, [&](auto size) {
      using Row = IsaiRow<decltype(size)::value, Stored, Scalar, Device>;
      detail::forEachRow(exec, "Ainvil::Isai[solve]", rows.num_rows, shape,
                         Row{factor, rows_pattern_, values, rows.rows},
                         Row::scratchBytes(bs, rows.bytes));
    });
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::compute(const execution_space& exec,
                                                           const Factor& factor,
                                                           const std::string& prefix,
                                                           Report& report) {
  report.phases.time(exec, "Isai", prefix + "isai_solve", [&] {
    const int bs = factor.matrix.block_size;
    if (parameters_.side == IsaiSide::Columns) {
      gatherBlocks<Scalar, Device>(exec, Trans::Yes, factor_source_, bs, factor.matrix.values,
                                   rows_factor_.matrix.values);
      transposeBlocks<Scalar, Device>(exec, bs, factor.diagonal_inverse,
                                      rows_factor_.diagonal_inverse);
    }
    solveRows(exec, rows_factor_, rows_values_);
    if (parameters_.side == IsaiSide::Columns)
      gatherBlocks<Stored, Device>(exec, Trans::Yes, inverse_source_, bs, rows_values_,
                                   inverse().values);
    if constexpr (std::is_same<Stored, Scalar>::value)
      detail::requireFinite<Stored, Device>(exec, inverse().values, "the approximate inverse");
    else
      inverse_.checkRange(exec, !unit_);
    inverse_.updateTransposed(exec);
    if (parameters_.relax != 0) {
      factor_.update(exec, factor.matrix.values, !unit_);
      factor_.updateTransposed(exec);
    }
  });
  steps_ = parameters_.relax;
  if (parameters_.relax == IsaiParameters<Device>::relax_auto)
    report.phases.time(exec, "Isai", prefix + "isai_probe",
                       [&] { steps_ = findSteps(exec, report, prefix); });
}

template <class Stored, class Scalar, class Device>
int IsaiTriangularSolver<Stored, Scalar, Device>::findSteps(const execution_space& exec,
                                                            Report& report,
                                                            const std::string& prefix) {
  const Offset n = inverse_.numPointRows();
  const auto work = detail::workspaceOf(exec, probes_, n, 3 * num_probes);
  const auto part = [&](int k) {
    return MultiVectorArg<Scalar, Device>(work.data() + k * n * num_probes, n, num_probes);
  };
  const auto r = part(0), z = part(1), t = part(2);
  detail::fillProbes<Scalar, Device>(exec, r);
  const double r_norm = detail::norm<Scalar, Device>(exec, r);
  // z after k steps leaves the residual t = r - T z, which is what step k + 1 begins with.
  int best = 0;
  double best_residual = HUGE_VAL;
  steps_ = 0;
  apply(exec, r, z, Trans::No);
  for (int steps = 0; steps <= parameters_.relax_limit; ++steps) {
    step(exec, r, z, t, Trans::No);
    const double residual = r_norm > 0 ? detail::norm<Scalar, Device>(exec, t) / r_norm : 0.0;
    if (residual < best_residual) {
      best = steps;
      best_residual = residual;
    }
    if (residual <= parameters_.relax_threshold)
      break;
  }
  report.note(message(prefix, "relax=", best, " (residual ", best_residual, ")"));
  // z = 0 leaves 1. More than that may pass where unknowns differ in units, as long as it falls.
  const bool falls = best == parameters_.relax_limit && best > 0;
  constexpr double most = 1e3; // what sweeps may leave by default
  const bool good = best_residual < 1 || best_residual <= parameters_.relax_threshold;
  if (!good && !(falls && best_residual <= most))
    report.objection =
        message("the relaxation (relax=auto) on the ", uplo_ == Uplo::Lower ? "lower" : "upper",
                " factor diverges: its best step leaves random right-hand sides a residual ",
                best_residual, " times their own size; take a larger power, or solve=exact");
  return best;
}

/// t = r - op(T) z, z += op(M) t
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::step(const execution_space& exec,
                                                        MultiVectorArg<const Scalar, Device> r,
                                                        MultiVectorArg<Scalar, Device> z,
                                                        MultiVectorArg<Scalar, Device> t,
                                                        Trans trans) const {
  const Scalar one(1), keep(unit_ ? 1 : 0);
  factor_.multiplyAdd(exec, trans, -one, z, one, r, -keep, z, t);
  inverse_.multiplyAdd(exec, trans, one, t, one, z, keep, t, z);
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::apply(const execution_space& exec,
                                                         MultiVectorArg<const Scalar, Device> x,
                                                         MultiVectorArg<Scalar, Device> y,
                                                         Trans trans) const {
  ScopedRegion region("Ainvil::Isai::apply");
  const Scalar one(1), keep(unit_ ? 1 : 0);
  inverse_.multiplyAdd(exec, trans, one, x, keep, x, Scalar(0), x, y);
  if (steps_ == 0)
    return;
  const auto t = detail::workspaceOf(exec, workspace_, x.extent(0), x.extent(1));
  for (int k = 0; k < steps_; ++k)
    step(exec, x, y, t, trans);
}

template <class Stored, class Scalar, class Device>
Offset IsaiTriangularSolver<Stored, Scalar, Device>::entries() const {
  const Offset diagonal = unit_ ? inverse_.numPointRows() * inverse_.blockSize() : 0;
  return inverse_.numScalars() + diagonal;
}

template <class Stored, class Scalar, class Device>
Offset IsaiTriangularSolver<Stored, Scalar, Device>::bytes() const {
  return inverse_.bytes() * (steps_ + 1) + (steps_ > 0 ? factor_.bytes() * steps_ : 0);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class IsaiTriangularSolver<double, double, DEVICE>;                                     \
  template class IsaiTriangularSolver<float, double, DEVICE>;                                      \
  template class IsaiTriangularSolver<BFloat16, double, DEVICE>;                                   \
  template class IsaiTriangularSolver<float, float, DEVICE>;                                       \
  template class IsaiTriangularSolver<BFloat16, float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
