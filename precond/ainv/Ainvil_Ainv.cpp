// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ainv.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Partition.hpp"
#include "ainv/Ainvil_BlockAinv.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_Remedies.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_SortRows.hpp"
#include "graph/Ainvil_Symmetry.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using detail::Range;

/// Of Z and W, for a matrix of so many; 0: any number. A million is no trouble.
Offset mostEntries(const AinvParameters& parameters, Offset of_matrix) {
  const double most = std::max(1e6, parameters.max_fill * double(of_matrix));
  return parameters.max_fill > 0 && most < 1e18 ? static_cast<Offset>(most) : 0;
}

enum class PivotPower { Zero, InverseRoot, Inverse };

/// The transposed factor in the numbering of A: column j of the factor, times that power of d_j, is
/// row order(j). In the arrays of `to`; `places` is to work with. Waits.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> rowsOf(const typename Device::execution_space& exec,
                                 const detail::SparseColumns<Scalar, Device>& columns,
                                 const detail::ColumnState<Scalar, Device>& state,
                                 const Kokkos::View<const Ordinal*, Device>& order,
                                 PivotPower power, detail::AinvArrays<Scalar, Device>& to,
                                 Kokkos::View<Offset*, Device>& places) {
  using Exec = typename Device::execution_space;
  const Ordinal n = columns.num_columns;
  to.reserveRows(exec, n);
  const auto row_map = to.row_map;
  Kokkos::parallel_for(
      "Ainvil::Ainv[count]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset j) {
        row_map(order(j)) = columns.count(static_cast<Ordinal>(j), state.current(j));
      });
  const Offset total = detail::countsToOffsets(exec, row_map);
  to.reserveBlocks(exec, total, total);
  reserve(exec, "Ainvil::places", places, total, total / 10);
  const auto entries = firstOf(to.entries, total);
  const auto values = firstOf(to.values, total);
  const auto source = firstOf(places, total);
  Kokkos::parallel_for(
      "Ainvil::Ainv[fill]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset j) {
        const int version = state.current(j);
        const Offset from = columns.begin(static_cast<Ordinal>(j), version);
        const Ordinal count = columns.count(static_cast<Ordinal>(j), version);
        const Offset begin = row_map(order(j));
        for (Ordinal e = 0; e < count; ++e) {
          entries(begin + e) = order(columns.rows(from + e));
          source(begin + e) = from + e;
        }
      });
  detail::sortKeys<Device>(exec, "Ainvil::Ainv[sort]", row_map, entries, source);
  Kokkos::parallel_for(
      "Ainvil::Ainv[values]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset j) {
        const Scalar d = state.pivot(static_cast<Ordinal>(j), state.current(j));
        const Scalar factor = power == PivotPower::InverseRoot ? Scalar(1) / compat::math::sqrt(d)
                              : power == PivotPower::Inverse   ? Scalar(1) / d
                                                               : Scalar(1);
        const Offset end = row_map(order(j) + 1);
        for (Offset e = row_map(order(j)); e < end; ++e)
          values(e) = factor * columns.values(source(e));
      });
  return {Graph<Device>(n, n, row_map, entries), values, 1};
}

/// The transposed matrix in the arrays of `to`.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device>
transposeOf(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
            detail::AinvArrays<Scalar, Device>& to, Kokkos::View<Offset*, Device>& places) {
  const Offset total = a.numEntries();
  to.reserveRows(exec, a.numCols());
  to.reserveBlocks(exec, total, a.numScalars());
  reserve(exec, "Ainvil::places", places, total, total / 10);
  const auto source = firstOf(places, total);
  const auto values = firstOf(to.values, a.numScalars());
  const Graph<Device> graph =
      detail::transposeInto<Device>(exec, a.graph, to.row_map, firstOf(to.entries, total), source);
  gatherBlocks<Scalar, Device>(exec, a.block_size > 1 ? Trans::Yes : Trans::No, source,
                               a.block_size, a.values, values);
  return {graph, values, a.block_size};
}

/// Of the columns, for a matrix with so many entries.
template <class Scalar>
detail::InverseFactorsParameters columnParameters(const AinvParameters& parameters,
                                                  Offset of_matrix) {
  return {parameters.stabilized,
          parameters.symmetric,
          dropRule(parameters),
          parameters.drop,
          parameters.max_column,
          parameters.breakdown,
          parameters.shift,
          parameters.pivot_tolerance * std::numeric_limits<Scalar>::epsilon(),
          mostEntries(parameters, of_matrix)};
}

/// `to` becomes the matrix, in its own precision of storage.
template <class Scalar, class Device>
void store(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
           SparseOperator<Scalar, Device>& to) {
  detail::requireFinite<Scalar, Device>(exec, a.values, "an inverse factor");
  to.setGraph(exec, a.graph, a.block_size, a.numScalars() / 10);
  to.update(exec, a.values);
}

} // namespace

