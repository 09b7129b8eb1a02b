// SPDX-License-Identifier: BSD-3-Clause
// CG over ranks, preconditioned by FSAI, and by MueLu's multigrid with Ainvil's incomplete Cholesky
// for its smoother. MueLu's lists work as they are, once AINVIL is known to be a type of smoothers:
//   mpirun -np 2 example-muelu
// As root, and with fewer cores than ranks: see docs/trilinos.md.
#include <Ainvil_TpetraFactory.hpp>
#include <Ainvil_TpetraMueLu.hpp>
#include <Ainvil_TpetraSolver.hpp>

#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_Core.hpp>

#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using Operator = Tpetra::Operator<>;
using Vector = Tpetra::Vector<>;

const std::string multigrid = R"(
<ParameterList>
  <Parameter name="verbosity" type="string" value="none"/>
  <Parameter name="smoother: type" type="string" value="AINVIL"/>
  <ParameterList name="smoother: params">
    <Parameter name="Prec Type" type="string" value="ic"/>
    <ParameterList name="Prec Settings">
      <Parameter name="fact: ic level-of-fill" type="int" value="0"/>
    </ParameterList>
  </ParameterList>
</ParameterList>)";

/// -Laplace u on n x n x n interior points of the unit cube, times h^2.
Teuchos::RCP<Matrix> laplace(int n) {
  const auto rows = Teuchos::rcp(new Tpetra::Map<>(n * n * n, 0, Tpetra::getDefaultComm()));
  const auto a = Teuchos::rcp(new Matrix(rows, 7));
  const auto insert = [&](long long row, long long column, double value) {
    a->insertGlobalValues(row, Teuchos::tuple<Matrix::global_ordinal_type>(column),
                          Teuchos::tuple(value));
  };
  for (auto row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row) {
    insert(row, row, 6);
    for (const int stride : {1, n, n * n}) {
      const auto place = row / stride % n;
      if (place > 0)
        insert(row, row - stride, -1);
      if (place < n - 1)
        insert(row, row + stride, -1);
    }
  }
  a->fillComplete();
  return a;
}

bool solve(const char* name, const Matrix& a, const Operator& m) {
  Vector b(a.getRangeMap()), x(a.getDomainMap());
  b.putScalar(1);
  ainvil::SolverOptions options;
  options.tolerance = 1e-8;
  ainvil::tpetra::Solver<> cg("cg", options);
  const ainvil::SolveResult result = cg.solve(a, &m, b, x);
  if (a.getComm()->getRank() == 0)
    std::cout << name << ": " << result.iterations
              << " iterations, ||b - A x|| / ||b|| = " << result.true_rel_residual << '\n';
  return result.status == ainvil::SolveStatus::Converged;
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto a = laplace(30);
  const auto fsai = ainvil::tpetra::create("fsai", a);
  fsai->initialize();
  fsai->compute();
  const bool alone = solve("fsai", *a, *fsai);

  ainvil::tpetra::registerMueLuSmoother(); // once
  const auto list = Teuchos::getParametersFromXmlString(multigrid);
  const auto m = MueLu::CreateTpetraPreconditioner(Teuchos::RCP<Operator>(a), *list);
  const bool around = solve("MueLu with ic", *a, *m);
  return alone && around ? 0 : 1;
}
