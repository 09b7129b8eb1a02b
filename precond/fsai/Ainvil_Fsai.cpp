// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Fsai.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "fsai/Ainvil_FsaiAdaptive.hpp"
#include "fsai/Ainvil_FsaiOnePass.hpp"
#include "fsai/Ainvil_FsaiPattern.hpp"
#include "fsai/Ainvil_FsaiRows.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_SelectEntries.hpp"
#include "graph/Ainvil_Sparsify.hpp"
#include "graph/Ainvil_Symmetry.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"

namespace ainvil {
namespace {

using detail::Range;

/// All entries of the rows that are wanted, the diagonal of the others.
template <class Device>
struct IsWanted {
  Graph<Device> graph;
  Kokkos::View<const char*, Device> wanted;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    return wanted(row) != 0 || graph.entries(e) == row;
  }
};

/// changed(0) <- whether the arrays differ; false for an empty `before`.
template <class Device>
void compareRowMaps(const typename Device::execution_space& exec,
                    const Kokkos::View<const Offset*, Device>& before,
                    const Kokkos::View<const Offset*, Device>& after,
                    const Kokkos::View<int*, Device>& changed) {
  using Exec = typename Device::execution_space;
  Kokkos::deep_copy(exec, changed, 0);
  Kokkos::parallel_for(
      "Ainvil::Fsai[compare]", Range<Exec>(exec, 0, before.extent(0)),
      KOKKOS_LAMBDA(const Offset i) {
        if (before(i) != after(i))
          changed(0) = 1; // all threads that write it write 1
      });
}

/// One for rows that have failed, 0 for the others.
template <class Device>
Kokkos::View<const char*, Device> marksOf(const typename Device::execution_space& exec,
                                          const Kokkos::View<int*, Device>& info) {
  using Exec = typename Device::execution_space;
  const auto marks = allocate<char, Device>(exec, "Ainvil::Fsai::failed", info.extent(0));
  Kokkos::parallel_for(
      "Ainvil::Fsai[failed]", Range<Exec>(exec, 0, info.extent(0)),
      KOKKOS_LAMBDA(const Offset i) { marks(i) = info(i) != 0 ? 1 : 0; });
  return marks;
}

} // namespace

template <class Scalar, class Device>
Fsai<Scalar, Device>::Fsai(const FsaiParameters<Device>& parameters) : parameters_(parameters) {
  parameterTable().checked(parameters);
}

template <class Scalar, class Device>
std::string Fsai<Scalar, Device>::description() const {
  const bool is_given = parameters_.pattern.row_map.extent(0) > 0;
  std::vector<std::string> unused;
  if (is_given)
    unused = {"power"};
  if (is_given && parameters_.adaptive.steps == 0)
    unused.insert(unused.end(), {"tau", "max-row"});
  return message("fsai: {", is_given ? "pattern: user, " : "",
                 parameterTable().describe(parameters_, unused), "}");
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  const Ordinal n = a.numRows();
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  const bool has_diagonal = detail::checkDiagonal(exec, a.graph, parameters_.breakdown) == 0;
  block_size_ = a.block_size;
  keeps_transposed_ =
      parameters_.applied && (compat::IsGpu<execution_space>::value || exec.concurrency() > 1);
  // Frees what the last matrix took before new memory is asked for.
  pattern_ = {};
  values_ = {};
  next_row_map_ = {};
  g_arrays_ = gt_arrays_ = {};
  g_arrays_.values = gt_arrays_.values = noValues<Scalar, Device>(parameters_.storage);
  g_ = gt_ = {};
  solver_ = {};
  report_.phases.time(exec, "Fsai", "pattern",
                      [&] { pattern_ = makePattern(exec, a, has_diagonal); });
  report_.phases.time(exec, "Fsai", "plan", [&] {
    values_ = allocate<Scalar, Device>(exec, "Ainvil::Fsai::values", pattern_.numEntries() * bs2);
    info_ = allocate<int, Device>(exec, "Ainvil::Fsai::info", n);
    symmetry_room_ = detail::symmetryRoom<Device>(exec, n);
    solver_ = detail::FsaiRowSolver<Scalar, Device>(
        exec, pattern_, block_size_, parameters_.chunk_bytes, {}, parameters_.filter);
    if (keeps_transposed_)
      detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
  });
  if (isFiltered()) {
    next_row_map_ = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
    changed_ = allocate<int, Device>(exec, "Ainvil::Fsai::changed", 1);
  } else {
    report_.phases.time(exec, "Fsai", "transpose_pattern", [&] {
      setGraph(exec, pattern_);
      if (keeps_transposed_)
        transposeGraph(exec);
    });
  }
}

