/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of hypre in C: the 5-point Laplacian on an N x N grid, rows spread over the ranks,
   solved by GMRES with a preconditioner of Ainvil, "ilu:solve=isai,power=2" or that of the command
   line. */
#include <Ainvil_Hypre.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <stdio.h>

enum { N = 40 };

/* Writes a row of the matrix and its 1 of the right-hand side. */
static void setRow(HYPRE_IJMatrix a, HYPRE_IJVector b, HYPRE_IJVector x, HYPRE_BigInt row) {
  const HYPRE_BigInt i = row / N, j = row % N;
  HYPRE_BigInt columns[5];
  double values[5] = {4, -1, -1, -1, -1}, one = 1, zero = 0;
  HYPRE_Int n = 0;
  columns[n++] = row;
  if (i > 0)
    columns[n++] = row - N;
  if (i < N - 1)
    columns[n++] = row + N;
  if (j > 0)
    columns[n++] = row - 1;
  if (j < N - 1)
    columns[n++] = row + 1;
  HYPRE_IJMatrixSetValues(a, 1, &n, &row, columns, values);
  HYPRE_IJVectorSetValues(b, 1, &row, &one);
  HYPRE_IJVectorSetValues(x, 1, &row, &zero);
}

static HYPRE_IJVector createVector(HYPRE_BigInt first, HYPRE_BigInt last) {
  HYPRE_IJVector v;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &v);
  HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(v);
  return v;
}

/* Returns 0 if GMRES has converged. */
static int solve(const char* specification, HYPRE_ParCSRMatrix a, HYPRE_ParVector b,
                 HYPRE_ParVector x) {
  HYPRE_Solver precond, gmres;
  HYPRE_Int iterations = 0, converged = 0;
  int rank;
  const char* report;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ainvilHypreCreate(MPI_COMM_WORLD, specification, &precond)) {
    if (rank == 0)
      fprintf(stderr, "%s\n", ainvilHypreMessage());
    return 2;
  }
  HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &gmres);
  HYPRE_GMRESSetKDim(gmres, 30);
  HYPRE_GMRESSetTol(gmres, 1e-8);
  HYPRE_GMRESSetMaxIter(gmres, 500);
  HYPRE_ParCSRGMRESSetPrecond(gmres, ainvilHypreSolve, ainvilHypreSetup, precond);
  if (HYPRE_ParCSRGMRESSetup(gmres, a, b, x)) { /* a zero pivot, for example */
    if (rank == 0)
      fprintf(stderr, "%s\n", ainvilHypreMessage());
  } else {
    HYPRE_ParCSRGMRESSolve(gmres, a, b, x);
    HYPRE_GMRESGetNumIterations(gmres, &iterations);
    HYPRE_GMRESGetConverged(gmres, &converged);
    ainvilHypreGetReport(precond, &report);
    if (rank == 0)
      printf("%d iterations\n%s", (int)iterations, report);
  }
  HYPRE_ParCSRGMRESDestroy(gmres);
  ainvilHypreDestroy(precond);
  return converged ? 0 : 3;
}

int main(int argc, char** argv) {
  HYPRE_IJMatrix ij_a;
  HYPRE_IJVector ij_b, ij_x;
  void *a, *b, *x;
  int rank, ranks, failed;

  MPI_Init(&argc, &argv);
  HYPRE_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const HYPRE_BigInt first = N * N * rank / ranks, last = N * N * (rank + 1) / ranks - 1;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &ij_a);
  HYPRE_IJMatrixSetObjectType(ij_a, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(ij_a);
  ij_b = createVector(first, last);
  ij_x = createVector(first, last);
  for (HYPRE_BigInt row = first; row <= last; ++row)
    setRow(ij_a, ij_b, ij_x, row);
  HYPRE_IJMatrixAssemble(ij_a);
  HYPRE_IJVectorAssemble(ij_b);
  HYPRE_IJVectorAssemble(ij_x);
  HYPRE_IJMatrixGetObject(ij_a, &a);
  HYPRE_IJVectorGetObject(ij_b, &b);
  HYPRE_IJVectorGetObject(ij_x, &x);

  failed = solve(argc > 1 ? argv[1] : "ilu:solve=isai,power=2", a, b, x);

  HYPRE_IJVectorDestroy(ij_x);
  HYPRE_IJVectorDestroy(ij_b);
  HYPRE_IJMatrixDestroy(ij_a);
  HYPRE_Finalize();
  MPI_Finalize(); /* ends Kokkos, too */
  return failed;
}
