// SPDX-License-Identifier: BSD-3-Clause
/// Several right-hand sides over ranks, together against one after the other.
#include "solvers/tpetra/MpiCalls.hpp"
#include "solvers/tpetra/OverRanks.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <numeric>

namespace ainvil {
namespace {

using namespace test;
using Columns = std::vector<std::vector<double>>; ///< by global index

void fill(TpetraVectors& x, const Columns& columns) {
  for (size_t c = 0; c < columns.size(); ++c)
    Tpetra::deep_copy(*x.getVectorNonConst(c), *vectorOn(x.getMap(), columns[c]));
}

RCP<TpetraVectors> vectorsOn(const RCP<const tpetra::Map>& map, const Columns& columns) {
  const auto x = rcp(new TpetraVectors(map, columns.size()));
  fill(*x, columns);
  return x;
}

Columns wholeVectors(const TpetraVectors& x) {
  Columns columns;
  for (size_t c = 0; c < x.getNumVectors(); ++c)
    columns.push_back(wholeVector(*x.getVector(c)));
  return columns;
}

/// alpha A x + beta y on every rank.
Columns product(const TpetraOperator& a, const Columns& x, const Columns& y, double alpha,
                double beta) {
  const auto from = vectorsOn(a.getDomainMap(), x), to = vectorsOn(a.getRangeMap(), y);
  a.apply(*from, *to, Teuchos::NO_TRANS, alpha, beta);
  return wholeVectors(*to);
}

TEST(BlockOperatorOnColumns, MultipliesAsItsMatrix) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expectProducts = [&](const RCP<const TpetraRow>& a, int block_size) {
    const BlockOperator blocks(a, block_size);
    const size_t n = a->getRangeMap()->getGlobalNumElements();
    for (const size_t count : {0, 1, 2, 3, 8, 11, 2}) {
      SCOPED_TRACE(message(count, " columns, block size ", block_size));
      Columns x, y;
      for (size_t c = 0; c < count; ++c) {
        x.push_back(randomVector(n, 5 + c));
        y.push_back(randomVector(n, 50 + c));
      }
      const Columns bad(count, std::vector<double>(n, nan));
      const Columns sum = product(blocks, x, y, -2.5, 0.5), expected = product(*a, x, y, -2.5, 0.5);
      const Columns over = product(blocks, x, bad, 1, 0), right = product(*a, x, y, 1, 0);
      for (size_t c = 0; c < count; ++c) {
        expectNear(sum[c], expected[c], 1e-13);
        expectNear(over[c], right[c], 1e-13);
      }
    }
  };
  for (const Spread spread : spreads) {
    SCOPED_TRACE(static_cast<int>(spread));
    const HostBsr in_blocks = matrixOn(randomPattern(67, 5, 12), 3, 12);
    expectProducts(crsMatrix(matrixOn(randomPattern(83, 6, 11), 1, 11), spread), 0);
    expectProducts(crsMatrix(in_blocks, spread), 3);
    expectProducts(blockMatrix(in_blocks, spread), 0);
    expectProducts(crsMatrix(matrixOn(diagonalPattern(41), 2, 14), spread), 2); // no halo
  }
}

TEST(BlockOperatorOnColumns, OneMessageForAll) {
  const auto a = crsMatrix(matrixOn(randomPattern(83, 6, 11), 1, 11), Spread::Cyclic);
  const BlockOperator blocks(a);
  int of_one = 0;
  for (const size_t count : {1, 8, 11}) {
    TpetraVectors x(a->getDomainMap(), count), y(a->getRangeMap(), count);
    x.putScalar(1);
    const MpiCalls before = mpiCalls();
    blocks.apply(x, y);
    const int sends = mpiCalls().sends - before.sends;
    if (count == 1)
      of_one = sends;
    EXPECT_EQ(sends, of_one) << count << " columns";
    EXPECT_EQ(mpiCalls().blocking, before.blocking) << count << " columns";
  }
  EXPECT_EQ(of_one, ranks() - 1); // every rank has a neighbour in each other
}

TEST(BlockOperatorOnColumns, SomeColumnsOfOthers) {
  const auto a = crsMatrix(matrixOn(randomPattern(83, 6, 11), 1, 11), Spread::LastEmpty);
  const BlockOperator blocks(a);
  TpetraVectors x(a->getDomainMap(), 5), y(a->getRangeMap(), 5), expected(a->getRangeMap(), 5);
  x.randomize();
  y.putScalar(7);
  expected.putScalar(7);
  const std::vector<size_t> from = {4, 0, 1}, to = {3, 1, 2};
  const auto some = y.subViewNonConst(Teuchos::arrayViewFromVector(to));
  ASSERT_FALSE(some->isConstantStride());
  blocks.apply(*x.subView(Teuchos::arrayViewFromVector(from)), *some, Teuchos::NO_TRANS, 2, 0.5);
  for (size_t c = 0; c < 3; ++c)
    a->apply(*x.getVector(from[c]), *expected.getVectorNonConst(to[c]), Teuchos::NO_TRANS, 2, 0.5);
  for (size_t c = 0; c < 5; ++c)
    expectNear(wholeVector(*y.getVector(c)), wholeVector(*expected.getVector(c)), 1e-13);
}

class ColumnsOverRanks : public ::testing::TestWithParam<const char*> {
protected:
  const std::string method_ = GetParam();
  const HostBsr matrix_ = makeProblem(method_ == "cg" ? "laplace7:9" : "convdiff:13x11x7").matrix;
  const size_t n_ = matrix_.numPointRows();