template <class Scalar, class Device>
Ainv<Scalar, Device>::Ainv(const AinvParameters& parameters)
    : parameters_(parameterTable().checked(parameters)),
      factors_(new detail::InverseFactors<Scalar, Device>()) {}

template <class Scalar, class Device>
Ainv<Scalar, Device>::~Ainv() = default;

template <class Scalar, class Device>
std::string Ainv<Scalar, Device>::description() const {
  return message("ainv: {", parameterTable().describe(parameters_), "}");
}

template <class Scalar, class Device>
void Ainv<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  // Where the entries come from: those of `kept` in those of `points`, these in the values of A.
  // Points are block rows where the factors are in blocks.
  block_size_ = parameters_.blocks ? a.block_size : 1;
  PermutedGraph<Device> points{a.graph, {}};
  if (a.block_size > block_size_)
    points = toPoints(exec, a.graph, a.block_size);
  PermutedGraph<Device> kept{points.graph, {}};
  if (parameters_.parts > 1)
    report_.phases.time(exec, "Ainv", "partition", [&] {
      const auto partition_of =
          partition(copyTo<HostDevice>(points.graph), static_cast<Ordinal>(parameters_.parts));
      edge_cut_ = partition_of.edge_cut;
      largest_part_ = partition_of.largest;
      kept = entriesWithinParts(exec, points.graph, copyTo<Device>(partition_of).part_of);
    });
  report_.phases.time(exec, "Ainv", "order", [&] {
    order_ = parameters_.order == Ordering::Natural
                 ? identityPermutation<Device>(exec, points.graph.num_rows)
                 : copyTo<Device>(ordering(parameters_.order, copyTo<HostDevice>(kept.graph)));
  });
  report_.phases.time(exec, "Ainv", "plan", [&] {
    const PermutedGraph<Device> ordered = permuted(exec, order_, kept.graph);
    graph_ = ordered.graph;
    source_ = ordered.source;
    if (kept.source.data() != nullptr)
      source_ = composed<Device>(exec, source_, kept.source);
    if (points.source.data() != nullptr)
      source_ = composed<Device>(exec, source_, points.source);
    const Offset scalars = graph_.numEntries() * block_size_ * block_size_;
    values_ = allocate<Scalar, Device>(exec, "Ainvil::values", scalars);
    transposed_ = {};
    transposed_values_ = {};
    if (!parameters_.symmetric) {
      transposed_ = transpose(exec, graph_);
      transposed_values_ = allocate<Scalar, Device>(exec, "Ainvil::values", scalars);
    }
    *factors_ = {};
    block_factors_ = {};
    if (block_size_ > 1)
      block_factors_ = std::make_unique<detail::BlockAinv<Scalar, Device>>(
          exec, columnParameters<Scalar>(parameters_, scalars), orderedMatrix(), transposedMatrix(),
          order_);
    left_ = right_ = SparseOperator<Scalar, Device>(parameters_.storage);
    left_arrays_ = right_arrays_ = z_arrays_ = {};
    places_ = {};
    detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
    symmetry_room_ = {};
    if (parameters_.symmetric)
      symmetry_room_ = detail::symmetryRoom<Device>(exec, a.numRows());
  });
}

template <class Scalar, class Device>
void Ainv<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  if (parameters_.symmetric)
    report_.phases.time(exec, "Ainv", "check", [&] {
      detail::requireSymmetric(exec, a, "ainv with one factor", "use symmetric=no", symmetry_room_);
    });
  detail::InverseFactorsResult found;
  report_.phases.time(exec, "Ainv", "columns", [&] { found = findColumns(exec, a); });
  report_.breakdowns = found.breakdowns;
  report_.first_breakdown = found.first_breakdown;
  if (found.first_breakdown >= 0)
    report_.first_breakdown = detail::readBack(exec, order_.new_to_old, found.first_breakdown) *
                              block_size_ / a.block_size;
  requireComplete(found);
  if (report_.breakdowns > 0 && parameters_.breakdown == BreakdownPolicy::Fail) {
    *factors_ = {}; // columns of a failure are a bad start
    throw BreakdownError(
        message(report_.breakdowns, " or more pivot", block_size_ > 1 ? " blocks" : "s", " are ",
                !parameters_.symmetric ? (block_size_ > 1 ? "singular" : "zero") : "not positive",
                parameters_.symmetric ? (block_size_ > 1 ? " definite" : "") : " to rounding",
                " or not finite, the first in ", counted("block row", report_.first_breakdown),
                !parameters_.symmetric   ? ": scale or reorder the matrix, "
                : parameters_.stabilized ? ": is the matrix positive definite? Scale it, "
                                         : ": use sainv, ",
                "drop less, or choose the breakdown policy 'shift' or 'replace'"));
  }
  report_.phases.time(exec, "Ainv", "assemble", [&] { assemble(exec); });
  if (block_factors_ == nullptr) {
    report_.note(message("rounds=", factors_->rounds()));
    report_.note(message("columns=", double(factors_->columnsComputed()) /
                                         std::max<double>(1, double(graph_.num_rows))));
  }
  if (parameters_.parts > 1) {
    report_.note(message("cut=", edge_cut_));
    report_.note(message("largest-part=", largest_part_));
  }
}