template <class Scalar, class Device>
Graph<Device> Fsai<Scalar, Device>::makePattern(const execution_space& exec, const Matrix& a,
                                                bool has_diagonal) const {
  const FsaiAdaptive& adaptive = parameters_.adaptive;
  const bool from_user = parameters_.pattern.row_map.extent(0) > 0;
  Graph<Device> sparse = parameters_.tau > 0 && (adaptive.steps > 0 || !from_user)
                             ? detail::sparsified(exec, a, parameters_.tau)
                             : a.graph;
  if (!has_diagonal) // G needs all of it
    sparse = fillPattern(exec, sparse, 0);
  const int power = adaptive.steps > 0 ? adaptive.power : parameters_.power;
  const Ordinal max_row = parameters_.max_row;
  const auto byPower = [&] {
    return max_row > 0 ? detail::largestLowerPower(exec, a, sparse, power, max_row)
                       : detail::lowerPower(exec, sparse, power);
  };
  const Graph<Device> start = from_user
                                  ? triangularPattern(exec, "G", parameters_.pattern, a.numRows(),
                                                      Uplo::Lower, Diagonal::Keep)
                                  : byPower();
  const Graph<Device> pattern =
      adaptive.steps == 0
          ? start
          : detail::adaptivePattern(exec, a,
                                    detail::AdaptiveParameters<Device>{
                                        start, sparse, adaptive, max_row, parameters_.chunk_bytes},
                                    this->progressOf("rows of the pattern", a.numRows()));
  if (parameters_.wanted.extent(0) == 0)
    return pattern;
  if (Ordinal(parameters_.wanted.extent(0)) != a.numRows())
    throw InvalidArgument(message("the rows of G that are wanted are told for ",
                                  parameters_.wanted.extent(0), " rows, but the matrix has ",
                                  a.numRows()));
  return detail::selectEntries(exec, pattern, IsWanted<Device>{pattern, parameters_.wanted});
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  report_.phases.time(exec, "Fsai", "check", [&] {
    detail::requireSymmetric(exec, a, "fsai", "use ilu", symmetry_room_);
  });
  g_ = gt_ = {}; // arrays that become too short are freed before there are longer ones
  report_.phases.time(exec, "Fsai", "cholesky", [&] { solveRows(exec, a); });
  const Offset before = pattern_.numEntries();
  if (isFiltered())
    report_.phases.time(exec, "Fsai", "filter", [&] { filterRows(exec, a); });
  else if (parameters_.storage == Storage::Native)
    std::get<0>(g_arrays_.values) = values_;
  else
    writeFactor(exec, before, true);
  g_ = stored(exec, g_arrays_);
  if (keeps_transposed_) {
    report_.phases.time(exec, "Fsai", "transpose", [&] { transposeFactor(exec); });
    gt_ = stored(exec, gt_arrays_);
  }
  const double in_a = std::max<double>(1, double(a.numEntries()));
  report_.note(message("density=", double(before) / in_a));
  if (isFiltered())
    report_.note(message("filtered=", double(g_.graph().numEntries()) / in_a));
  report_.factor_entries = g_.numScalars();
  report_.factor_bytes = g_.bytes() + (keeps_transposed_ ? gt_.bytes() : 0);
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::solveRows(const execution_space& exec, const Matrix& a) {
  const auto progress = this->progressOf("rows", a.numRows());
  solver_.run(exec, a, values_, info_, 0, progress);
  Ordinal first = -1;
  const Ordinal failed = detail::countRows(exec, "Ainvil::Fsai[check]", pattern_.num_rows,
                                           detail::IsMarked<Device>{info_}, first);
  if (failed == 0)
    return;
  if (parameters_.breakdown == BreakdownPolicy::Fail)
    throw BreakdownError(
        message(failed, " local systems are not positive definite, the first in ",
                counted("block row", first),
                ": the matrix is not SPD, or needs scaling, or the breakdown policy 'shift' or "
                "'replace'"));
  if (parameters_.breakdown == BreakdownPolicy::Shift)
    solveShifted(exec, a, progress);
  report_.breakdowns = failed;
  report_.first_breakdown = first;
}

/// The rows that have failed once more, of a shifted matrix. A host leaves the others out itself;
/// on GPUs that takes a plan for these rows.
template <class Scalar, class Device>
void Fsai<Scalar, Device>::solveShifted(const execution_space& exec, const Matrix& a,
                                        const std::function<void(Offset)>& progress) {
  if constexpr (compat::IsGpu<execution_space>::value) {
    const detail::FsaiRowSolver<Scalar, Device> failed(
        exec, pattern_, block_size_, parameters_.chunk_bytes, marksOf<Device>(exec, info_));
    failed.run(exec, a, values_, info_, parameters_.shift, progress);
    compat::fence(exec, "Ainvil::Fsai[shift]"); // kernels work in its memory
  } else {
    solver_.run(exec, a, values_, info_, parameters_.shift, progress);
  }
}

/// Filters the rows and writes what is left to G. Where that has another graph than before, all
/// that follows from the graph is found anew.
template <class Scalar, class Device>
void Fsai<Scalar, Device>::filterRows(const execution_space& exec, const Matrix& a) {
  solver_.filterRows(exec, a, values_);
  const detail::KeepNonzero<Scalar, Device> keep{pattern_.row_map, values_,
                                                 block_size_ * block_size_};
  const Offset total = detail::countSelected(exec, pattern_, keep, next_row_map_);
  Factor& g = g_arrays_;
  const bool comparable = g.graph.row_map.extent(0) > 0 && g.graph.numEntries() == total;
  g.graph = {}; // until the arrays are whole again
  compareRowMaps<Device>(exec, comparable ? g.row_map : Kokkos::View<Offset*, Device>(),
                         next_row_map_, changed_);
  reserve<Ordinal, Device>(exec, "Ainvil::entries", g.entries, total, total / 10);
  writeFactor(exec, total, comparable);
  const bool same = detail::readBack(exec, changed_, 0) == 0 && comparable;
  if (!same) {
    reserve<Offset, Device>(exec, "Ainvil::row_map", g.row_map, Offset(pattern_.num_rows) + 1);
    std::swap(g.row_map, next_row_map_);
  }
  const Graph<Device> graph(pattern_.num_rows, pattern_.num_cols, g.row_map,
                            firstOf(g.entries, total));
  if (same)
    g.graph = graph;
  else
    setGraph(exec, graph);
}

/// For products with values in the storage precision.
template <class Scalar, class Device>
detail::ProductPlan<Device> Fsai<Scalar, Device>::planFor(const execution_space& exec,
                                                          const Graph<Device>& graph) const {
  const auto bytes = [](const auto& values) {
    return sizeof(typename std::decay_t<decltype(values)>::value_type);
  };
  return detail::planProducts(exec, graph, block_size_, std::visit(bytes, g_arrays_.values));
}

/// The graph of G becomes `graph`; that of G^T is out of date.
template <class Scalar, class Device>
void Fsai<Scalar, Device>::setGraph(const execution_space& exec, const Graph<Device>& graph) {
  ++num_graphs_;
  gt_arrays_.graph = {};
  g_arrays_.plan = planFor(exec, graph);
  g_arrays_.graph = graph;
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::transposeGraph(const execution_space& exec) {
  const Graph<Device>& graph = g_arrays_.graph;
  const Offset entries = graph.numEntries(), spare = isFiltered() ? entries / 10 : 0;
  Factor& gt = gt_arrays_;
  reserve<Offset, Device>(exec, "Ainvil::row_map", gt.row_map, Offset(graph.num_cols) + 1);
  reserve<Ordinal, Device>(exec, "Ainvil::entries", gt.entries, entries, spare);
  const Graph<Device> transposed =
      detail::transposeInto<Device>(exec, graph, gt.row_map, firstOf(gt.entries, entries));
  gt.plan = planFor(exec, transposed);
  gt.graph = transposed;
}

/// Writes the blocks that make up G in its storage precision, and their columns if there is a
/// filter.
template <class Scalar, class Device>
void Fsai<Scalar, Device>::writeFactor(const execution_space& exec, Offset entries,
                                       bool comparable) {
  const int bs2 = block_size_ * block_size_;
  const auto write = [&](auto& array) {
    using Out = typename std::decay_t<decltype(array)>::value_type;
    using Body = detail::WriteBlock<Out, Scalar, Device>;
    const Offset spare = isFiltered() ? entries / 10 : 0;
    reserve<Out, Device>(exec, "Ainvil::Fsai::factor", array, entries * bs2, spare * bs2);
    const Body body{
        pattern_.entries,  values_, bs2,
        g_arrays_.entries, array,   comparable ? changed_ : Kokkos::View<int*, Device>()};
    if (isFiltered())
      detail::writeSelected(exec, pattern_,
                            detail::KeepNonzero<Scalar, Device>{pattern_.row_map, values_, bs2},
                            body, Kokkos::View<const Offset*, Device>(next_row_map_));
    else
      Kokkos::parallel_for("Ainvil::Fsai[write]", Range<execution_space>(exec, 0, entries), body);
  };
  std::visit(write, g_arrays_.values);
}

/// G^T from G, and first its graph if that is out of date.
template <class Scalar, class Device>
void Fsai<Scalar, Device>::transposeFactor(const execution_space& exec) {
  Factor& gt = gt_arrays_;
  if (gt.graph.row_map.extent(0) == 0)
    transposeGraph(exec);
  const Offset scalars = gt.graph.numEntries() * block_size_ * block_size_;
  const auto write = [&](const auto& from, auto& to) {
    using Stored = typename std::decay_t<decltype(to)>::value_type;
    if constexpr (std::is_same<typename std::decay_t<decltype(from)>::value_type, Stored>::value) {
      reserve<Stored, Device>(exec, "Ainvil::Fsai::factor", to, scalars,
                              isFiltered() ? scalars / 10 : 0);
      const BsrMatrix<Stored, Device> g(g_arrays_.graph, firstOf(from, scalars), block_size_);
      detail::forEachRow(exec, "Ainvil::Fsai[transpose]", gt.graph.num_rows,
                         detail::teamsForRowsOf(gt.graph),
                         detail::TransposedValues<Stored, Device>{g, gt.graph, to});
    }
  };
  std::visit(write, g_arrays_.values, gt.values);
}

template <class Scalar, class Device>
SparseOperator<Scalar, Device> Fsai<Scalar, Device>::stored(const execution_space& exec,
                                                            const Factor& factor) const {
  const SparseOperator<Scalar, Device> matrix(factor.graph, block_size_, factor.values,
                                              factor.plan);
  if (parameters_.storage != Storage::Native)
    matrix.checkRange(exec);
  return matrix;
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans) const {
  if (!parameters_.applied)
    throw Error("an Fsai that makes G alone cannot be applied: leave `applied` true");
  if (!keeps_transposed_) {
    applyInOnePass(exec, x, y);
    return;
  }
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  g_.multiply(exec, Trans::No, Scalar(1), x, Scalar(0), t);
  gt_.multiply(exec, Trans::No, Scalar(1), t, Scalar(0), y);
}

template <class Scalar, class Device>
void Fsai<Scalar, Device>::applyInOnePass([[maybe_unused]] const execution_space& exec,
                                          [[maybe_unused]] MultiVectorArg<const Scalar, Device> x,
                                          [[maybe_unused]] MultiVectorArg<Scalar, Device> y) const {
  if constexpr (!compat::IsGpu<execution_space>::value)
    g_.visit([&](const auto& g) {
      using Stored = typename std::decay_t<decltype(g)>::value_type;
      detail::dispatchBlockSize(g.block_size, [&](auto bs) {
        Kokkos::parallel_for(
            "Ainvil::Fsai[apply]", Range<execution_space>(exec, 0, x.extent(1)),
            detail::FsaiOnePass<decltype(bs)::value, Stored, Scalar, Device>{g, x, y});
      });
    });
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Fsai<double, DEVICE>;                                                             \
  template class Fsai<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
