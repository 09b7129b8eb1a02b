// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of the Tpetra adapters share: matrices that are whole on every rank and spread
/// over the ranks in several ways.

#include "Ainvil_TpetraDistribute.hpp"
#include "Ainvil_TpetraFactory.hpp"
#include "precond/PrecondSupport.hpp"

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>

#include <gtest/gtest.h>

namespace ainvil {
namespace test {

using TpetraRow = Tpetra::RowMatrix<>;
using TpetraCrs = Tpetra::CrsMatrix<>;
using TpetraBlocks = Tpetra::BlockCrsMatrix<>;
using TpetraVectors = Tpetra::MultiVector<>;
using TpetraVector = Tpetra::Vector<>;
using TpetraOperator = Tpetra::Operator<>;
using TpetraPreconditioner = Ifpack2::Preconditioner<>;
using Teuchos::ParameterList;
using Teuchos::RCP;
using Teuchos::rcp;

inline RCP<const Teuchos::Comm<int>> world() {
  return Tpetra::getDefaultComm();
}
inline int ranks() {
  return world()->getSize();
}

/// How rows are spread: in consecutive parts; the same with nothing for the last rank, if there is
/// another one; one row here, one there.
enum class Spread { Parts, LastEmpty, Cyclic };

inline std::vector<int> owners(Ordinal n, Spread spread) {
  const int used = spread == Spread::LastEmpty && ranks() > 1 ? ranks() - 1 : ranks();
  std::vector<int> result(n);
  for (Ordinal i = 0; i < n; ++i)
    result[i] = spread == Spread::Cyclic ? i % used : static_cast<int>(Offset(i) * used / n);
  return result;
}

inline RCP<const tpetra::Map> rowMap(Ordinal n, Spread spread) {
  return tpetra::makeRowMap(world(), owners(n, spread));
}

inline RCP<const TpetraCrs> crsMatrix(const HostBsr& a, Spread spread) {
  return tpetra::distribute(a, rowMap(a.numRows(), spread));
}

inline RCP<const TpetraBlocks> blockMatrix(const HostBsr& a, Spread spread) {
  return tpetra::distributeBlocks(a, rowMap(a.numRows(), spread));
}

/// A vector by global index.
inline RCP<TpetraVector> vectorOn(const RCP<const tpetra::Map>& map, const std::vector<double>& x) {
  return tpetra::distribute(viewOf<double>(x), map);
}

/// The whole vector on every rank, by global index.
inline std::vector<double> wholeVector(const TpetraVector& x) {
  const auto on_first = tpetra::gather(x);
  std::vector<double> whole(x.getGlobalLength());
  if (world()->getRank() == 0)
    whole.assign(on_first.data(), on_first.data() + on_first.extent(0));
  Teuchos::broadcast(*world(), 0, static_cast<int>(whole.size()), whole.data());
  return whole;
}

/// M^-1 x on every rank.
inline std::vector<double> applied(const TpetraOperator& m, const std::vector<double>& x,
                                   Teuchos::ETransp mode = Teuchos::NO_TRANS) {
  const auto from = vectorOn(m.getDomainMap(), x);
  TpetraVector to(m.getRangeMap());
  to.putScalar(std::numeric_limits<double>::quiet_NaN());
  m.apply(*from, to, mode);
  return wholeVector(to);
}

inline std::vector<double> randomVector(size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(n);
  for (double& value : x)
    value = random.uniform(-1, 1);
  return x;
}

/// Initialised and computed.
template <class Matrix>
RCP<TpetraPreconditioner> made(const std::string& name, const RCP<const Matrix>& a,
                               const ParameterList& list = {}) {
  const auto m = tpetra::create<Matrix>(name, a);
  m->setParameters(list);
  m->initialize();
  m->compute();
  return m;
}

/// compute() with the values of `second` in a matrix of the pattern, of which there were other
/// ones, gives what a new object gives.
inline void expectNewValuesEqualAFreshBuild(const std::string& name, const HostBsr& first,
                                            const HostBsr& second, Spread spread) {
  const auto a = tpetra::distribute(first, rowMap(first.numRows(), spread));
  const auto with_second = crsMatrix(second, spread);
  ParameterList blocks;
  blocks.set("block: size", first.block_size);
  const auto m = made<TpetraCrs>(name, a, blocks);
  a->resumeFill();
  Kokkos::deep_copy(a->getLocalMatrixDevice().values, with_second->getLocalMatrixDevice().values);
  a->fillComplete();
  m->compute();
  EXPECT_EQ(m->getNumInitialize(), 1);
  EXPECT_EQ(m->getNumCompute(), 2);
  const auto x = randomVector(a->getGlobalNumRows(), 7);
  EXPECT_EQ(applied(*m, x), applied(*made(name, with_second, blocks), x));
}

struct BelosResult {
  bool converged;
  int iterations;
  double residual; ///< ||b - A x|| / ||b||
};

/// Belos from x = 0 with M from the right.
inline BelosResult solveByBelos(const std::string& solver, const RCP<const TpetraCrs>& a,
                                const RCP<TpetraPreconditioner>& m, const RCP<TpetraVector>& b,
                                double tolerance, int restart = 30) {
  const auto x = rcp(new TpetraVectors(a->getDomainMap(), 1));
  const auto problem =
      rcp(new Belos::LinearProblem<double, TpetraVectors, TpetraOperator>(a, x, b));
  if (!m.is_null())
    problem->setRightPrec(m);
  problem->setProblem();
  const auto list = rcp(new ParameterList);
  list->set("Convergence Tolerance", tolerance);
  list->set("Maximum Iterations", 5000);
  if (solver != "CG") {
    list->set("Num Blocks", restart);
    list->set("Maximum Restarts", 5000);
    list->set("Implicit Residual Scaling", "Norm of RHS");
  }
  const auto method =
      Belos::SolverFactory<double, TpetraVectors, TpetraOperator>().create(solver, list);
  method->setProblem(problem);
  const bool converged = method->solve() == Belos::Converged;
  TpetraVector r(a->getRangeMap());
  a->apply(*x, r);
  r.update(1, *b, -1);
  return {converged, method->getNumIters(), r.norm2() / b->norm2()};
}

} // namespace test
} // namespace ainvil