template <class Scalar, class Device>
auto Ainv<Scalar, Device>::orderedMatrix() const -> Matrix {
  return {graph_, values_, block_size_};
}

template <class Scalar, class Device>
auto Ainv<Scalar, Device>::transposedMatrix() const -> Matrix {
  return parameters_.symmetric ? orderedMatrix()
                               : Matrix(transposed_.graph, transposed_values_, block_size_);
}

/// Z, W and D; what is told of them, by rows in the elimination order.
template <class Scalar, class Device>
detail::InverseFactorsResult Ainv<Scalar, Device>::findColumns(const execution_space& exec,
                                                               const Matrix& a) {
  gatherBlocks<Scalar, Device>(exec, Trans::No, source_, block_size_, a.values, values_);
  if (!parameters_.symmetric)
    gatherBlocks<Scalar, Device>(exec, block_size_ > 1 ? Trans::Yes : Trans::No, transposed_.source,
                                 block_size_, values_, transposed_values_);
  const auto progress = this->progressOf("columns", graph_.num_rows);
  if (block_factors_ != nullptr) {
    block_factors_->compute(exec, orderedMatrix(), transposedMatrix(), progress);
    return block_factors_->factors().result();
  }
  if (factors_->numColumns() != graph_.num_rows)
    *factors_ = detail::InverseFactors<Scalar, Device>(
        exec, columnParameters<Scalar>(parameters_, graph_.numEntries()), graph_.num_rows);
  try {
    factors_->compute(exec, orderedMatrix(), transposedMatrix(), progress);
  } catch (...) { // out of memory, say: half of the columns may have moved to new places
    *factors_ = {};
    throw;
  }
  return factors_->result();
}

/// Throws BreakdownError if there are too many entries.
template <class Scalar, class Device>
void Ainv<Scalar, Device>::requireComplete(const detail::InverseFactorsResult& found) {
  if (!found.is_too_full)
    return;
  *factors_ = {};
  std::vector<std::string> taken;
  if (parameters_.order == Ordering::NestedDissection)
    taken = {"order"};
  const detail::Remedies remedies{
      {"choose order=nd", "order"},
      {parameters_.max_column > 0 ? "take a smaller max-col" : "limit the columns by max-col"},
      {"drop more"},
      {"raise max-fill"},
      {"take another preconditioner"}};
  throw BreakdownError(remedies.without(taken).after(
      message("the inverse factors of ainv fill up: they have ", found.entries,
              " entries, more than max-fill=", parameters_.max_fill, " times the ",
              orderedMatrix().numScalars(), " of the matrix, and are not complete")));
}

/// The factors that apply() multiplies with.
template <class Scalar, class Device>
void Ainv<Scalar, Device>::assemble(const execution_space& exec) {
  const bool symmetric = parameters_.symmetric;
  left_.clear(); // arrays that become too short are freed before there are longer ones
  right_.clear();
  const auto rows = [&](const auto& columns, PivotPower power, auto& to) {
    return rowsOf<Scalar, Device>(exec, columns, factors_->state(), order_.new_to_old, power, to,
                                  places_);
  };
  const Matrix right =
      block_factors_ != nullptr
          ? block_factors_->right(exec, right_arrays_)
          : rows(factors_->w(), symmetric ? PivotPower::InverseRoot : PivotPower::Inverse,
                 right_arrays_);
  store(exec, right, right_);
  const Matrix z = symmetric                   ? right
                   : block_factors_ != nullptr ? block_factors_->zTransposed(exec, z_arrays_)
                                               : rows(factors_->z(), PivotPower::Zero, z_arrays_);
  store(exec, transposeOf<Scalar, Device>(exec, z, left_arrays_, places_), left_);
  report_.factor_entries = right_.numScalars() + (symmetric ? 0 : left_.numScalars());
  report_.factor_bytes = left_.bytes() + right_.bytes();
}

template <class Scalar, class Device>
void Ainv<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  if (trans == Trans::No || parameters_.symmetric) {
    right_.multiply(exec, Trans::No, Scalar(1), x, Scalar(0), t);
    left_.multiply(exec, Trans::No, Scalar(1), t, Scalar(0), y);
  } else {
    left_.multiply(exec, Trans::Yes, Scalar(1), x, Scalar(0), t);
    right_.multiply(exec, Trans::Yes, Scalar(1), t, Scalar(0), y);
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Ainv<double, DEVICE>;                                                             \
  template class Ainv<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
