// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Fsai.hpp"

#include "Ainvil_FsaiAdaptive.hpp"
#include "Ainvil_FsaiPattern.hpp"
#include "Ainvil_FsaiRows.hpp"
#include "Ainvil_PivotInverter.hpp"
#include "Ainvil_SelectEntries.hpp"

#include <climits>

namespace ainvil {
namespace {

using detail::Range;

/// Entry e of a graph survived the filter; `source` leads to G from a permuted graph.
template <class Device>
struct KeepFlagged {
  Kokkos::View<const char*, Device> kept;
  Kokkos::View<const Offset*, Device> source; ///< empty: e itself

  KOKKOS_FUNCTION bool operator()(Ordinal, Offset e) const {
    return kept(source.data() != nullptr ? source(e) : e) != 0;
  }
};

/// Entry e goes to position `to`: its column, unless the graph is shared, and op(block).
template <class Out, class Scalar, class Device>
struct WriteBlock {
  Kokkos::View<const Ordinal*, Device> columns;
  Kokkos::View<const Offset*, Device> source; ///< empty: e itself
  Kokkos::View<const Scalar*, Device> values;
  int bs;
  Trans trans;
  Kokkos::View<Ordinal*, Device> to_columns; ///< empty: the graph is shared
  Kokkos::View<Out*, Device> to_values;

  KOKKOS_FUNCTION void operator()(Offset to, Offset e) const {
    if (to_columns.data() != nullptr)
      to_columns(to) = columns(e);
    const Scalar* from = values.data() + (source.data() != nullptr ? source(e) : e) * bs * bs;
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c)
        to_values((to * bs + r) * bs + c) =
            static_cast<Out>(trans == Trans::Yes ? from[c * bs + r] : from[r * bs + c]);
  }
  KOKKOS_FUNCTION void operator()(Offset e) const { (*this)(e, e); }
};

/// Number of failed systems and, in `first`, the row of the first. Waits.
template <class Device>
Offset countFailed(const typename Device::execution_space& exec,
                   const Kokkos::View<int*, Device>& info, Ordinal& first) {
  using Exec = typename Device::execution_space;
  Offset failed = 0;
  Ordinal smallest = INT_MAX;
  Kokkos::parallel_reduce(
      "Ainvil::Fsai[check]", Range<Exec>(exec, 0, info.extent(0)),
      KOKKOS_LAMBDA(const Offset row, Offset& sum, Ordinal& least) {
        if (info(row) == 0)
          return;
        ++sum;
        least = row < least ? static_cast<Ordinal>(row) : least;
      },
      failed, Kokkos::Min<Ordinal>(smallest));
  compat::fence(exec, "Ainvil::Fsai[check]");
  first = failed > 0 ? smallest : -1;
  return failed;
}

/// Room for n elements, a tenth more where that takes a new array.
template <class T, class Device>
void reserve(const typename Device::execution_space& exec, const char* label,
             Kokkos::View<T*, Device>& array, Offset n) {
  if (Offset(array.extent(0)) >= n)
    return;
  array = {};
  array = allocate<T, Device>(exec, label, n + n / 10);
}

} // namespace

template <class Scalar, class Device>
Fsai<Scalar, Device>::Fsai(const FsaiParameters<Device>& parameters) : parameters_(parameters) {
  const auto require = [](bool good, const auto&... text) {
    if (!good)
      throw InvalidArgument(message(text...));
  };
  require(parameters_.tau >= 0 && parameters_.tau < 1,
          "the threshold tau must lie in [0, 1), but it is ", parameters_.tau);
  require(parameters_.power >= 0, "the pattern power must not be negative, but it is ",
          parameters_.power);
  require(parameters_.max_row >= 0,
          "the limit of blocks a row must not be negative (0: no limit), but it is ",
          parameters_.max_row);
  const FsaiAdaptive& adaptive = parameters_.adaptive;
  require(adaptive.steps >= 0,
          "the adaptive steps must not be negative (0: static pattern), but there are ",
          adaptive.steps);
  require(adaptive.per_step >= 1, "an adaptive step must add at least 1 block, but it adds ",
          adaptive.per_step);
  require(adaptive.tolerance >= 0 && adaptive.tolerance < 1,
          "the adaptive tolerance must lie in [0, 1), but it is ", adaptive.tolerance);
  require(adaptive.power >= 0, "the power of the starting pattern must not be negative, but it is ",
          adaptive.power);
  require(parameters_.filter >= 0 && parameters_.filter < 1,
          "the post-filter must lie in [0, 1), but it is ", parameters_.filter);
  require(parameters_.shift > 0, "the shift must be positive, but it is ", parameters_.shift);
  require(parameters_.chunk_bytes > 0, "the size of a chunk must be positive, but it is ",
          parameters_.chunk_bytes);
}

