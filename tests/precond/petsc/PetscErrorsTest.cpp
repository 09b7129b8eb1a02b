// SPDX-License-Identifier: BSD-3-Clause
/// Options, errors, and matrices that give no preconditioner, on one rank or on all.
#include "precond/petsc/PetscSupport.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;

class PetscOptionsTest : public ::testing::Test {
protected:
  PetscOptionsTest() : a_(matrixOf(bandSystem(30, 2, 2, true, 3), MATAIJ)) {
    check(PCCreate(PETSC_COMM_WORLD, &pc_));
    check(PCSetOptionsPrefix(pc_, "my_"));
    check(PCSetType(pc_, PCAINVIL));
    check(PCSetOperators(pc_, a_, a_));
  }
  ~PetscOptionsTest() override {
    PCDestroy(&pc_);
    MatDestroy(&a_);
  }

  /// What PCView() tells after a set-up with the options.
  std::string described(const std::string& options) {
    const Options set(options);
    check(PCSetFromOptions(pc_));
    check(PCSetUp(pc_));
    return viewOf(pc_);
  }

  void expectRefused(const std::string& options, const std::string& sentence) {
    SCOPED_TRACE(options);
    const Options set(options);
    const Errors errors;
    EXPECT_NE(PCSetFromOptions(pc_), 0);
    EXPECT_TRUE(has(errors.message(), sentence));
  }

  Mat a_;
  PC pc_ = nullptr;
};

TEST_F(PetscOptionsTest, AloneOrInASpecification) {
  EXPECT_TRUE(has(described(""), "ilu: {level: 0, solve: exact"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_spec ilu:level=1,solve=isai"),
                  "ilu: {level: 1, solve: isai, power: 1"));
  // Of the same method: they win over what was there.
  EXPECT_TRUE(has(described("-my_pc_ainvil_level 2 -my_pc_ainvil_power 3"),
                  "ilu: {level: 2, solve: isai, power: 3"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_type fsai -my_pc_ainvil_max_row 7"), "fsai: {"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_max_row 8"), "max-row: 8"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_spec ilu:level=1 -my_pc_ainvil_level 3"),
                  "ilu: {level: 3, solve: exact"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_type ilu -my_pc_ainvil_spec ilu:level=1"),
                  "ilu: {level: 1, solve: exact"));
  // What every method takes.
  EXPECT_TRUE(has(described("-my_pc_ainvil_type jacobi -my_pc_ainvil_poly 7"), "poly: 7"));
}

TEST_F(PetscOptionsTest, FlagsAreWrittenAsPetscWritesThem) {
  for (const char* no : {"no", "0", "false"})
    EXPECT_TRUE(has(described(std::string("-my_pc_ainvil_type ainv -my_pc_ainvil_symmetric ") + no),
                    "symmetric: no"));
  for (const char* yes : {"", "yes", "1", "true"})
    EXPECT_FALSE(
        has(described(std::string("-my_pc_ainvil_type ainv -my_pc_ainvil_symmetric ") + yes),
            "symmetric: no"));
}

TEST_F(PetscOptionsTest, AllParametersOfAllMethodsAreKnown) {
  for (const auto& [method, keys] : reference::methodsAndKeys())
    for (std::string key : keys) {
      std::replace(key.begin(), key.end(), '-', '_');
      const std::string options =
          "-my_pc_ainvil_type " + method + " -my_pc_ainvil_" + key + " nonsense";
      // Known, and so its value is what is wrong, or that it has no effect.
      const Options set(options);
      const Errors errors;
      EXPECT_NE(PCSetFromOptions(pc_), 0);
      EXPECT_FALSE(has(errors.message(), "unknown option")) << options;
      EXPECT_TRUE(has(errors.message(), "preconditioner '" + method + ":")) << options;
    }
}

TEST_F(PetscOptionsTest, WhatIsWrongIsRefused) {
  expectRefused("-my_pc_ainvil_level -1", "'level' must be");
  expectRefused("-my_pc_ainvil_level 1.5", "'level' must be");
  expectRefused("-my_pc_ainvil_solve magic", "'solve' must be one of exact, isai");
  expectRefused("-my_pc_ainvil_power 2", "'power' has no effect");
  expectRefused("-my_pc_ainvil_type magic", "unknown method 'magic', known are none, jacobi");
  expectRefused("-my_pc_ainvil_lvel 1", "unknown option -my_pc_ainvil_lvel, known are");
  expectRefused("-my_pc_ainvil_degree 3", "unknown option -my_pc_ainvil_degree");
  expectRefused("-my_pc_ainvil_spec ilu:", "nothing follows the colon");
  expectRefused("-my_pc_ainvil_spec ilu:lvel=1", "unknown key 'lvel'");
  expectRefused("-my_pc_ainvil_spec ilu -my_pc_ainvil_type fsai", "give one of the two");
  expectRefused("-my_pc_ainvil_block_size -2", "-pc_ainvil_block_size must be at least 1");
  // Nothing of it has been taken; options of others are not looked at.
  EXPECT_TRUE(has(described("-other_pc_ainvil_lvel 1 -my_pc_ainvil_level 1"),
                  "ilu: {level: 1, solve: exact"));
}