  static SolverOptions optionsWith(int max_iterations = 400) {
    SolverOptions options;
    options.restart = 12;
    options.max_iterations = max_iterations;
    return options;
  }

  /// Right-hand sides that take different numbers of iterations: random ones, constant ones, zeros,
  /// and such that are not zero in a few rows.
  Columns rightHandSides(size_t count) const {
    Columns b;
    for (size_t c = 0; c < count; ++c) {
      std::vector<double> column = randomVector(n_, 10 + c);
      if (c % 5 == 1)
        column.assign(n_, 1.0 + double(c));
      if (c % 5 == 2)
        column.assign(n_, 0.0);
      if (c % 5 == 4)
        std::fill(column.begin() + 20, column.end(), 0.0);
      b.push_back(column);
    }
    return b;
  }
  /// Zeros, or something else.
  Columns guesses(size_t count, bool zeros) const {
    Columns x;
    for (size_t c = 0; c < count; ++c)
      x.push_back(zeros ? std::vector<double>(n_, 0.0) : randomVector(n_, 70 + c));
    return x;
  }

  struct Many {
    std::vector<SolveResult> results;
    Columns x;
  };

  Many together(const TpetraOperator& a, const TpetraOperator* m, const Columns& b,
                const Columns& x0, const SolverOptions& options = optionsWith()) const {
    tpetra::Solver<> solver(method_, options);
    const auto x = vectorsOn(a.getDomainMap(), x0);
    Many many;
    many.results = solver.solve(a, m, *vectorsOn(a.getRangeMap(), b), *x);
    many.x = wholeVectors(*x);
    return many;
  }

  Many oneByOne(const TpetraOperator& a, const TpetraOperator* m, const Columns& b,
                const Columns& x0, const SolverOptions& options = optionsWith()) const {
    tpetra::Solver<> solver(method_, options);
    Many many;
    for (size_t c = 0; c < b.size(); ++c) {
      const auto x = vectorOn(a.getDomainMap(), x0[c]);
      many.results.push_back(solver.solve(a, m, *vectorOn(a.getRangeMap(), b[c]), *x));
      many.x.push_back(wholeVector(*x));
    }
    return many;
  }

