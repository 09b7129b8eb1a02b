// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matrices, preconditioners and Krylov solvers of hypre for the tests of Ainvil::hypre.

#include "precond/ranks/RanksSupport.hpp"

#include "Ainvil_Hypre.h"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>

#include <ostream>
#include <string>
#include <vector>

namespace ainvil {
namespace test {

/// Throws unless hypre has no error; clears those that it has.
void check(HYPRE_Int code);

/// A system over the ranks in points, assembled by hypre; b = 1.
class ParSystem {
public:
  explicit ParSystem(const System& system, Spread spread = Spread::Even);
  ~ParSystem();
  ParSystem(const ParSystem&) = delete;
  ParSystem& operator=(const ParSystem&) = delete;

  /// Other values for the same entries.
  void setValues(const System& system, double factor = 1);

  HYPRE_ParCSRMatrix a() const { return a_; }
  HYPRE_ParVector b() const { return b_; }
  HYPRE_ParVector x() const { return x_; }
  /// Fills x with one number.
  void setX(double value);
  std::vector<double> localX() const; ///< the rows of this rank
  void setLocalB(const std::vector<double>& local);
  double residual() const; ///< ||b - A x|| / ||b||, recomputed

private:
  HYPRE_IJVector vectorOf(double value) const;

  HYPRE_BigInt first_ = 0, end_ = 0;
  HYPRE_IJMatrix ij_a_ = nullptr;
  HYPRE_IJVector ij_b_ = nullptr, ij_x_ = nullptr;
  HYPRE_ParCSRMatrix a_ = nullptr;
  HYPRE_ParVector b_ = nullptr, x_ = nullptr;
};

/// A preconditioner of ainvilHypreCreate().
class HyprePrecond {
public:
  explicit HyprePrecond(const std::string& specification, int block_size = 1);
  ~HyprePrecond() { ainvilHypreDestroy(solver_); }
  HyprePrecond(const HyprePrecond&) = delete;
  HyprePrecond& operator=(const HyprePrecond&) = delete;

  HYPRE_Solver solver() const { return solver_; }
  void setUp(const ParSystem& system); ///< throws where that is an error
  /// op(M^-1) b, after a set-up.
  std::vector<double> apply(ParSystem& system, const std::vector<double>& b,
                            bool transposed = false);
  std::string report() const;

private:
  HYPRE_Solver solver_ = nullptr;
};

/// The functions of one of hypre's Krylov methods.
struct Krylov {
  const char* name;
  HYPRE_Int (*create)(MPI_Comm, HYPRE_Solver*);
  HYPRE_Int (*set_tolerance)(HYPRE_Solver, HYPRE_Real);
  HYPRE_Int (*set_max_iterations)(HYPRE_Solver, HYPRE_Int);
  HYPRE_Int (*set_precond)(HYPRE_Solver, HYPRE_PtrToParSolverFcn, HYPRE_PtrToParSolverFcn,
                           HYPRE_Solver);
  HYPRE_PtrToParSolverFcn set_up, solve;
  HYPRE_Int (*get_iterations)(HYPRE_Solver, HYPRE_Int*);
  HYPRE_Int (*destroy)(HYPRE_Solver);

  friend std::ostream& operator<<(std::ostream& out, const Krylov& method) {
    return out << method.name;
  }
};

/// "GMRES", "FlexGMRES", "LGMRES", "COGMRES", "BiCGSTAB", "PCG".
const std::vector<Krylov>& krylovMethods();

/// A Krylov solver; tolerance 1e-8 on ||b - A x|| / ||b||, restarts after 30 steps.
class KrylovSolver {
public:
  explicit KrylovSolver(const std::string& name);
  ~KrylovSolver() { method_->destroy(solver_); }
  KrylovSolver(const KrylovSolver&) = delete;
  KrylovSolver& operator=(const KrylovSolver&) = delete;

  void setPrecond(HYPRE_PtrToParSolverFcn solve, HYPRE_PtrToParSolverFcn set_up,
                  HYPRE_Solver precond);
  void setPrecond(const HyprePrecond& precond) {
    setPrecond(ainvilHypreSolve, ainvilHypreSetup, precond.solver());
  }
  HYPRE_Int setUp(const ParSystem& system); ///< hypre's error
  HYPRE_Int solve(ParSystem& system);       ///< hypre's error, from zero
  int iterations() const;

private:
  const Krylov* method_;
  HYPRE_Solver solver_ = nullptr;
};

} // namespace test
} // namespace ainvil
