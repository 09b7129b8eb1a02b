/* A program of hypre in C: -u'' on 50 points by CG with a preconditioner of Ainvil. */
#include <Ainvil_Hypre.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>

int main(int argc, char** argv) {
  enum { n = 50 };
  HYPRE_IJMatrix ij_a;
  HYPRE_IJVector ij_b, ij_x;
  HYPRE_Solver precond, cg;
  HYPRE_Int converged = 0;
  void *a, *b, *x;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  HYPRE_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const HYPRE_BigInt first = n * rank / ranks, last = n * (rank + 1) / ranks - 1;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &ij_a);
  HYPRE_IJMatrixSetObjectType(ij_a, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(ij_a);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &ij_b);
  HYPRE_IJVectorSetObjectType(ij_b, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(ij_b);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &ij_x);
  HYPRE_IJVectorSetObjectType(ij_x, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(ij_x);
  for (HYPRE_BigInt i = first; i <= last; ++i) {
    HYPRE_BigInt columns[3] = {i, i > 0 ? i - 1 : i + 1, i + 1};
    double values[3] = {2, -1, -1}, one = 1, zero = 0;
    HYPRE_Int count = i > 0 && i < n - 1 ? 3 : 2;
    HYPRE_IJMatrixSetValues(ij_a, 1, &count, &i, columns, values);
    HYPRE_IJVectorSetValues(ij_b, 1, &i, &one);
    HYPRE_IJVectorSetValues(ij_x, 1, &i, &zero);
  }
  HYPRE_IJMatrixAssemble(ij_a);
  HYPRE_IJMatrixGetObject(ij_a, &a);
  HYPRE_IJVectorGetObject(ij_b, &b);
  HYPRE_IJVectorGetObject(ij_x, &x);
  ainvilHypreCreate(MPI_COMM_WORLD, "fsai", &precond);
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
  HYPRE_PCGSetTol(cg, 1e-8);
  HYPRE_PCGSetMaxIter(cg, 100);
  HYPRE_ParCSRPCGSetPrecond(cg, ainvilHypreSolve, ainvilHypreSetup, precond);
  HYPRE_ParCSRPCGSetup(cg, a, b, x);
  HYPRE_ParCSRPCGSolve(cg, a, b, x);
  HYPRE_PCGGetConverged(cg, &converged);
  HYPRE_ParCSRPCGDestroy(cg);
  ainvilHypreDestroy(precond);
  HYPRE_IJVectorDestroy(ij_x);
  HYPRE_IJVectorDestroy(ij_b);
  HYPRE_IJMatrixDestroy(ij_a);
  HYPRE_Finalize();
  MPI_Finalize();
  return converged ? 0 : 3;
}