template <class Scalar, class Device>
std::string Fsai<Scalar, Device>::description() const {
  const FsaiAdaptive& adaptive = parameters_.adaptive;
  const bool from_user = parameters_.pattern.row_map.extent(0) > 0;
  std::string text = from_user ? "fsai: {pattern: user" : message("fsai: {tau: ", parameters_.tau);
  if (from_user && adaptive.steps > 0)
    text += message(", tau: ", parameters_.tau);
  if (!from_user)
    text += message(", power: ", adaptive.steps > 0 ? adaptive.power : parameters_.power);
  if (adaptive.steps > 0)
    text += message(", adaptive: ", adaptive.steps, ", per-step: ", adaptive.per_step,
                    ", tolerance: ", adaptive.tolerance);
  if (parameters_.max_row > 0 && (adaptive.steps > 0 || !from_user))
    text += message(", max-row: ", parameters_.max_row);
  const bool in_float = parameters_.storage == Storage::Float || std::is_same<Scalar, float>::value;
  return text + message(", filter: ", parameters_.filter,
                        in_float ? ", storage: float}" : ", storage: double}");
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  const Ordinal n = a.numRows();
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  detail::checkDiagonal(exec, a.graph, parameters_.breakdown);
  block_size_ = a.block_size;
  report_.phases.time(exec, "Fsai", "pattern", [&] { pattern_ = makePattern(exec, a); });
  report_.phases.time(exec, "Fsai", "transpose_pattern",
                      [&] { transposed_ = transpose(exec, pattern_); });
  report_.phases.time(exec, "Fsai", "plan", [&] {
    values_ = allocate<Scalar, Device>(exec, "Ainvil::Fsai::values", pattern_.numEntries() * bs2);
    info_ = allocate<int, Device>(exec, "Ainvil::Fsai::info", n);
    kept_ = {};
    if (parameters_.filter > 0)
      kept_ = allocate<char, Device>(exec, "Ainvil::Fsai::kept", pattern_.numEntries());
    g_arrays_ = gt_arrays_ = {};
    solver_ = {}; // frees the memory of its chunks
    solver_ =
        detail::FsaiRowSolver<Scalar, Device>(exec, pattern_, block_size_, parameters_.chunk_bytes);
    detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
  });
}