  /// What is far from b is compared, not the digits that rounding leaves to chance.
  void expectSame(const Many& many, const Many& each, const Columns& b) const {
    ASSERT_EQ(many.results.size(), each.results.size());
    for (size_t c = 0; c < each.results.size(); ++c) {
      SCOPED_TRACE(message("column ", c));
      EXPECT_STREQ(toString(many.results[c].status), toString(each.results[c].status));
      // The residual of BiCGStab jumps up and down, and rounding with it.
      const int theirs = each.results[c].iterations;
      const int allowed = ranks() == 1 ? 0 : method_ == "bicgstab" ? 2 + theirs / 10 : 1;
      EXPECT_LE(std::abs(many.results[c].iterations - theirs), allowed)
          << many.results[c].iterations << " and " << theirs;
      EXPECT_EQ(many.results[c].history.size(), size_t(many.results[c].iterations) + 1);
      if (each.results[c].status != SolveStatus::Converged)
        continue;
      double size = 0, difference = 0;
      for (size_t i = 0; i < n_; ++i) {
        size = std::max(size, std::abs(each.x[c][i]));
        difference = std::max(difference, std::abs(many.x[c][i] - each.x[c][i]));
      }
      EXPECT_LE(difference, 1e-5 * size);
      if (*std::max_element(b[c].begin(), b[c].end()) > 0) {
        EXPECT_LE(residualOf(matrix_, b[c], many.x[c]), 1e-8 * (1 + 1e-6));
      } else {
        EXPECT_EQ(size, 0);
      }
    }
  }
};

TEST_P(ColumnsOverRanks, TakeTheIterationsOfEach) {
  const std::vector<size_t> all = {1, 2, 3, 8, 11}, some = {3, 11};
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(matrix_, spread);
    const BlockOperator blocks(a);
    for (const std::string precond :
         {"none", "jacobi", "ilu", "RILUK", method_ == "cg" ? "fsai" : "ainv:symmetric=no"})
      for (const size_t count : precond == "jacobi" ? all : some) {
        SCOPED_TRACE(message(precond, ", ", count, " columns, spread ", static_cast<int>(spread)));
        const auto m = precond == "none" ? Teuchos::null : made(precond, a);
        const Columns b = rightHandSides(count), x0 = guesses(count, count % 2 == 0);
        const Many many = together(blocks, m.get(), b, x0);
        expectSame(many, oneByOne(blocks, m.get(), b, x0), b);
        if (count == 3) { // the products of Tpetra, and an operator that takes no factors
          expectSame(together(*a, m.get(), b, x0), many, b);
          expectSame(together(Wrapped(a), m.get(), b, x0), many, b);
        }
      }
  }
}

TEST_P(ColumnsOverRanks, StopEachAtItsLimit) {
  const auto a = crsMatrix(matrix_, Spread::Cyclic);
  const Columns b = rightHandSides(8), x0 = guesses(8, false);
  for (const int most : {0, 1, 17}) {
    const Many many = together(*a, nullptr, b, x0, optionsWith(most));
    expectSame(many, oneByOne(*a, nullptr, b, x0, optionsWith(most)), b);
    for (const SolveResult& result : many.results)
      EXPECT_LE(result.iterations, most);
  }
}

TEST_P(ColumnsOverRanks, OneRankIsTheSolverWithoutRanks) {
  if (ranks() > 1)
    return;
  const auto a = crsMatrix(matrix_, Spread::Parts);
  const DeviceBsr whole = copyTo<Device>(matrix_);
  const MatrixOperator<double, Device> product(whole);
  for (const char* precond : {"jacobi", "ilu"})
    for (const size_t count : {2, 11}) {
      const Columns b = rightHandSides(count), x0 = guesses(count, true);
      const Many ours = together(BlockOperator(a), made(precond, a).get(), b, x0);
      const auto m = createPreconditioner<double, Device>(precond);
      m->initialize(whole);
      m->compute(whole);
      const MultiVector<double, Device> b_view("b", n_, count), x_view("x", n_, count);
      for (size_t c = 0; c < count; ++c)
        Kokkos::deep_copy(Kokkos::subview(b_view, Kokkos::ALL(), c),
                          copyArray<Device>(viewOf<double>(b[c]), "b"));
      const auto theirs = createSolver<double, Device>(method_, optionsWith())
                              ->solve(product, m.get(), b_view, x_view);
      for (size_t c = 0; c < count; ++c) {
        EXPECT_EQ(ours.results[c].iterations, theirs[c].iterations);
        EXPECT_EQ(ours.results[c].history, theirs[c].history);
        const Vector<double, Device> column = Kokkos::subview(x_view, Kokkos::ALL(), c);
        const auto x = copyArray<HostDevice>(column, "x");
        EXPECT_EQ(ours.x[c], std::vector<double>(x.data(), x.data() + n_));
      }
    }
}

