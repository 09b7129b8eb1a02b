// SPDX-License-Identifier: BSD-3-Clause
/// Ainvil::hypre in hypre's Krylov solvers and in MGR: what it applies, iterations, new values,
/// errors.
#include "FailuresOfRank.hpp"
#include "precond/hypre/HypreSupport.hpp"

#include <_hypre_parcsr_mv.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

TEST(Hypre, AppliesWhatAinvilDoes) {
  for (const int block_size : {1, 3})
    for (const Spread spread : {Spread::Even, Spread::Last}) { // with ranks that have no rows
      const System system = bandSystem(41, 3, block_size, false, 5);
      const System local = localPart(system, spread);
      ParSystem par(system, spread);
      const std::vector<double> b = randomNumbers(local.numRows(), 3 + rankOfWorld());
      for (const char* specification :
           {"jacobi", "ilu", "ilu:level=1,solve=isai,power=2", "ainv:symmetric=no"}) {
        SCOPED_TRACE(std::string(specification) + " in blocks of " + std::to_string(block_size));
        HyprePrecond m(specification, block_size);
        m.setUp(par);
        for (const bool transposed : {false, true})
          EXPECT_LE(difference(m.apply(par, b, transposed),
                               reference::applied(local, specification, b, transposed)),
                    1e-13);
      }
    }
}

TEST(Hypre, TakesTheIterationsOfAinvil) {
  if (numRanks() > 1)
    GTEST_SKIP() << "for one rank";
  struct Run {
    const char *problem, *solver, *of_ainvil, *specification;
  };
  for (const Run& run :
       {Run{"cavity:20", "GMRES", "gmres", "ilu"},
        Run{"cavity:20", "GMRES", "gmres", "ilu:solve=isai,power=2"},
        Run{"convdiff:8x9x10", "GMRES", "gmres", "ilu:level=1,solve=isai"},
        Run{"laplace7:12", "PCG", "cg", "fsai"}, Run{"elasticity:8x3x3", "PCG", "cg", "ic"}}) {
    SCOPED_TRACE(std::string(run.problem) + " " + run.specification);
    const System system = reference::gallerySystem(run.problem);
    ParSystem par(system);
    HyprePrecond m(run.specification, system.block_size);
    KrylovSolver solver(run.solver);
    solver.setPrecond(m);
    check(solver.setUp(par));
    check(solver.solve(par));
    EXPECT_LE(par.residual(), 1.01e-8);
    EXPECT_NEAR(solver.iterations(),
                reference::iterationsOf(system, run.of_ainvil, run.specification, 1e-8), 1);
  }
}

class EachKrylovMethod : public ::testing::TestWithParam<Krylov> {};

TEST_P(EachKrylovMethod, IsPreconditioned) {
  const System system = reference::gallerySystem("poisson5:30");
  for (const Spread spread : {Spread::Even, Spread::Last}) {
    ParSystem par(system, spread);
    HyprePrecond m("ilu");
    KrylovSolver solver(GetParam().name), plain(GetParam().name);
    solver.setPrecond(m);
    check(solver.setUp(par));
    check(solver.solve(par));
    EXPECT_LE(par.residual(), 1.01e-8);
    check(plain.setUp(par));
    check(plain.solve(par));
    EXPECT_LT(solver.iterations(), 0.75 * plain.iterations());
  }
}

TEST_P(EachKrylovMethod, DoesNotConvergeAfterAFailedSetUp) {
  ParSystem par(singularOnTheLast());
  HyprePrecond m("ilu");
  KrylovSolver solver(GetParam().name);
  solver.setPrecond(m);
  EXPECT_NE(solver.setUp(par), 0);
  HYPRE_ClearAllErrors(); // then they count anew
  EXPECT_NE(solver.solve(par), 0);
  HYPRE_ClearAllErrors();
  EXPECT_FALSE(par.residual() < 0.99); // it may be no number
  // Then with values on which all is well.
  par.setValues(bandSystem(40, 1, 1, true, 29));
  check(solver.setUp(par));
  check(solver.solve(par));
  EXPECT_LE(par.residual(), 1.01e-8);
}

