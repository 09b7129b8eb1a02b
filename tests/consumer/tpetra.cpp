// SPDX-License-Identifier: BSD-3-Clause
#include <Ainvil_TpetraFactory.hpp>

#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include <iostream>

/// Inverts a diagonal matrix that is spread over the ranks.
int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  const auto rows = Teuchos::rcp(new Tpetra::Map<>(10, 0, comm));
  const auto a = Teuchos::rcp(new Tpetra::CrsMatrix<>(rows, 1));
  for (auto row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row)
    a->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(4.0));
  a->fillComplete();

  const auto m = ainvil::tpetra::create<Tpetra::RowMatrix<>>("fsai", a);
  m->initialize();
  m->compute();
  Tpetra::Vector<> x(rows), y(rows);
  x.putScalar(1);
  m->apply(x, y);
  if (comm->getRank() == 0)
    std::cout << m->description() << '\n';
  return y.norm1() == 2.5 && y.normInf() == 0.25 ? 0 : 1;
}