/// Of all columns together as many as of one.
TEST_P(ColumnsOverRanks, ReductionsAndMessagesOfOneColumn) {
  const int of_one = method_ == "cg" ? 2 : method_ == "bicgstab" ? 3 : 1;
  const auto a = crsMatrix(matrix_, Spread::Parts);
  const BlockOperator blocks(a);
  const auto m = made("jacobi", a);
  int sends_of_one = 0;
  for (const size_t count : {1, 8}) {
    Columns b;
    for (size_t c = 0; c < count; ++c)
      b.push_back(randomVector(n_, 10 + c));
    MpiCalls calls[2];
    for (const int k : {0, 1}) {
      SolverOptions options = optionsWith(3 + 5 * k);
      options.tolerance = 0;
      const auto x = vectorsOn(a->getDomainMap(), guesses(count, true));
      const auto rhs = vectorsOn(a->getRangeMap(), b);
      tpetra::Solver<> solver(method_, options);
      const MpiCalls before = mpiCalls();
      for (const SolveResult& result : solver.solve(blocks, m.get(), *rhs, *x))
        EXPECT_EQ(result.iterations, options.max_iterations);
      calls[k].reductions = mpiCalls().reductions - before.reductions;
      calls[k].sends = mpiCalls().sends - before.sends;
    }
    EXPECT_EQ(calls[1].reductions - calls[0].reductions, ranks() > 1 ? 5 * of_one : 0);
    const int sends = calls[1].sends - calls[0].sends;
    EXPECT_EQ(sends > 0, ranks() > 1);
    if (count == 1)
      sends_of_one = sends;
    EXPECT_EQ(sends, sends_of_one) << count << " columns";
  }
}

TEST_P(ColumnsOverRanks, WhatOneRankThrowsEndsTheSolve) {
  for (const Spread spread : {Spread::LastEmpty, Spread::Cyclic}) {
    const auto a = crsMatrix(matrix_, spread);
    const auto good = made("jacobi", a);
    bool late = false;
    SolverOptions options = optionsWith();
    options.progress = [&](int iteration, double) {
      if (late && iteration >= 3 && isLastRank())
        throw InvalidArgument("the progress gives up");
    };
    tpetra::Solver<> solver(method_, options);
    for (const size_t count : {3, 11}) {
      const Columns b = rightHandSides(count);
      const auto rhs = vectorsOn(a->getRangeMap(), b);
      const auto x = rcp(new TpetraVectors(a->getDomainMap(), count));
      for (const int application : {1, 4}) {
        Wrapped bad_a(a), bad_m(good);
        bad_a.fails_at = bad_m.fails_at = application;
        x->putScalar(0);
        expectThrowOfLastRank("the operator gives up", [&] { solver.solve(*a, &bad_m, *rhs, *x); });
        x->putScalar(0);
        expectThrowOfLastRank("the operator gives up",
                              [&] { solver.solve(bad_a, good.get(), *rhs, *x); });
      }
      late = true;
      x->putScalar(0);
      expectThrowOfLastRank("the progress gives up", [&] { solver.solve(*a, nullptr, *rhs, *x); });
      late = false;
      x->putScalar(0);
      Many many{solver.solve(*a, good.get(), *rhs, *x), {}};
      many.x = wholeVectors(*x);
      expectSame(many, oneByOne(*a, good.get(), b, guesses(count, true)), b);
    }
  }
}

TEST_P(ColumnsOverRanks, OtherNumbersOfColumnsAreRefused) {
  const auto a = crsMatrix(matrix_, Spread::Parts);
  tpetra::Solver<> solver(method_);
  TpetraVectors two(a->getRangeMap(), 2), three(a->getRangeMap(), 3);
  TpetraVector one(a->getRangeMap());
  const auto expectRefusal = [&](const TpetraVectors& b, TpetraVectors& x, const char* numbers) {
    try {
      solver.solve(*a, nullptr, b, x);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(numbers), std::string::npos) << error.what();
    }
  };
  expectRefusal(two, three, "3 and 2");
  expectRefusal(one, two, "2 and 1");
  expectRefusal(three, one, "1 and 3");
  if (ranks() > 1) {
    const TpetraVectors& b = isLastRank() ? three : two;
    TpetraVectors x(b, Teuchos::Copy);
    expectThrowOfLastRank("3 columns of b", [&] { solver.solve(*a, nullptr, b, x); });
  }
  TpetraVectors none(a->getRangeMap(), 0);
  EXPECT_TRUE(solver.solve(*a, nullptr, none, none).empty());
  three.putScalar(1);
  TpetraVectors x(a->getDomainMap(), 3);
  for (const SolveResult& result : solver.solve(*a, nullptr, three, x))
    EXPECT_EQ(result.status, SolveStatus::Converged);
}