template <class Scalar, class Device>
Graph<Device> Fsai<Scalar, Device>::makePattern(const execution_space& exec,
                                                const Matrix& a) const {
  const FsaiAdaptive& adaptive = parameters_.adaptive;
  const bool from_user = parameters_.pattern.row_map.extent(0) > 0;
  const Graph<Device> sparse = parameters_.tau > 0 && (adaptive.steps > 0 || !from_user)
                                   ? detail::sparsified(exec, a, parameters_.tau)
                                   : a.graph;
  const int power = adaptive.steps > 0 ? adaptive.power : parameters_.power;
  const Graph<Device> start = from_user
                                  ? triangularPattern(exec, "G", parameters_.pattern, a.numRows(),
                                                      Uplo::Lower, Diagonal::Keep)
                                  : detail::lowerPower(exec, sparse, power, parameters_.max_row);
  if (adaptive.steps == 0)
    return start;
  return detail::adaptivePattern(exec, a,
                                 detail::AdaptiveParameters<Device>{start, sparse, adaptive,
                                                                    parameters_.max_row,
                                                                    parameters_.chunk_bytes});
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  report_.phases.time(exec, "Fsai", "check", [&] {
    Ordinal first = -1;
    if (const Offset bad = detail::countUnsymmetric(exec, a, first))
      throw InvalidArgument(message("fsai needs a symmetric matrix, but ", bad,
                                    " blocks differ from their mirror image, the first in block "
                                    "row ",
                                    first, ": use ilu"));
  });
  report_.phases.time(exec, "Fsai", "cholesky", [&] { solveRows(exec, a); });
  const Offset before = pattern_.numEntries();
  if (parameters_.filter > 0)
    report_.phases.time(exec, "Fsai", "filter", [&] {
      filterRows(exec, a);
      g_ = assemble(exec, g_arrays_, pattern_, Trans::No);
    });
  else
    g_ = assemble(exec, g_arrays_, pattern_, Trans::No);
  report_.phases.time(exec, "Fsai", "transpose",
                      [&] { gt_ = assemble(exec, gt_arrays_, transposed_.graph, Trans::Yes); });
  const double in_a = std::max<double>(1, double(a.numEntries()));
  report_.note(message("density=", double(before) / in_a));
  if (parameters_.filter > 0)
    report_.note(message("filtered=", double(g_.graph().numEntries()) / in_a));
  report_.factor_entries = g_.numScalars();
  report_.factor_bytes = g_.bytes() + gt_.bytes();
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::solveRows(const execution_space& exec, const Matrix& a) {
  solver_.run(exec, a, values_, info_);
  Ordinal first = -1;
  const Offset failed = countFailed(exec, info_, first);
  if (failed == 0)
    return;
  if (parameters_.breakdown == BreakdownPolicy::Fail)
    throw BreakdownError(
        message(failed, " local systems are not positive definite, the first in block row ", first,
                ": the matrix is not SPD, or needs scaling, or the breakdown policy 'shift' or "
                "'replace'"));
  if (parameters_.breakdown == BreakdownPolicy::Shift)
    solver_.run(exec, a, values_, info_, parameters_.shift);
  report_.breakdowns = failed;
  report_.first_breakdown = first;
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::filterRows(const execution_space& exec, const Matrix& a) {
  using Row = detail::FsaiFilterRow<Scalar, Device>;
  detail::forEachRow(
      exec, "Ainvil::Fsai[filter]", pattern_.num_rows, detail::teamsForRowsOf(pattern_),
      Row{a, pattern_, values_, kept_, parameters_.filter}, Row::scratchBytes(block_size_));
}

/// G or G^T in the storage precision from the blocks the filter left.
template <class Scalar, class Device>
StoredMatrix<Scalar, Device>
Fsai<Scalar, Device>::assemble(const execution_space& exec, Factor& factor,
                               const Graph<Device>& graph, Trans trans) const {
  const Storage storage = parameters_.storage;
  const bool filtered = parameters_.filter > 0;
  const Offset bs2 = Offset(block_size_) * block_size_;
  Kokkos::View<const Offset*, Device> source;
  if (trans == Trans::Yes)
    source = transposed_.source;
  else if (!filtered && storage == Storage::Native)
    return {exec, storage, graph, block_size_, values_, {}};

  Graph<Device> result = graph;
  const KeepFlagged<Device> keep{kept_, source};
  if (filtered) {
    reserve<Offset, Device>(exec, "Ainvil::row_map", factor.row_map, Offset(graph.num_rows) + 1);
    const auto row_map =
        Kokkos::subview(factor.row_map, std::make_pair(Offset(0), Offset(graph.num_rows) + 1));
    const Offset total =
        detail::countSelected(exec, graph, keep, Kokkos::View<Offset*, Device>(row_map));
    reserve<Ordinal, Device>(exec, "Ainvil::entries", factor.entries, total);
    result = {graph.num_rows, graph.num_cols, row_map,
              Kokkos::subview(factor.entries, std::make_pair(Offset(0), total))};
  }
  const auto write = [&](auto& array) {
    using Out = typename std::decay_t<decltype(array)>::value_type;
    const Offset scalars = result.numEntries() * bs2;
    reserve<Out, Device>(exec, "Ainvil::Fsai::factor", array, scalars);
    const Kokkos::View<Out*, Device> out =
        Kokkos::subview(array, std::make_pair(Offset(0), scalars));
    const WriteBlock<Out, Scalar, Device> body{graph.entries,
                                               source,
                                               values_,
                                               block_size_,
                                               trans,
                                               filtered ? factor.entries
                                                        : Kokkos::View<Ordinal*, Device>(),
                                               out};
    if (filtered)
      detail::writeSelected(exec, graph, keep, body, result.row_map);
    else
      Kokkos::parallel_for("Ainvil::Fsai[write]",
                           Range<execution_space>(exec, 0, graph.numEntries()), body);
    return out;
  };
  if (storage == Storage::Native)
    return {exec, storage, result, block_size_, write(factor.native), {}};
  const Kokkos::View<float*, Device> single = write(factor.single);
  detail::checkStorage(exec, BsrMatrix<float, Device>(result, single, block_size_), true);
  return {exec, storage, result, block_size_, {}, single};
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  g_.multiply(exec, Scalar(1), x, Scalar(0), t);
  gt_.multiply(exec, Scalar(1), t, Scalar(0), y);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Fsai<double, DEVICE>;                                                             \
  template class Fsai<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
