// SPDX-License-Identifier: BSD-3-Clause
/// KSP and SNES with the plug-in: iterations, new values, inside other preconditioners.
#include "precond/petsc/PetscSupport.hpp"

#include <petscsnes.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

/// Both take the same Krylov method, in another order of rounding.
TEST(PetscSolve, TakesTheIterationsOfAinvil) {
  if (numRanks() > 1)
    GTEST_SKIP() << "for one rank";
  struct Run {
    const char *problem, *solver, *specification;
  };
  for (const Run& run :
       {Run{"cavity:20", "gmres", "ilu"}, Run{"cavity:20", "gmres", "ilu:solve=isai,power=2"},
        Run{"cavity:20", "gmres", "jacobi"},
        Run{"convdiff:8x9x10", "gmres", "ilu:level=1,solve=isai"},
        Run{"convdiff:8x9x10", "gmres", "ainv:symmetric=no"}, Run{"laplace7:12", "cg", "fsai"},
        Run{"laplace7:12", "cg", "chebyshev"}, Run{"elasticity:8x3x3", "cg", "fsai"},
        Run{"jump:8", "cg", "ilu:solve=exact"}})
    for (const std::string& type : generalTypes()) {
      SCOPED_TRACE(std::string(run.problem) + " " + run.specification + " " + type);
      const System system = reference::gallerySystem(run.problem);
      Mat a = matrixOf(system, type);
      {
        Solver solver(a, std::string("-pc_ainvil_spec ") + run.specification,
                      run.solver == std::string("cg") ? KSPCG : KSPGMRES);
        EXPECT_GT(solver.solve(), 0);
        EXPECT_LE(solver.residual(), 1.01e-8);
        EXPECT_NEAR(solver.iterations(),
                    reference::iterationsOf(system, run.solver, run.specification, 1e-8), 1);
      }
      check(MatDestroy(&a));
    }
}

TEST(PetscSolve, IsBlockJacobiOverTheRanks) {
  const System system = reference::gallerySystem("cavity:20");
  for (const std::string& type : generalTypes()) {
    Mat a = matrixOf(system, type);
    {
      Solver own(a, "-pc_ainvil_spec ilu:solve=isai");
      Solver inside(a, "-pc_type bjacobi -sub_pc_type ainvil -sub_pc_ainvil_spec ilu:solve=isai");
      EXPECT_GT(own.solve(), 0);
      EXPECT_GT(inside.solve(), 0);
      EXPECT_NEAR(own.iterations(), inside.iterations(), 1);
      EXPECT_LE(own.residual(), 1.01e-8);
    }
    check(MatDestroy(&a));
  }
}

TEST(PetscSolve, OverlapTakesFewerIterations) {
  const System system = reference::gallerySystem("poisson5:30");
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver own(a, "-pc_ainvil_type ilu");
    Solver overlap(a, "-pc_type asm -pc_asm_overlap 2 -sub_pc_type ainvil -sub_pc_ainvil_type ilu");
    EXPECT_GT(own.solve(), 0);
    EXPECT_GT(overlap.solve(), 0);
    EXPECT_LE(overlap.residual(), 1.01e-8);
    if (numRanks() > 1)
      EXPECT_LT(overlap.iterations(), own.iterations());
    else
      EXPECT_EQ(overlap.iterations(), own.iterations());
  }
  check(MatDestroy(&a));
}

class Smoother : public ::testing::TestWithParam<const char*> {};

/// Far fewer iterations than the smoother alone.
TEST_P(Smoother, OfAlgebraicMultigrid) {
  const System system = reference::gallerySystem("laplace7:14");
  Mat a = matrixOf(system, MATAIJ);
  const std::string options = GetParam();
  {
    Solver smoothed(a,
                    "-pc_type gamg -mg_levels_pc_type ainvil -mg_levels_pc_ainvil_spec " + options,
                    KSPFGMRES);
    Solver alone(a, "-pc_ainvil_spec " + options);
    EXPECT_GT(smoothed.solve(), 0);
    EXPECT_GT(alone.solve(), 0);
    EXPECT_LE(smoothed.residual(), 1.01e-8);
    EXPECT_LE(smoothed.iterations(), 20);
    EXPECT_LT(smoothed.iterations(), 0.75 * alone.iterations());
    EXPECT_TRUE(has(smoothed.view(), "type: ainvil"));
  }
  check(MatDestroy(&a));
}