TEST_F(PetscOptionsTest, LevelsOfMultigridHaveNumbersThatOptionsMayLeaveOut) {
  check(PCSetOptionsPrefix(pc_, "mg_levels_12_"));
  EXPECT_TRUE(has(described("-mg_levels_pc_ainvil_level 1"), "level: 1"));
  EXPECT_TRUE(has(described("-mg_levels_12_pc_ainvil_level 2"), "level: 2"));
  expectRefused("-mg_levels_pc_ainvil_lvel 1", "unknown option -mg_levels_pc_ainvil_lvel");
  expectRefused("-mg_levels_12_pc_ainvil_lvel 1", "unknown option -mg_levels_12_pc_ainvil_lvel");
  EXPECT_TRUE(has(described("-mg_levels_1_pc_ainvil_level 4"), "level: 2"));
}

TEST_F(PetscOptionsTest, ASpecificationMayBeSetInTheProgram) {
  check(petsc::setSpecification(pc_, "ilu:level=2"));
  EXPECT_TRUE(has(described(""), "level: 2"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_solve isai"), "level: 2, solve: isai"));
  const Errors errors;
  EXPECT_NE(petsc::setSpecification(pc_, "ilu:lvel=2"), 0);
  EXPECT_TRUE(has(errors.message(), "unknown key 'lvel'"));
  EXPECT_TRUE(has(described(""), "level: 2, solve: isai"));
}

TEST_F(PetscOptionsTest, OtherTypesHaveNoSpecification) {
  check(PCSetType(pc_, PCJACOBI));
  const Errors errors;
  EXPECT_NE(petsc::setSpecification(pc_, "ilu"), 0);
  EXPECT_TRUE(has(errors.message(), "call PCSetType(pc, PCAINVIL) first"));
}

TEST_F(PetscOptionsTest, OptionsAfterTheSetUpUndoIt) {
  EXPECT_TRUE(has(described("-my_pc_ainvil_spec ilu"), "1 of the pattern, 1 of the values"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_spec ilu"), "1 of the pattern, 1 of the values"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_level 1"), "2 of the pattern, 2 of the values"));
  EXPECT_TRUE(has(described("-my_pc_ainvil_block_size 1"), "3 of the pattern, 3 of the values"));
}

TEST_F(PetscOptionsTest, WhatVariesSaysSo) {
  EXPECT_TRUE(has(described("-my_pc_ainvil_solve async"),
                  "varies between applications: take a flexible KSP"));
  EXPECT_FALSE(has(described("-my_pc_ainvil_solve jacobi"), "flexible"));
}

TEST(PetscErrors, OtherMatricesAreRefused) {
  Mat a, shell;
  const Errors errors;
  PC pc;
  check(MatCreateDense(PETSC_COMM_WORLD, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &a));
  check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  check(PCCreate(PETSC_COMM_WORLD, &pc));
  check(PCSetType(pc, PCAINVIL));
  check(PCSetOperators(pc, a, a));
  EXPECT_NE(PCSetUp(pc), 0);
  EXPECT_TRUE(has(errors.message(), "dense, but pc_type ainvil takes aij, baij and sbaij"));
  check(PCDestroy(&pc));
  check(MatDestroy(&a));
  const Errors of_shell;
  check(MatCreateShell(PETSC_COMM_WORLD, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &shell));
  check(PCCreate(PETSC_COMM_WORLD, &pc));
  check(PCSetType(pc, PCAINVIL));
  check(PCSetOperators(pc, shell, shell));
  EXPECT_NE(PCSetUp(pc), 0);
  EXPECT_TRUE(has(of_shell.message(), "shell, but pc_type ainvil takes aij, baij and sbaij"));
  check(PCDestroy(&pc));
  check(MatDestroy(&shell));
}

TEST(PetscErrors, BlocksThatDoNotFitAreRefusedOnAllRanks) {
  // 10 rows a rank, but 9 on the last.
  const int rows = rankOfWorld() == numRanks() - 1 ? 9 : 10;
  Mat a;
  PC pc;
  check(MatCreateAIJ(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 0,
                     nullptr, &a));
  PetscInt first, end;
  check(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt row = first; row < end; ++row)
    check(MatSetValue(a, row, row, 1, INSERT_VALUES));
  check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  check(PCCreate(PETSC_COMM_WORLD, &pc));
  check(PCSetType(pc, PCAINVIL));
  check(PCSetOperators(pc, a, a));
  {
    const Options options("-pc_ainvil_block_size 2");
    check(PCSetFromOptions(pc));
    const Errors errors;
    EXPECT_NE(PCSetUp(pc), 0);
    EXPECT_TRUE(has(errors.message(), "block size 2"));
    if (numRanks() > 1) {
      EXPECT_TRUE(has(errors.message(), "rank " + std::to_string(numRanks() - 1) + " of "));
    }
  }
  check(PCDestroy(&pc));
  check(MatDestroy(&a));
}

/// Gives the matrix other values and tells the solver.
void change(const Solver& solver, Mat a, const System& system) {
  setValues(a, system, MATAIJ);
  check(KSPSetOperators(solver.ksp(), a, a));
}

class PetscFailures : public ::testing::TestWithParam<const char*> {};

TEST_P(PetscFailures, OfOneRankEndTheSolveOnAll) {
  const System system = singularOnTheLast();
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver solver(a, GetParam());
    EXPECT_EQ(solver.solve(), KSP_DIVERGED_PC_FAILED);
    // Then with a matrix on which all is well. Inside of others PETSc forgets no failure.
    if (std::string(GetParam()).find("sub_") == std::string::npos) {
      change(solver, a, bandSystem(40, 1, 1, true, 29));
      EXPECT_GT(solver.solve(), 0);
      EXPECT_LE(solver.residual(), 1.01e-8);
    }
  }
  check(MatDestroy(&a));
}

