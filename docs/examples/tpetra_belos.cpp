// SPDX-License-Identifier: BSD-3-Clause
// A distributed Tpetra matrix, GMRES(30) of Belos, and a preconditioner of Ainvil on the right:
//   mpirun -np 2 example-tpetra-belos
// As root, and with fewer cores than ranks: see docs/trilinos.md.
#include <Ainvil_TpetraFactory.hpp>

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>

#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using Map = Tpetra::Map<>;
using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;
using Scalar = MultiVector::scalar_type;
using Global = Map::global_ordinal_type;

/// -Laplace u + 20 du/dx on n x n interior points of the unit square, h^2 times upwind differences.
Teuchos::RCP<Matrix> convectionDiffusion(Global n,
                                         const Teuchos::RCP<const Teuchos::Comm<int>>& comm) {
  const Scalar wind = 20.0 / (n + 1);
  const auto rows = Teuchos::rcp(new Map(n * n, 0, comm));
  const auto a = Teuchos::rcp(new Matrix(rows, 5));
  for (Global row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row) {
    const Global ix = row % n, iy = row / n;
    const auto insert = [&](bool there, Global column, Scalar value) {
      if (there)
        a->insertGlobalValues(row, 1, &value, &column);
    };
    insert(iy > 0, row - n, -1);
    insert(ix > 0, row - 1, -1 - wind);
    insert(true, row, 4 + wind);
    insert(ix < n - 1, row + 1, -1);
    insert(iy < n - 1, row + n, -1);
  }
  a->fillComplete();
  return a;
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  const Teuchos::RCP<const Matrix> a = convectionDiffusion(100, comm);
  const auto x = Teuchos::rcp(new MultiVector(a->getDomainMap(), 1));
  const auto b = Teuchos::rcp(new MultiVector(a->getRangeMap(), 1));
  b->putScalar(1);

  const auto m = ainvil::tpetra::create("ilu", a);
  Teuchos::ParameterList parameters;
  parameters.set("trisolver: type", "isai");
  parameters.set("isai: pattern power", 2);
  m->setParameters(parameters);
  m->initialize(); // pattern
  m->compute();    // values; again whenever they change

  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
  const auto problem = Teuchos::rcp(new Problem(a, x, b));
  problem->setRightPrec(m);
  problem->setProblem();
  const auto options = Teuchos::parameterList();
  options->set("Num Blocks", 30);
  options->set("Maximum Restarts", 30);
  options->set("Maximum Iterations", 900);
  options->set("Convergence Tolerance", 1e-8);
  const auto solver =
      Belos::SolverFactory<Scalar, MultiVector, Operator>().create("GMRES", options);
  solver->setProblem(problem);
  const bool converged = solver->solve() == Belos::Converged;

  MultiVector r(*b, Teuchos::Copy);
  a->apply(*x, r, Teuchos::NO_TRANS, -1, 1);
  const double residual = r.getVector(0)->norm2() / b->getVector(0)->norm2();
  if (comm->getRank() == 0)
    std::cout << (converged ? "Converged" : "Not converged") << " after " << solver->getNumIters()
              << " iterations, ||b - A x|| / ||b|| = " << residual << '\n';
  return converged ? 0 : 1;
}