/// Columns in another order, with others between them, and rows of longer columns.
TEST_P(ColumnsOverRanks, ViewsOfOtherVectors) {
  const auto a = crsMatrix(matrix_, Spread::LastEmpty);
  const auto m = made("jacobi", a);
  const RCP<const tpetra::Map> unknowns = a->getDomainMap();
  const Columns b = rightHandSides(3), x0 = guesses(3, false);
  const Many each = oneByOne(*a, m.get(), b, x0);
  tpetra::Solver<> solver(method_, optionsWith());

  const std::vector<size_t> of_b = {3, 0, 4}, of_x = {5, 1, 2};
  TpetraVectors all_b(unknowns, 5), all_x(unknowns, 6);
  all_x.putScalar(7);
  const auto some_b = all_b.subViewNonConst(Teuchos::arrayViewFromVector(of_b)),
             some_x = all_x.subViewNonConst(Teuchos::arrayViewFromVector(of_x));
  fill(*some_b, b);
  fill(*some_x, x0);
  Many many{solver.solve(*a, m.get(), *some_b, *some_x), {}};
  many.x = wholeVectors(*some_x);
  expectSame(many, each, b);
  for (const size_t other : {0, 3, 4})
    for (const double value : wholeVector(*all_x.getVector(other)))
      ASSERT_EQ(value, 7);

  const int here = tpetra::compat::numLocalElements(*unknowns);
  const auto longer = rcp(new tpetra::Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                          size_t(here + 5), 0, world()));
  TpetraVectors long_b(longer, 3), long_x(longer, 3);
  long_x.putScalar(7);
  const auto rows_b = long_b.offsetViewNonConst(unknowns, 2),
             rows_x = long_x.offsetViewNonConst(unknowns, 3);
  fill(*rows_b, b);
  fill(*rows_x, x0);
  many = {solver.solve(*a, m.get(), *rows_b, *rows_x), {}};
  many.x = wholeVectors(*rows_x);
  expectSame(many, each, b);
  const auto view = long_x.getLocalViewHost(Tpetra::Access::ReadOnly);
  for (const int row : {0, 1, 2, here + 3, here + 4})
    for (const int c : {0, 1, 2})
      EXPECT_EQ(view(row, c), 7);
}

TEST_P(ColumnsOverRanks, ResidualsInTheNormOfTheUser) {
  std::vector<double> w = randomVector(n_, 37);
  for (double& w_i : w)
    w_i = std::pow(30, w_i);
  SolverOptions options = optionsWith(1000);
  options.tolerance = 1e-6;
  const auto a = crsMatrix(matrix_, Spread::Cyclic);
  tpetra::Solver<> solver(method_, options);
  solver.setWeights(vectorOn(a->getRangeMap(), w));
  const Columns b = rightHandSides(4);
  TpetraVectors x(a->getDomainMap(), 4);
  const auto results = solver.solve(*a, nullptr, *vectorsOn(a->getRangeMap(), b), x);
  for (const size_t c : {0, 1, 3}) {
    EXPECT_EQ(results[c].status, SolveStatus::Converged) << results[c].message;
    const double residual = residualOf(matrix_, b[c], wholeVector(*x.getVector(c)), w);
    EXPECT_LE(residual, 1e-6 * (1 + 1e-6));
    EXPECT_NEAR(results[c].true_rel_residual, residual, 1e-3 * residual);
  }
}

INSTANTIATE_TEST_SUITE_P(Tpetra, ColumnsOverRanks,
                         ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace ainvil