INSTANTIATE_TEST_SUITE_P(
    Petsc, PetscFailures,
    ::testing::Values(
        "-pc_ainvil_type ilu", "-pc_ainvil_type ilu -ksp_type cg -ksp_pc_side left",
        "-pc_ainvil_type ilu -ksp_type bcgs", "-pc_ainvil_type ilu -ksp_type fgmres",
        "-pc_ainvil_type ilu -ksp_type richardson -ksp_pc_side left -ksp_max_it 99",
        // Preconditioned from the right, those of PETSc hang here, with its own ILU too.
        "-pc_type bjacobi -sub_pc_type ainvil -ksp_pc_side left "
        "-ksp_norm_type preconditioned",
        "-pc_type asm -sub_pc_type ainvil -ksp_pc_side left "
        "-ksp_norm_type preconditioned"));

TEST(PetscFailure, IsTold) {
  const System system = singularOnTheLast();
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_type ilu");
    EXPECT_EQ(solver.solve(), KSP_DIVERGED_PC_FAILED);
    PCFailedReason reason;
    check(PCGetFailedReason(solver.pc(), &reason));
    EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
    EXPECT_TRUE(has(solver.view(), "failed: "));
    EXPECT_TRUE(has(solver.view(), "pivot"));
    const Errors errors;
    check(KSPSetErrorIfNotConverged(solver.ksp(), PETSC_TRUE));
    change(solver, a, system);
    EXPECT_ANY_THROW(solver.solve());
    EXPECT_TRUE(has(errors.message(), "pivot"));
    if (numRanks() > 1) {
      EXPECT_TRUE(has(errors.message(), "rank " + std::to_string(numRanks() - 1) + " of "));
    }
  }
  check(MatDestroy(&a));
}

/// What another method makes of the matrix is not known before it is set up.
TEST(PetscFailure, IsForgottenWithItsMethod) {
  Mat a = matrixOf(singularOnTheLast(), MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_type ilu");
    EXPECT_EQ(solver.solve(), KSP_DIVERGED_PC_FAILED);
    check(petsc::setSpecification(solver.pc(), "ilu:breakdown=replace"));
    EXPECT_FALSE(has(solver.view(), "failed: ")) << solver.view();
  }
  check(MatDestroy(&a));
}

TEST(PetscFailure, APolicyGoesOnAndCounts) {
  Mat a = matrixOf(singularOnTheLast(), MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_type ilu -pc_ainvil_breakdown replace");
    EXPECT_NE(solver.solve(), KSP_DIVERGED_PC_FAILED);
    EXPECT_TRUE(has(solver.view(), "pivots shifted or replaced: 1"));
  }
  check(MatDestroy(&a));
}

TEST(PetscFailure, IsWhatIsNotFinite) {
  System system = bandSystem(40, 1, 2, true, 29);
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    Mat a = matrixOf(system, MATAIJ);
    System wrong = system;
    wrong.values.back() = bad;
    {
      Solver solver(a, "-pc_ainvil_type ilu");
      EXPECT_GT(solver.solve(), 0);
      change(solver, a, wrong);
      EXPECT_EQ(solver.solve(), KSP_DIVERGED_PC_FAILED);
      change(solver, a, system);
      EXPECT_GT(solver.solve(), 0);
    }
    check(MatDestroy(&a));
  }
}

/// Sweeps that diverge are an objection: known after the set-up, not an exception of it.
TEST(PetscFailure, IsAnObjection) {
  if (numRanks() > 1)
    GTEST_SKIP() << "for one rank";
  const System system = reference::gallerySystem("chain:40");
  Mat a = matrixOf(system, MATAIJ);
  {
    Solver solver(a, "-pc_ainvil_spec ilu:solve=jacobi,divergence-limit=0.001");
    EXPECT_EQ(solver.solve(), KSP_DIVERGED_PC_FAILED);
    EXPECT_TRUE(has(solver.view(), "failed: "));
  }
  check(MatDestroy(&a));
}

} // namespace
} // namespace ainvil