INSTANTIATE_TEST_SUITE_P(Hypre, EachKrylovMethod, ::testing::ValuesIn(krylovMethods()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HypreValues, NewOnesAreComputedOnly) {
  const System system = bandSystem(50, 3, 2, false, 17);
  const System local = localPart(system, Spread::Even);
  const std::vector<double> b = randomNumbers(local.numRows(), 2);
  for (const int block_size : {1, 2}) {
    ParSystem par(system);
    HyprePrecond m("ilu:solve=isai", block_size);
    for (int step = 1; step <= 3; ++step) {
      par.setValues(system, step * step);
      m.setUp(par);
      EXPECT_TRUE(
          has(m.report(), "set-ups: 1 of the pattern, " + std::to_string(step) + " of the values"));
    }
    HyprePrecond fresh("ilu:solve=isai", block_size);
    fresh.setUp(par);
    EXPECT_EQ(m.apply(par, b), fresh.apply(par, b));
  }
}

TEST(HypreValues, AnotherPatternIsInitialized) {
  const System narrow = bandSystem(40, 1, 1, false, 19), wide = bandSystem(40, 4, 1, false, 19);
  // As many entries as the first, elsewhere.
  System moved = narrow;
  for (int row = 3; row < 37; ++row)
    moved.entries[moved.row_map[row]] = row - 2;
  HyprePrecond m("ilu:solve=isai");
  int patterns = 0;
  for (const System* system : {&narrow, &wide, static_cast<const System*>(&moved)}) {
    ParSystem par(*system);
    const System local = localPart(*system, Spread::Even);
    const std::vector<double> b = randomNumbers(local.numRows(), 8);
    m.setUp(par);
    EXPECT_TRUE(has(m.report(), std::to_string(++patterns) + " of the pattern"));
    EXPECT_LE(difference(m.apply(par, b), reference::applied(local, "ilu:solve=isai", b, false)),
              1e-13);
  }
}

TEST(HypreValues, AnotherBlockSizeUndoesTheSetUp) {
  ParSystem par(bandSystem(30, 2, 2, false, 4));
  HyprePrecond m("ilu");
  m.setUp(par);
  EXPECT_TRUE(has(m.report(), "blocks of size 1\n"));
  check(ainvilHypreSetBlockSize(m.solver(), 1)); // changes nothing
  EXPECT_TRUE(has(m.report(), "blocks of size 1\n"));
  check(ainvilHypreSetBlockSize(m.solver(), 2));
  EXPECT_NE(ainvilHypreSolve(m.solver(), par.a(), par.b(), par.x()), 0);
  HYPRE_ClearAllErrors();
  m.setUp(par);
  EXPECT_TRUE(has(m.report(), "blocks of size 2\n"));
}

TEST(HypreVectors, MayHaveManyColumns) {
  const System system = bandSystem(40, 2, 1, false, 6), local = localPart(system, Spread::Even);
  ParSystem par(system);
  HyprePrecond m("ilu:solve=isai");
  m.setUp(par);
  constexpr HYPRE_Int columns = 3;
  const auto multivector = [&] {
    hypre_ParVector* of = reinterpret_cast<hypre_ParVector*>(par.x());
    hypre_ParVector* made = hypre_ParMultiVectorCreate(
        MPI_COMM_WORLD, hypre_ParVectorGlobalSize(of), hypre_ParVectorPartitioning(of), columns);
    hypre_ParVectorInitialize(made);
    return made;
  };
  hypre_ParVector *b = multivector(), *x = multivector();
  const int n = local.numRows();
  double* const from = hypre_VectorData(hypre_ParVectorLocalVector(b));
  const std::vector<double> numbers = randomNumbers(n * columns, 12);
  std::copy(numbers.begin(), numbers.end(), from);
  check(ainvilHypreSolve(m.solver(), par.a(), reinterpret_cast<HYPRE_ParVector>(b),
                         reinterpret_cast<HYPRE_ParVector>(x)));
  for (HYPRE_Int c = 0; c < columns; ++c) {
    const double* const to = hypre_VectorData(hypre_ParVectorLocalVector(x)) + c * n;
    EXPECT_LE(difference({to, to + n}, m.apply(par, {from + c * n, from + (c + 1) * n})), 1e-15);
  }
  hypre_ParVectorDestroy(b);
  hypre_ParVectorDestroy(x);
}

/// Expects the error of hypre on this rank, with this sentence, and clears it.
void expectError(HYPRE_Int flag, HYPRE_Int kind, const std::string& sentence) {
  EXPECT_NE(HYPRE_CheckError(flag, kind), 0) << flag;
  EXPECT_TRUE(has(ainvilHypreMessage(), sentence));
  HYPRE_ClearAllErrors();
}

TEST(HypreErrors, BadSpecificationsAreRefusedOnAllRanks) {
  HYPRE_Solver solver;
  expectError(ainvilHypreCreate(MPI_COMM_WORLD, "ilu:lvel=1", &solver), HYPRE_ERROR_ARG,
              "unknown key 'lvel'");
  EXPECT_EQ(solver, nullptr);
  expectError(ainvilHypreCreate(MPI_COMM_WORLD, "magic", &solver), HYPRE_ERROR_ARG,
              "unknown method 'magic'");
  expectError(ainvilHypreCreate(MPI_COMM_WORLD, nullptr, &solver), HYPRE_ERROR_ARG,
              "there is no specification");
  // Of one rank alone.
  const bool is_last = rankOfWorld() == numRanks() - 1;
  expectError(ainvilHypreCreate(MPI_COMM_WORLD, is_last ? "ilu:power=2" : "ilu", &solver),
              HYPRE_ERROR_ARG, "'power' has no effect");
  EXPECT_EQ(solver, nullptr);
  if (numRanks() > 1) {
    EXPECT_TRUE(has(ainvilHypreMessage(), "rank " + std::to_string(numRanks() - 1) + " of "));
  }
  EXPECT_EQ(ainvilHypreDestroy(nullptr), 0);
}

TEST(HypreErrors, BlocksThatDoNotFitAreRefusedOnAllRanks) {
  ParSystem par(bandSystem(1, 0, 5, false, 3), Spread::Last);
  HyprePrecond m("ilu");
  expectError(ainvilHypreSetBlockSize(m.solver(), 0), HYPRE_ERROR_ARG, "must be at least 1");
  check(ainvilHypreSetBlockSize(m.solver(), 2));
  expectError(ainvilHypreSetup(m.solver(), par.a(), par.b(), par.x()), HYPRE_ERROR_ARG,
              "block size 2");
  expectError(ainvilHypreSolve(m.solver(), par.a(), par.b(), par.x()), HYPRE_ERROR_GENERIC,
              "block size 2");
}

TEST(HypreErrors, OthersAreNoPreconditionersOfOurs) {
  ParSystem par(bandSystem(10, 1, 1, false, 3));
  HYPRE_Solver other;
  check(HYPRE_BoomerAMGCreate(&other));
  expectError(ainvilHypreSetup(other, par.a(), par.b(), par.x()), HYPRE_ERROR_ARG,
              "no preconditioner of ainvilHypreCreate()");
  expectError(ainvilHypreSolve(other, par.a(), par.b(), par.x()), HYPRE_ERROR_ARG,
              "no preconditioner of ainvilHypreCreate()");
  check(HYPRE_BoomerAMGDestroy(other));
}

TEST(HypreErrors, BreakdownOfOneRankIsToldToAll) {
  ParSystem par(singularOnTheLast());
  HyprePrecond m("ilu");
  expectError(ainvilHypreSetup(m.solver(), par.a(), par.b(), par.x()), HYPRE_ERROR_GENERIC,
              "pivot");
  EXPECT_TRUE(has(m.report(), "failed: "));
  expectError(ainvilHypreSolve(m.solver(), par.a(), par.b(), par.x()), HYPRE_ERROR_GENERIC,
              "pivot");
  for (const double x : par.localX())
    EXPECT_EQ(x, HUGE_VAL);
  HyprePrecond counting("ilu:breakdown=replace");
  counting.setUp(par);
  EXPECT_TRUE(has(counting.report(), "pivots shifted or replaced: 1"));
}

TEST(HypreErrors, ValuesThatAreNotFinite) {
  System system = bandSystem(40, 1, 2, true, 29);
  ParSystem par(system);
  HyprePrecond m("ilu");
  m.setUp(par);
  system.values.back() = std::nan("");
  par.setValues(system);
  expectError(ainvilHypreSetup(m.solver(), par.a(), par.b(), par.x()), HYPRE_ERROR_GENERIC,
              "finite");
}

TEST(HypreReport, SaysWhatVaries) {
  ParSystem par(bandSystem(20, 1, 1, true, 3));
  HyprePrecond m("ilu:solve=async");
  EXPECT_TRUE(has(m.report(), "set-ups: 0 of the pattern, 0 of the values"));
  m.setUp(par);
  EXPECT_TRUE(has(m.report(), "take a flexible solver, as HYPRE_ParCSRFlexGMRES"));
  EXPECT_TRUE(has(m.report(), "entries of the factors: "));
}

/// Two fields on an n x n grid, each with a Laplacian, coupled in every point.
System twoFields(int n) {
  System system;
  system.block_size = 2;
  system.row_map = {0};
  const auto add = [&](int column, std::vector<double> block) {
    system.entries.push_back(column);
    system.values.insert(system.values.end(), block.begin(), block.end());
  };
  for (int row = 0; row < n * n; ++row) {
    const int i = row / n, j = row % n;
    for (const auto& [column, inside] : {std::make_pair(row - n, i > 0),
                                         {row - 1, j > 0},
                                         {row + 1, j < n - 1},
                                         {row + n, i < n - 1}})
      if (inside)
        add(column, {-1, 0, 0, -0.1});
    add(row, {4, 0.5, -0.5, 1});
    system.row_map.push_back(static_cast<int>(system.entries.size()));
  }
  system.rhs.assign(system.numRows(), 1);
  return system;
}

/// MGR that eliminates the first field, with its own coarse solver.
class Mgr {
public:
  Mgr() {
    HYPRE_Int coarse_fields[] = {1}, fields_of_level = 1, *of_levels[] = {coarse_fields};
    check(HYPRE_MGRCreate(&solver_));
    check(HYPRE_MGRSetCpointsByBlock(solver_, 2, 1, &fields_of_level, of_levels));
    check(HYPRE_MGRSetFRelaxMethod(solver_, 2)); // by the solver of HYPRE_MGRSetFSolver
    check(HYPRE_MGRSetMaxIter(solver_, 1));
    check(HYPRE_MGRSetTol(solver_, 0));
    check(HYPRE_MGRSetMaxGlobalSmoothIters(solver_, 0));
  }
  ~Mgr() { HYPRE_MGRDestroy(solver_); }
  Mgr(const Mgr&) = delete;
  Mgr& operator=(const Mgr&) = delete;

  HYPRE_Solver solver() const { return solver_; }
  void setFSolver(const HyprePrecond& m) {
    check(HYPRE_MGRSetFSolver(solver_, ainvilHypreSolve, ainvilHypreSetup, m.solver()));
  }

private:
  HYPRE_Solver solver_ = nullptr;
};

/// Iterations of FlexGMRES with MGR.
int mgrIterations(ParSystem& par, const HyprePrecond& m) {
  Mgr mgr;
  mgr.setFSolver(m);
  KrylovSolver gmres("FlexGMRES");
  gmres.setPrecond(HYPRE_MGRSolve, HYPRE_MGRSetup, mgr.solver());
  check(gmres.setUp(par));
  gmres.solve(par);
  HYPRE_ClearAllErrors(); // one cycle of MGR does not converge
  EXPECT_LE(par.residual(), 1.01e-8);
  return gmres.iterations();
}

TEST(HypreMgr, RelaxesTheFinePointsByAinvil) {
  const System system = twoFields(24);
  ParSystem par(system);
  const HyprePrecond jacobi("jacobi"), ilu("ilu:level=2");
  const int by_jacobi = mgrIterations(par, jacobi);
  for (int step = 1; step <= 2; ++step) {
    par.setValues(system, step);
    EXPECT_LT(mgrIterations(par, ilu), 0.75 * by_jacobi);
    EXPECT_TRUE(
        has(ilu.report(), "set-ups: 1 of the pattern, " + std::to_string(step) + " of the values"));
  }
}

} // namespace
} // namespace ainvil

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  HYPRE_Init();
  ainvil::test::reportFailuresOnly(ainvil::test::rankOfWorld());
  const int failed = RUN_ALL_TESTS();
  ainvil::reference::stop();
  HYPRE_Finalize();
  MPI_Finalize();
  return failed;
}
