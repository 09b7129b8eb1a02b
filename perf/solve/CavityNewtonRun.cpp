// SPDX-License-Identifier: BSD-3-Clause
#include "solve/CavityNewtonRun.hpp"

#include "solve/SolveOutcome.hpp"
#include "solve/TpetraKrylov.hpp"

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraStructures.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <charconv>
#include <cmath>

namespace ainvil {
namespace perf {
namespace {

using tpetra::Map;
using Device = Map::node_type::device_type;
using Exec = Device::execution_space;

/// The graph of the cavity on this rank's rows.
Teuchos::RCP<Tpetra::CrsGraph<>> makeGraph(Ordinal n, const Teuchos::RCP<const Map>& rows) {
  const auto graph = Teuchos::rcp(new Tpetra::CrsGraph<>(rows, 5));
  for (int i = 0; i < tpetra::compat::numLocalElements(*rows); ++i) {
    const auto point = rows->getGlobalElement(i);
    const std::vector<GlobalPoint> columns = cavityNeighbours(n, point);
    graph->insertGlobalIndices(point, static_cast<int>(columns.size()), columns.data());
  }
  graph->fillComplete();
  return graph;
}

Kokkos::View<const GlobalPoint*, Device> indicesOf(const Map& map) {
  const int n = tpetra::compat::numLocalElements(map);
  const Kokkos::View<GlobalPoint*, Device> indices("Ainvil::points", n);
  const auto on_host = Kokkos::create_mirror_view(indices);
  for (int i = 0; i < n; ++i)
    on_host(i) = map.getGlobalElement(i);
  Kokkos::deep_copy(indices, on_host);
  return indices;
}

/// A matrix of zeros in Tpetra's types.
template <class LocalMatrix>
LocalMatrix zeroMatrix(const Exec& exec, const Graph<Device>& graph) {
  const Kokkos::View<size_t*, Device> row_map("Ainvil::row_map", graph.row_map.extent(0));
  const Kokkos::View<Ordinal*, Device> entries("Ainvil::entries", graph.entries.extent(0));
  const auto from = graph.row_map;
  Kokkos::parallel_for(
      "Ainvil::zeroMatrix", detail::Range<Exec>(exec, 0, row_map.extent(0)),
      KOKKOS_LAMBDA(const Offset i) { row_map(i) = static_cast<size_t>(from(i)); });
  Kokkos::deep_copy(exec, entries, graph.entries);
  return LocalMatrix("Ainvil::points", graph.num_rows, graph.num_cols, entries.extent(0),
                     Kokkos::View<double*, Device>("Ainvil::values", entries.extent(0)), row_map,
                     entries);
}

template <class View>
auto column(const View& view) {
  return Kokkos::subview(view, Kokkos::ALL(), 0);
}

} // namespace

Ordinal cavityNewtonSize(const CommandLine& command) {
  const std::string name = "cavity-newton:";
  if (command.problem.compare(0, name.size(), name) != 0)
    return 0;
  const char* const end = command.problem.data() + command.problem.size();
  Ordinal n = 0;
  const auto [next, error] = std::from_chars(command.problem.data() + name.size(), end, n);
  if (error != std::errc() || next != end || n < 3 || n > 26000)
    throw InvalidArgument(
        message("problem '", command.problem, "': the size must be an integer from 3 to 26000"));
  if (command.rhs != RhsKind::Default || command.isScaled() || command.reorder != "none" ||
      command.block_size > 0 || !command.solution.empty() || !command.guess_file.empty())
    throw InvalidArgument(
        message("problem '", command.problem,
                "': --rhs, --guess, --scale, --match, --reorder, --block-size and --solution "
                "have no effect with Newton's method, leave them out"));
  if (command.absolute_tolerance > 0)
    throw InvalidArgument(message("problem '", command.problem,
                                  "': every step has a right-hand side of its own, so that one "
                                  "absolute tolerance fits none of them: leave out --abs-tol"));
  return n;
}

CavityNewtonRun::CavityNewtonRun(const CommandLine& command, Ordinal n,
                                 const Teuchos::RCP<const tpetra::Comm>& comm,
                                 const RanksTogether& ranks)
    : command_(command), n_(n), comm_(comm), ranks_(ranks) {
  const Exec exec;
  const auto rows = makeRowMap(
      command, n * n, [&] { return CavityNewton<HostDevice>(n).graph(); }, comm);
  const auto graph = makeGraph(n, rows);
  const Graph<Device> local = tpetra::localGraph(exec, *graph);
  blocks_ = Teuchos::rcp(new Tpetra::BlockCrsMatrix<>(*graph, 3));
  cavity_ = std::make_unique<CavityNewton<Device>>(n, local, indicesOf(*rows),
                                                   indicesOf(*graph->getColMap()));
  const auto unknowns = tpetra::makePointMap(*rows, 3);
  const auto columns = tpetra::makePointMap(*graph->getColMap(), 3);
  to_columns_ = Teuchos::rcp(new Import(unknowns, columns));
  x_ = Teuchos::rcp(new TpetraVector(unknowns));
  f_ = Teuchos::rcp(new TpetraVector(unknowns));
  d_ = Teuchos::rcp(new TpetraVector(unknowns));
  x_columns_ = Teuchos::rcp(new TpetraVector(columns));
  if (command.in_blocks)
    return;
  const PermutedGraph<Device> points = toPoints(exec, local, 3);
  point_source_ = points.source;
  using Matrix = Tpetra::CrsMatrix<>;
  const auto matrix = zeroMatrix<Matrix::local_matrix_device_type>(exec, points.graph);
  points_ = Teuchos::rcp(new Matrix(matrix, unknowns, columns, unknowns, unknowns));
}

/// F(x) into f_ and J(x) into the matrix. Returns ||F||.
double CavityNewtonRun::assemble() {
  const Exec exec;
  x_columns_->doImport(*x_, *to_columns_, Tpetra::INSERT);
  tpetra::onAllRanks(*comm_, [&] {
    const auto state = column(x_columns_->getLocalViewDevice(Tpetra::Access::ReadOnly));
    const auto f = column(f_->getLocalViewDevice(Tpetra::Access::OverwriteAll));
    const Kokkos::View<double*, Device> values = blocks_->getValuesDeviceNonConst();
    cavity_->assemble(exec, state, values, f);
    if (!points_.is_null())
      gatherBlocks<double, Device>(exec, Trans::No, point_source_, 1, values,
                                   points_->getLocalMatrixDevice().values);
  });
  return f_->norm2();
}

/// ||F - J d|| / ||F||.
double CavityNewtonRun::linearResidual(const TpetraRow& matrix) {
  TpetraVector r(*f_, Teuchos::Copy);
  matrix.apply(*d_, r, Teuchos::NO_TRANS, -1, 1);
  return r.norm2() / f_->norm2();
}

NewtonResult CavityNewtonRun::run(const std::string& specification) {
  NewtonResult result;
  result.points = n_ * n_;
  result.entries = 9 * Offset(blocks_->getGlobalNumEntries());
  try {
    ranks_.run([&] { iterate(specification, result); });
    result.status = result.converged ? "converged" : "not converged";
  } catch (const std::exception& error) {
    RunRecord record;
    recordFailure(error, record);
    result.converged = false;
    result.status = record.status;
    result.message = tpetra::reasonOf(error);
  }
  return result;
}

void CavityNewtonRun::iterate(const std::string& specification, NewtonResult& result) {
  Teuchos::RCP<const TpetraRow> matrix = blocks_;
  if (!points_.is_null())
    matrix = points_;
  TpetraPreconditioner m(command_, specification, matrix, points_.is_null() ? 1 : 3);
  x_->putScalar(0);
  const double first_norm = assemble();
  double norm = first_norm;
  TpetraKrylov krylov(command_, matrix, points_.is_null() ? 0 : 3);
  while (norm > command_.newton_tolerance * first_norm &&
         result.steps.size() < size_t(command_.newton_steps)) {
    NewtonStep step;
    if (result.steps.empty() || m.sharesRows())
      step.initialize_seconds = timedOverRanks(*comm_, [&] { m.initialize(); });
    step.compute_seconds = timedOverRanks(*comm_, [&] { m.compute(); });
    step.initializations = m.get().getNumInitialize();
    RunRecord record;
    m.report(*comm_, record);
    step.phases = record.setup_phases;
    const int applications = m.get().getNumApply();
    double residual = not_measured;
    d_->putScalar(0);
    const double update_seconds = timedOverRanks(*comm_, [&] { krylov.update(); });
    const KrylovResults solved = krylov.solve(
        m, f_, d_, {command_.tolerance}, [&](int) { return residual = linearResidual(*matrix); });
    const int count = m.get().getNumApply() - applications;
    step.gmres_seconds = update_seconds + solved.seconds;
    step.iterations = solved.columns.front().iterations;
    step.converged = residual <= command_.tolerance;
    step.precond_seconds = timeApplications(*comm_, m.get(), count);
    x_->update(-1, *d_, 1);
    norm = assemble();
    step.residual = norm / first_norm;
    result.steps.push_back(step);
    if (!std::isfinite(norm))
      break;
  }
  result.converged = norm <= command_.newton_tolerance * first_norm;
}

} // namespace perf
} // namespace ainvil