INSTANTIATE_TEST_SUITE_P(Petsc, Smoother,
                         ::testing::Values("jacobi", "fsai", "ilu", "ilu:solve=isai", "chebyshev",
                                           "ilu:solve=jacobi,sweeps=3", "jacobi:poly=3"));

TEST(PetscValues, NewOnesAreComputedOnly) {
  const System system = bandSystem(50, 3, 2, false, 17);
  for (const std::string& type : generalTypes()) {
    Mat a = matrixOf(system, type);
    {
      Solver solver(a, "-pc_ainvil_spec ilu:solve=isai");
      for (int step = 1; step <= 3; ++step) {
        setValues(a, system, type, step * step);
        check(KSPSetOperators(solver.ksp(), a, a));
        EXPECT_GT(solver.solve(), 0);
        EXPECT_LE(solver.residual(), 1.01e-8);
        EXPECT_TRUE(has(solver.view(),
                        "set-ups: 1 of the pattern, " + std::to_string(step) + " of the values"));
      }
      // The same values once more: PETSc does not even ask.
      EXPECT_GT(solver.solve(2), 0);
      EXPECT_TRUE(has(solver.view(), "set-ups: 1 of the pattern, 3 of the values"));
      // As a new preconditioner has it.
      const Precond fresh(a, "-pc_ainvil_spec ilu:solve=isai");
      PetscInt n;
      check(MatGetLocalSize(a, &n, nullptr));
      Vec x = vectorOf(a, randomNumbers(n, 2)), y;
      check(VecDuplicate(x, &y));
      check(PCApply(solver.pc(), x, y));
      EXPECT_EQ(localNumbers(y), fresh.apply(localNumbers(x)));
      check(VecDestroy(&x));
      check(VecDestroy(&y));
    }
    check(MatDestroy(&a));
  }
}

