// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Ifpack2 with the solvers of Belos. A method is a name of Ifpack2 and its parameters, as
/// "RILUK,fact: iluk level-of-fill=1"; the key "belos" names another solver of Belos.

#include "peers/PeerMethod.hpp"
#include "peers/PeerSolver.hpp"

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Ifpack2_Factory.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Trilinos_version.h>

#include <vector>

namespace ainvil {
namespace perf {
namespace {

using Teuchos::ParameterList;
using Teuchos::RCP;
using Teuchos::rcp;
using Map = Tpetra::Map<>;
using Matrix = Tpetra::CrsMatrix<>;
using Row = Tpetra::RowMatrix<>;
using Vector = Tpetra::Vector<>;
using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;

/// Numbers are told by their looks.
ParameterList listOf(const PeerMethod& method) {
  ParameterList list;
  for (const auto& [name, value] : method.rest()) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0')
      list.set(name, value);
    else if (value.find_first_of(".eE") == std::string::npos)
      list.set(name, static_cast<int>(number));
    else
      list.set(name, number);
  }
  return list;
}

class Ifpack2Solver : public PeerSolver {
public:
  Ifpack2Solver(const std::string& text, const PeerSystem& system) : system_(system) {
    PeerMethod method(text);
    name_ = method.name();
    belos_ = method.word("belos", system.spd ? "CG" : "GMRES");
    parameters_ = listOf(method);
    assemble();
  }

  void setUp() override {
    precond_ = Ifpack2::Factory().create<Row>(name_, a_);
    precond_->setParameters(parameters_);
    precond_->initialize();
    precond_->compute();
    problem_ = rcp(new Belos::LinearProblem<double, MultiVector, Operator>(a_, x_, b_));
    problem_->setRightPrec(precond_);
    const auto list = rcp(new ParameterList);
    list->set("Convergence Tolerance", system_.tolerance);
    list->set("Maximum Iterations", system_.max_iterations);
    if (!system_.spd) {
      list->set("Num Blocks", system_.restart);
      list->set("Maximum Restarts", system_.max_iterations);
      // The initial residual is b.
      list->set("Implicit Residual Scaling", "Norm of Initial Residual");
      list->set("Explicit Residual Scaling", "Norm of Initial Residual");
    }
    solver_ = Belos::SolverFactory<double, MultiVector, Operator>().create(belos_, list);
  }

  void apply(int count) override {
    for (int k = 0; k < count; ++k)
      precond_->apply(*b_, *x_);
  }

  PeerResult solve(double* x) override {
    x_->putScalar(0);
    problem_->setProblem();
    solver_->setProblem(problem_);
    PeerResult result;
    result.converged = solver_->solve() == Belos::Converged;
    result.iterations = solver_->getNumIters();
    const auto values = x_->getData();
    std::copy(values.begin(), values.end(), x);
    return result;
  }

private:
  void assemble() {
    using Global = Map::global_ordinal_type;
    const int bs = system_.block_size, first = system_.first_block_row, end = system_.end_block_row;
    const RCP<const Teuchos::Comm<int>> comm = rcp(new Teuchos::MpiComm<int>(system_.comm));
    const RCP<const Map> map = rcp(new Map(Tpetra::global_size_t(system_.num_block_rows) * bs,
                                           size_t(system_.numBlockRows()) * bs, 0, comm));
    std::vector<size_t> lengths;
    for (int row = first; row < end; ++row)
      lengths.insert(lengths.end(), bs, (system_.row_map[row + 1] - system_.row_map[row]) * bs);
    const auto a = rcp(new Matrix(map, Teuchos::ArrayView<const size_t>(lengths)));
    std::vector<Global> columns;
    std::vector<double> values;
    for (int row = first; row < end; ++row)
      for (int i = 0; i < bs; ++i) {
        columns.clear();
        values.clear();
        for (long long e = system_.row_map[row]; e < system_.row_map[row + 1]; ++e)
          for (int j = 0; j < bs; ++j) {
            columns.push_back(Global(system_.entries[e]) * bs + j);
            values.push_back(system_.values[(e * bs + i) * bs + j]);
          }
        a->insertGlobalValues(Global(row) * bs + i, Teuchos::ArrayView<const Global>(columns),
                              Teuchos::ArrayView<const double>(values));
      }
    a->fillComplete();
    a_ = a;
    b_ = rcp(new Vector(map));
    x_ = rcp(new Vector(map));
    const auto rhs = b_->getDataNonConst();
    std::copy(system_.rhs + first * bs, system_.rhs + end * bs, rhs.begin());
  }

  PeerSystem system_;
  std::string name_, belos_;
  ParameterList parameters_;
  RCP<const Row> a_;
  RCP<Vector> b_, x_;
  RCP<Ifpack2::Preconditioner<>> precond_;
  RCP<Belos::LinearProblem<double, MultiVector, Operator>> problem_;
  RCP<Belos::SolverManager<double, MultiVector, Operator>> solver_;
};

class Ifpack2Library : public PeerLibrary {
public:
  Ifpack2Library() {
    char name[] = "ainvil";
    char* arguments[] = {name, nullptr};
    int count = 1;
    char** argv = arguments;
    Tpetra::initialize(&count, &argv, MPI_COMM_WORLD);
  }
  ~Ifpack2Library() override { Tpetra::finalize(); }
  std::string version() const override { return "Ifpack2 of Trilinos " TRILINOS_VERSION_STRING; }
  void check(const std::string& text, bool) const override {
    PeerMethod method(text);
    method.word("belos", "");
    RCP<Ifpack2::Preconditioner<>> precond;
    try {
      precond = Ifpack2::Factory().create<Row>(method.name(), Teuchos::null);
    } catch (const std::exception&) {
      throw std::invalid_argument("this Ifpack2 has no '" + method.name() + "'");
    }
    try {
      precond->setParameters(listOf(method));
    } catch (const std::exception& error) {
      throw std::invalid_argument(error.what());
    }
  }
  std::unique_ptr<PeerSolver> create(const std::string& method,
                                     const PeerSystem& system) const override {
    return std::make_unique<Ifpack2Solver>(method, system);
  }
};

} // namespace
} // namespace perf
} // namespace ainvil

ainvil::perf::PeerLibrary* ainvilPeerLibrary() {
  return new ainvil::perf::Ifpack2Library;
}
