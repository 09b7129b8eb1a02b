// A program of PETSc that links the plug-in and chooses the method itself.
#include <Ainvil_Petsc.hpp>

#include <petscksp.h>

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(ainvil::petsc::registerPC());
  const PetscInt n = 50;
  PetscInt first, end;
  Mat a;
  Vec b, x;
  KSP ksp;
  PC pc;
  PetscCall(
      MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, nullptr, 1, nullptr, &a));
  PetscCall(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt i = first; i < end; ++i) {
    if (i > 0)
      PetscCall(MatSetValue(a, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1)
      PetscCall(MatSetValue(a, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(a, i, i, 2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCAINVIL));
  PetscCall(ainvil::petsc::setSpecification(pc, "ilu:solve=isai,power=3"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  KSPConvergedReason reason;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return reason > 0 ? 0 : 3;
}
