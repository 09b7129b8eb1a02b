// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of the solvers over ranks share.

#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_TpetraSolver.hpp"

namespace ainvil {
namespace test {

using BlockOperator = tpetra::BlockOperator<TpetraRow>;

constexpr Spread spreads[] = {Spread::Parts, Spread::LastEmpty, Spread::Cyclic};

inline bool isLastRank() {
  return world()->getRank() == ranks() - 1;
}

/// ||W (b - A x)|| / ||W b|| by a loop over the matrix that every rank has; W = I without weights.
inline double residualOf(const HostBsr& a, const std::vector<double>& b,
                         const std::vector<double>& x, const std::vector<double>& weights = {}) {
  double r2 = 0, b2 = 0;
  const int bs = a.block_size;
  for (Ordinal row = 0; row < a.numRows(); ++row)
    for (int i = 0; i < bs; ++i) {
      double r = b[row * bs + i];
      for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
        for (int j = 0; j < bs; ++j)
          r -= a.values((e * bs + i) * bs + j) * x[a.graph.entries(e) * bs + j];
      const double w = weights.empty() ? 1 : weights[row * bs + i];
      r2 += w * r * w * r;
      b2 += w * b[row * bs + i] * w * b[row * bs + i];
    }
  return std::sqrt(r2 / b2);
}

/// Of another class than RowMatrix, so that it may know no other factors than 1 and 0.
class Wrapped final : public TpetraOperator {
public:
  explicit Wrapped(RCP<const TpetraOperator> a) : a_(a) {}
  RCP<const tpetra::Map> getDomainMap() const override { return a_->getDomainMap(); }
  RCP<const tpetra::Map> getRangeMap() const override { return a_->getRangeMap(); }
  void apply(const TpetraVectors& x, TpetraVectors& y, Teuchos::ETransp, double alpha,
             double beta) const override {
    EXPECT_EQ(alpha, 1);
    EXPECT_EQ(beta, 0);
    a_->apply(x, y);
    if (++count_ == fails_at && isLastRank())
      throw InvalidArgument("the operator gives up");
  }

  int fails_at = 0; ///< this application; 0: none

private:
  RCP<const TpetraOperator> a_;
  mutable int count_ = 0;
};

/// The one that the last rank has thrown, on every rank.
template <class Work>
void expectThrowOfLastRank(const std::string& part, const Work& work) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    if (ranks() > 1) {
      EXPECT_NE(text.find(message("rank ", ranks() - 1, " of ", ranks())), std::string::npos)
          << text;
    }
  }
}

/// What A, M or `progress` throws on one rank is thrown on all, also if that rank has no rows: A
/// and M by each of these applications. No rank waits for another, and the solver is good for more.
inline void expectThrowsEndTheSolve(const HostBsr& matrix, const std::vector<double>& b_whole,
                                    const std::string& method, SolverOptions options,
                                    const std::vector<int>& applications) {
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(matrix, spread);
    const auto b = vectorOn(a->getRangeMap(), b_whole);
    const auto good = made("jacobi", a);
    TpetraVector x(a->getDomainMap());
    bool late = false;
    options.progress = [&](int iteration, double) {
      if (late && iteration >= 3 && isLastRank())
        throw InvalidArgument("the progress gives up");
    };
    tpetra::Solver<> solver(method, options);
    for (const int application : applications) {
      Wrapped bad_a(a), bad_m(good);
      bad_a.fails_at = bad_m.fails_at = application;
      x.putScalar(0);
      expectThrowOfLastRank("the operator gives up", [&] { solver.solve(*a, &bad_m, *b, x); });
      x.putScalar(0);
      expectThrowOfLastRank("the operator gives up",
                            [&] { solver.solve(bad_a, good.get(), *b, x); });
    }
    late = true;
    x.putScalar(0);
    expectThrowOfLastRank("the progress gives up", [&] { solver.solve(*a, nullptr, *b, x); });
    late = false;
    x.putScalar(0);
    EXPECT_EQ(solver.solve(*a, good.get(), *b, x).status, SolveStatus::Converged);
    EXPECT_LE(residualOf(matrix, b_whole, wholeVector(x)), 1e-8 * (1 + 1e-6));
  }
}

} // namespace test
} // namespace ainvil