TEST(PetscValues, AnotherPatternIsInitialized) {
  const System narrow = bandSystem(40, 1, 1, false, 19), wide = bandSystem(40, 4, 1, false, 19);
  Mat a = matrixOf(narrow, MATAIJ), b = matrixOf(wide, MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_spec ilu:solve=isai");
    EXPECT_GT(solver.solve(), 0);
    check(KSPSetOperators(solver.ksp(), b, b));
    EXPECT_GT(solver.solve(), 0);
    EXPECT_LE(solver.residual(), 1.01e-8);
    EXPECT_TRUE(has(solver.view(), "set-ups: 2 of the pattern, 2 of the values"));
    // New entries in the same matrix.
    check(MatSetOption(b, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    check(MatSetValue(b, 0, 20, 0.5, INSERT_VALUES));
    check(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    EXPECT_GT(solver.solve(), 0);
    EXPECT_LE(solver.residual(), 1.01e-8);
    EXPECT_TRUE(has(solver.view(), "set-ups: 3 of the pattern, 3 of the values"));
  }
  check(MatDestroy(&a));
  check(MatDestroy(&b));
}

/// The preconditioner of a matrix that is no more: chebyshev multiplies with it.
TEST(PetscValues, AReusedPreconditionerDoesNotNeedItsMatrix) {
  const System system = bandSystem(40, 2, 1, true, 23);
  const System other = bandSystem(40, 5, 1, true, 23);
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_type chebyshev -pc_ainvil_largest 3");
    EXPECT_GT(solver.solve(), 0);
    const int n = localPart(system, Spread::Even).numRows();
    const std::vector<double> numbers = randomNumbers(n, 6);
    Vec x = vectorOf(a, numbers), y;
    check(VecDuplicate(x, &y));
    check(PCApply(solver.pc(), x, y));
    const std::vector<double> before = localNumbers(y);
    check(KSPSetReusePreconditioner(solver.ksp(), PETSC_TRUE));
    check(MatDestroy(&a));
    a = matrixOf(other, MATAIJ);
    check(KSPSetOperators(solver.ksp(), a, a));
    check(PCApply(solver.pc(), x, y));
    EXPECT_EQ(localNumbers(y), before);
    check(VecDestroy(&x));
    check(VecDestroy(&y));
  }
  check(MatDestroy(&a));
}

// -u'' + e^u / 10 = 1 on (0, 1) with u = 0 at the ends.
PetscErrorCode bratu(SNES, Vec x, Vec f, void*) {
  PetscInt n, first, end;
  Vec whole;
  VecScatter scatter;
  const PetscScalar* u;
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecScatterCreateToAll(x, &scatter, &whole));
  PetscCall(VecScatterBegin(scatter, x, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(whole, &u));
  for (PetscInt i = first; i < end; ++i) {
    const double left = i > 0 ? u[i - 1] : 0, right = i < n - 1 ? u[i + 1] : 0;
    PetscCall(VecSetValue(f, i, 2 * u[i] - left - right + (std::exp(u[i]) / 10 - 1) / 100,
                          INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(whole, &u));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&whole));
  PetscCall(VecAssemblyBegin(f));
  PetscCall(VecAssemblyEnd(f));
  return PetscErrorCode(0);
}

PetscErrorCode jacobian(SNES, Vec x, Mat, Mat p, void* calls) {
  PetscInt n, first, end;
  const PetscScalar* u;
  ++*static_cast<int*>(calls);
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecGetArrayRead(x, &u));
  for (PetscInt i = first; i < end; ++i) {
    if (i > 0)
      PetscCall(MatSetValue(p, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1)
      PetscCall(MatSetValue(p, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(p, i, i, 2 + std::exp(u[i - first]) / 1000, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(x, &u));
  PetscCall(MatAssemblyBegin(p, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p, MAT_FINAL_ASSEMBLY));
  return PetscErrorCode(0);
}

TEST(PetscValues, NewtonsMethodInitializesOnce) {
  const PetscInt n = 60;
  int calls = 0;
  const Options options("-pc_type ainvil -pc_ainvil_spec ilu:solve=isai,power=2 -snes_rtol 1e-12");
  Mat p;
  Vec x, f;
  SNES snes;
  KSP ksp;
  PC pc;
  check(
      MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, nullptr, 2, nullptr, &p));
  check(MatCreateVecs(p, &x, &f));
  check(SNESCreate(PETSC_COMM_WORLD, &snes));
  check(SNESSetFunction(snes, f, bratu, nullptr));
  check(SNESSetJacobian(snes, p, p, jacobian, &calls));
  check(SNESSetFromOptions(snes));
  check(SNESSolve(snes, nullptr, x));
  SNESConvergedReason reason;
  check(SNESGetConvergedReason(snes, &reason));
  EXPECT_GT(reason, 0);
  EXPECT_GE(calls, 3);
  check(SNESGetKSP(snes, &ksp));
  check(KSPGetPC(ksp, &pc));
  EXPECT_TRUE(
      has(viewOf(pc), "set-ups: 1 of the pattern, " + std::to_string(calls) + " of the values"));
  check(SNESDestroy(&snes));
  check(MatDestroy(&p));
  check(VecDestroy(&x));
  check(VecDestroy(&f));
}

TEST(PetscLife, ResetTakesAnotherSize) {
  const System small = bandSystem(20, 1, 2, false, 3), large = bandSystem(45, 2, 3, false, 4);
  Mat a = matrixOf(small, MATAIJ), b = matrixOf(large, MATBAIJ);
  {
    Solver solver(a, "-pc_ainvil_spec ilu:level=1");
    EXPECT_GT(solver.solve(), 0);
    PC pc = solver.pc();
    check(PCReset(pc));
    EXPECT_TRUE(has(viewOf(pc), "ainvil ilu:level=1, not set up"));
    check(PCSetOperators(pc, b, b));
    check(PCSetUp(pc));
    const System local = localPart(large, Spread::Even);
    const std::vector<double> x = randomNumbers(local.numRows(), 5);
    Vec from = vectorOf(b, x), to;
    check(VecDuplicate(from, &to));
    check(PCApply(pc, from, to));
    EXPECT_LE(difference(localNumbers(to), reference::applied(local, "ilu:level=1", x, false)),
              1e-13);
    check(VecDestroy(&from));
    check(VecDestroy(&to));
  }
  check(MatDestroy(&a));
  check(MatDestroy(&b));
}

TEST(PetscLife, AnotherTypeAndBack) {
  const System system = bandSystem(20, 1, 2, false, 3);
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_spec ilu:level=1");
    EXPECT_GT(solver.solve(), 0);
    const int with_level = solver.iterations();
    check(PCSetType(solver.pc(), PCJACOBI));
    EXPECT_GT(solver.solve(), 0);
    EXPECT_GT(solver.iterations(), with_level);
    check(PCSetType(solver.pc(), PCAINVIL));
    EXPECT_GT(solver.solve(), 0); // ilu, as without options
    EXPECT_TRUE(has(solver.view(), "ilu: {level: 0, solve: exact"));
  }
  check(MatDestroy(&a));
}

} // namespace
} // namespace ainvil
