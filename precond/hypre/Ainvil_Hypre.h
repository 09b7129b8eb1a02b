/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AINVIL_HYPRE_H
#define AINVIL_HYPRE_H
/**
 * \file
 * Preconditioners for hypre's Krylov solvers and for MGR, in C. Of a ParCSR matrix a rank takes the
 * rows that it has, in its own columns: block-Jacobi over the ranks.
 *
 *     HYPRE_Solver precond;
 *     ainvilHypreCreate(MPI_COMM_WORLD, "ilu:solve=isai,power=2", &precond);
 *     HYPRE_ParCSRGMRESSetPrecond(gmres, ainvilHypreSolve, ainvilHypreSetup, precond);
 *
 * All functions are collective over the communicator that ainvilHypreCreate() was given, but for
 * ainvilHypreSolve(), ainvilHypreSolveTranspose() and ainvilHypreMessage(). All that return a
 * number return hypre's error flag, as hypre's own do: 0, or the sum of HYPRE_ERROR_... since
 * HYPRE_ClearAllErrors(). An error of one rank is one of all of them. Nothing is thrown.
 */

#include <HYPRE_parcsr_ls.h>

#if defined(HYPRE_BIGINT)
#error "Ainvil takes a hypre of 32-bit HYPRE_Int: configure hypre without --enable-bigint"
#endif
#if defined(HYPRE_COMPLEX) || defined(HYPRE_SINGLE) || defined(HYPRE_LONG_DOUBLE)
#error "Ainvil takes a hypre of real double precision only: configure hypre for no other"
#endif
#if defined(HYPRE_SEQUENTIAL)
#error "Ainvil takes a hypre with MPI: configure hypre without --without-MPI"
#endif
#if defined(HYPRE_USING_GPU)
#error "Ainvil takes a hypre that has its arrays on the host: configure hypre without GPUs"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a preconditioner. Starts Kokkos unless the program has; MPI_Finalize() ends it then.
 *
 * @param comm the ranks of the matrices to come; it must live as long as the preconditioner
 * @param specification method and parameters, as "ilu:level=1,solve=isai"
 * @param solver the preconditioner, for ainvilHypreDestroy(); NULL after an error
 *
 * HYPRE_ERROR_ARG where the specification is none; ainvilHypreMessage() tells why.
 */
HYPRE_Int ainvilHypreCreate(MPI_Comm comm, const char* specification, HYPRE_Solver* solver);

/** Frees the preconditioner, before MPI_Finalize(). NULL is none. */
HYPRE_Int ainvilHypreDestroy(HYPRE_Solver solver);

/**
 * Sets the size of the blocks, 1 by default. It must divide the number of rows of each rank; blocks
 * are filled up with zeros. Undoes the set-up if it changes the size. HYPRE_ERROR_ARG if it is
 * below 1.
 */
HYPRE_Int ainvilHypreSetBlockSize(HYPRE_Solver solver, HYPRE_Int block_size);

/**
 * Sets the preconditioner up for A, of type HYPRE_PtrToParSolverFcn. Pattern and values are copied.
 * New values of the pattern set up last repeat the numeric phase alone; comparing patterns takes a
 * pass.
 *
 * HYPRE_ERROR_GENERIC where A gives no preconditioner, a pivot being zero under the policy `fail`
 * for example, HYPRE_ERROR_ARG where it is not square or its rows make no such blocks,
 * HYPRE_ERROR_MEMORY.
 */
HYPRE_Int ainvilHypreSetup(HYPRE_Solver solver, HYPRE_ParCSRMatrix A, HYPRE_ParVector b,
                           HYPRE_ParVector x);

/**
 * x = M^-1 b, of type HYPRE_PtrToParSolverFcn; what is in x before is not read, and A neither.
 * After a set-up that failed x is infinite, so that no Krylov solver converges on any rank, and the
 * error is raised again. No communication; waits for the result.
 */
HYPRE_Int ainvilHypreSolve(HYPRE_Solver solver, HYPRE_ParCSRMatrix A, HYPRE_ParVector b,
                           HYPRE_ParVector x);

/** The same with the transpose of M^-1, for CGNR for example. */
HYPRE_Int ainvilHypreSolveTranspose(HYPRE_Solver solver, HYPRE_ParCSRMatrix A, HYPRE_ParVector b,
                                    HYPRE_ParVector x);

/**
 * Lines that tell the parameters, entries of the factors and pivots that were shifted or replaced
 * on all ranks, seconds of each phase on the first, notes, and how many set-ups there have been, of
 * the pattern and of the values. The text is kept until the next call or ainvilHypreDestroy().
 */
HYPRE_Int ainvilHypreGetReport(HYPRE_Solver solver, const char** text);

/** The sentence of the last error of a function of this file on this rank; "" before the first. */
const char* ainvilHypreMessage(void);

#ifdef __cplusplus
}
#endif

#endif
