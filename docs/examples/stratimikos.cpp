// SPDX-License-Identifier: BSD-3-Clause
// An application that leaves solver and preconditioner to Stratimikos' XML. One line is new; then
// the input may name "Ainvil" and a method, Ifpack2's overlap with a method of Ainvil inside
// included:
//   mpirun -np 2 example-stratimikos
// As root, and with fewer cores than ranks: see docs/trilinos.md.
#include <Ainvil_Stratimikos.hpp>

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Thyra_LinearOpWithSolveBase.hpp>
#include <Thyra_LinearOpWithSolveFactoryHelpers.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using Vector = Tpetra::Vector<>;
using Scalar = Vector::scalar_type;

const std::string solver = R"(
  <Parameter name="Linear Solver Type" type="string" value="Belos"/>
  <ParameterList name="Linear Solver Types">
    <ParameterList name="Belos">
      <Parameter name="Solver Type" type="string" value="Pseudo Block GMRES"/>
      <ParameterList name="Solver Types">
        <ParameterList name="Pseudo Block GMRES">
          <Parameter name="Convergence Tolerance" type="double" value="1e-8"/>
          <Parameter name="Maximum Iterations" type="int" value="500"/>
        </ParameterList>
      </ParameterList>
    </ParameterList>
  </ParameterList>
  <Parameter name="Preconditioner Type" type="string" value="Ainvil"/>)";

const std::string ilu = R"(
  <ParameterList name="Preconditioner Types">
    <ParameterList name="Ainvil">
      <Parameter name="Prec Type" type="string" value="ilu"/>
      <ParameterList name="Prec Settings">
        <Parameter name="trisolver: type" type="string" value="isai"/>
        <Parameter name="isai: pattern power" type="int" value="2"/>
      </ParameterList>
    </ParameterList>
  </ParameterList>)";

const std::string overlapping = R"(
  <ParameterList name="Preconditioner Types">
    <ParameterList name="Ainvil">
      <Parameter name="Prec Type" type="string" value="SCHWARZ"/>
      <ParameterList name="Prec Settings">
        <Parameter name="schwarz: overlap level" type="int" value="1"/>
        <Parameter name="schwarz: inner preconditioner name" type="string" value="ilu"/>
      </ParameterList>
    </ParameterList>
  </ParameterList>)";

/// True if the solver that the input asks for converged.
bool solve(const Teuchos::RCP<const Matrix>& a, const std::string& input) {
  Stratimikos::DefaultLinearSolverBuilder builder;
  ainvil::tpetra::enableStratimikos(builder); // the new line
  builder.setParameterList(
      Teuchos::getParametersFromXmlString("<ParameterList>" + input + "</ParameterList>"));
  const auto strategy = builder.createLinearSolveStrategy("");
  strategy->setVerbLevel(Teuchos::VERB_NONE);
  const auto a_of_thyra =
      Thyra::createConstLinearOp<Scalar>(Teuchos::rcp_implicit_cast<const Tpetra::Operator<>>(a));
  const auto inverse = Thyra::linearOpWithSolve(*strategy, a_of_thyra);

  const auto x = Teuchos::rcp(new Vector(a->getDomainMap()));
  const auto b = Teuchos::rcp(new Vector(a->getRangeMap()));
  b->putScalar(1);
  const auto status = Thyra::solve<Scalar>(*inverse, Thyra::NOTRANS, *Thyra::createVector(b),
                                           Thyra::createVector(x).ptr());
  const double norm = b->norm2();
  a->apply(*x, *b, Teuchos::NO_TRANS, -1, 1);
  const double residual = b->norm2() / norm;
  if (a->getComm()->getRank() == 0)
    std::cout << status.message << "\n||b - A x|| / ||b|| = " << residual << '\n';
  return status.solveStatus == Thyra::SOLVE_STATUS_CONVERGED && residual < 1.1e-8;
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
  for (const std::string& preconditioner : {ilu, overlapping})
    all = solve(a, solver + preconditioner) && all;
  return all ? 0 : 1;
}
