// SPDX-License-Identifier: BSD-3-Clause
// Two coupled fields on a grid in a BlockCrsMatrix: a preconditioner of Ainvil keeps its blocks,
// and takes the values of every time step without looking at the pattern again.
//   mpirun -np 2 example-block-crs
// As root, and with fewer cores than ranks: see docs/trilinos.md.
#include <Ainvil_TpetraFactory.hpp>

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_Core.hpp>

#include <iostream>
#include <vector>

using Blocks = Tpetra::BlockCrsMatrix<>;
using Graph = Tpetra::CrsGraph<>;
using Map = Tpetra::Map<>;
using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;
using Scalar = MultiVector::scalar_type;
using Local = Map::local_ordinal_type;
using Global = Map::global_ordinal_type;

const Global n = 50; // points a side

/// The points of the 5-point stencil, that of the row first.
std::vector<Global> stencil(Global row) {
  const Global i = row / n, j = row % n;
  std::vector<Global> points = {row};
  if (i > 0)
    points.push_back(row - n);
  if (i < n - 1)
    points.push_back(row + n);
  if (j > 0)
    points.push_back(row - 1);
  if (j < n - 1)
    points.push_back(row + 1);
  return points;
}

Teuchos::RCP<const Graph> makeGraph() {
  const auto rows = Teuchos::rcp(new Map(n * n, 0, Tpetra::getDefaultComm()));
  const auto graph = Teuchos::rcp(new Graph(rows, 5));
  for (Global row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row)
    graph->insertGlobalIndices(row, Teuchos::ArrayView<const Global>(stencil(row)));
  graph->fillComplete();
  return graph;
}

/// I / step - diag(1, 0.1) Laplace + a rotation of the two fields, in blocks row by row.
void setValues(Blocks& a, Scalar step) {
  const auto& rows = *a.getCrsGraph().getRowMap();
  const auto& columns = *a.getCrsGraph().getColMap();
  const Scalar own[] = {1 / step + 4, 2, -2, 1 / step + 0.4}, neighbour[] = {-1, 0, 0, -0.1};
  for (Global row = rows.getMinGlobalIndex(); row <= rows.getMaxGlobalIndex(); ++row)
    for (const Global point : stencil(row)) {
      const Local column = columns.getLocalElement(point);
      a.replaceLocalValues(rows.getLocalElement(row), &column, point == row ? own : neighbour, 1);
    }
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto a = Teuchos::rcp(new Blocks(*makeGraph(), 2));
  const auto m = ainvil::tpetra::create("ilu:solve=isai,power=2", a);
  m->initialize();
  const auto x = Teuchos::rcp(new MultiVector(a->getDomainMap(), 1));
  const auto b = Teuchos::rcp(new MultiVector(a->getRangeMap(), 1));
  b->putScalar(1);
  bool all_converged = true;
  for (const Scalar step : {1.0, 10.0, 100.0}) {
    setValues(*a, step);
    m->compute();
    x->putScalar(0);
    using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
    const auto problem = Teuchos::rcp(new Problem(a, x, b));
    problem->setRightPrec(m);
    problem->setProblem();
    Belos::SolverFactory<Scalar, MultiVector, Operator> factory;
    const auto solver = factory.create("GMRES", Teuchos::parameterList()); // tolerance 1e-8
    solver->setProblem(problem);
    const bool converged = solver->solve() == Belos::Converged;
    MultiVector r(*b, Teuchos::Copy);
    a->apply(*x, r, Teuchos::NO_TRANS, -1, 1);
    const double residual = r.getVector(0)->norm2() / b->getVector(0)->norm2();
    if (a->getComm()->getRank() == 0)
      std::cout << "step " << step << ": " << solver->getNumIters()
                << " iterations, ||b - A x|| / ||b|| = " << residual << '\n';
    all_converged = all_converged && converged && residual < 1.1e-8;
  }
  return all_converged && m->getNumInitialize() == 1 ? 0 : 1;
}
