// SPDX-License-Identifier: BSD-3-Clause
// An application that reads the name and the parameters of an Ifpack2 preconditioner from XML. One
// line is new, and its input still works; so do the methods of Ainvil, on the rows of a rank or on
// overlapping ones:
//   mpirun -np 2 example-ifpack2-list
// As root, and with fewer cores than ranks: see docs/trilinos.md.
#include <Ainvil_TpetraFactory.hpp>

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_Core.hpp>

#include <cmath>
#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;
using Scalar = MultiVector::scalar_type;

const std::string before = R"(
<ParameterList>
  <Parameter name="Prec Type" type="string" value="RILUK"/>
  <ParameterList name="Prec Settings">
    <Parameter name="fact: iluk level-of-fill" type="int" value="1"/>
  </ParameterList>
</ParameterList>)";

const std::string after = R"(
<ParameterList>
  <Parameter name="Prec Type" type="string" value="ilu"/>
  <ParameterList name="Prec Settings">
    <Parameter name="fact: iluk level-of-fill" type="int" value="1"/>
    <Parameter name="trisolver: type" type="string" value="isai"/>
    <Parameter name="isai: pattern power" type="int" value="2"/>
  </ParameterList>
</ParameterList>)";

const std::string overlapping = R"(
<ParameterList>
  <Parameter name="Prec Type" type="string" value="SCHWARZ"/>
  <ParameterList name="Prec Settings">
    <Parameter name="schwarz: overlap level" type="int" value="1"/>
    <Parameter name="schwarz: inner preconditioner name" type="string" value="ilu"/>
    <ParameterList name="schwarz: inner preconditioner parameters">
      <Parameter name="fact: iluk level-of-fill" type="int" value="1"/>
    </ParameterList>
  </ParameterList>
</ParameterList>)";

/// True if GMRES converged with the preconditioner that the input asks for.
bool solve(const Teuchos::RCP<const Matrix>& a, const std::string& input) {
  const auto list = Teuchos::getParametersFromXmlString(input);
  const auto name = list->get<std::string>("Prec Type");
  // const auto m = Ifpack2::Factory::create<Tpetra::RowMatrix<>>(name, a);
  const auto m = ainvil::tpetra::create(name, a); // instead of the line above
  m->setParameters(list->sublist("Prec Settings"));
  m->initialize();
  m->compute();

  const auto x = Teuchos::rcp(new MultiVector(a->getDomainMap(), 1));
  const auto b = Teuchos::rcp(new MultiVector(a->getRangeMap(), 1));
  b->putScalar(1);
  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
  const auto problem = Teuchos::rcp(new Problem(a, x, b));
  problem->setRightPrec(m);
  problem->setProblem();
  Belos::SolverFactory<Scalar, MultiVector, Operator> factory;
  const auto solver = factory.create("GMRES", Teuchos::parameterList()); // tolerance 1e-8
  solver->setProblem(problem);
  const bool converged = solver->solve() == Belos::Converged;
  a->apply(*x, *b, Teuchos::NO_TRANS, -1, 1);
  const double residual = b->getVector(0)->norm2() / std::sqrt(double(a->getGlobalNumRows()));
  if (a->getComm()->getRank() == 0)
    std::cout << name << ": " << solver->getNumIters()
              << " iterations, ||b - A x|| / ||b|| = " << residual << '\n';
  return converged;
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto rows = Teuchos::rcp(new Tpetra::Map<>(10000, 0, Tpetra::getDefaultComm()));
  const auto a = Teuchos::rcp(new Matrix(rows, 5)); // Laplace on 100 x 100 points, a helix
  for (auto row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row)
    for (const auto column : {row - 100, row - 1, row, row + 1, row + 100})
      if (rows->getMinAllGlobalIndex() <= column && column <= rows->getMaxAllGlobalIndex())
        a->insertGlobalValues(row, Teuchos::tuple(column),
                              Teuchos::tuple<Scalar>(column == row ? 4 : -1));
  a->fillComplete();
  bool all = true;
  for (const std::string& input : {before, after, overlapping})
    all = solve(a, input) && all;
  return all ? 0 : 1;
}
