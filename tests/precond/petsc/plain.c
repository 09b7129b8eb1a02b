/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of PETSc that knows nothing of Ainvil: the 5-point Laplacian on an N x N grid, spread
   over the ranks, solved as the options say. Prints the iterations, the reason and the true
   residual. */
#include <petscksp.h>

int main(int argc, char** argv) {
  Mat a;
  Vec b, x, r;
  KSP ksp;
  PetscInt n = 30, first, end, iterations;
  PetscReal residual, norm;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
  PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(a));
  PetscCall(MatSetUp(a));
  PetscCall(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    const PetscInt i = row / n, j = row % n;
    if (i > 0)
      PetscCall(MatSetValue(a, row, row - n, -1, INSERT_VALUES));
    if (i < n - 1)
      PetscCall(MatSetValue(a, row, row + n, -1, INSERT_VALUES));
    if (j > 0)
      PetscCall(MatSetValue(a, row, row - 1, -1, INSERT_VALUES));
    if (j < n - 1)
      PetscCall(MatSetValue(a, row, row + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(a, row, row, 4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatMult(a, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %d, reason %s, residual %.3e\n",
                        (int)iterations, KSPConvergedReasons[reason], (double)(residual / norm)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
