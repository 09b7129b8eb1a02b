// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matrices, solvers and error messages of PETSc for the tests of the plug-in.

#include "precond/ranks/RanksSupport.hpp"

#include "Ainvil_Petsc.hpp"

#include <gtest/gtest.h>
#include <petscksp.h>

#include <string>
#include <vector>

namespace ainvil {
namespace test {

/// Throws with the name of the error.
void check(PetscErrorCode code);

/// Whether this PETSc has the type, and what it needs is there: a GPU.
bool hasMatType(const std::string& type);
/// Types for any matrix: aij, baij and what there is of aijcusparse and aijkokkos.
std::vector<std::string> generalTypes();

/// How many arrays PETSc has copied between the host and a GPU so far.
double numCopiesOfGpu();

/// A matrix of the type: one of the above, or MATSBAIJ, which takes the upper triangle.
Mat matrixOf(const System& system, const std::string& type, Spread spread = Spread::Even);

/// Writes the values once more, times a factor, into a matrix of its pattern.
void setValues(Mat a, const System& system, const std::string& type, double factor = 1);

/// A vector for the rows of the matrix with the numbers that belong to this rank.
Vec vectorOf(Mat a, const std::vector<double>& local);
std::vector<double> localNumbers(Vec x);

/// Options of PETSc for the life of the object.
class Options {
public:
  explicit Options(const std::string& text) {
    check(PetscOptionsInsertString(nullptr, text.c_str()));
  }
  ~Options() { PetscOptionsClear(nullptr); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
};

/// A KSP with options: GMRES(30), right-preconditioned, modified Gram-Schmidt, tolerance 1e-8 on
/// ||b - A x||, as Ainvil's own, or CG if asked for.
class Solver {
public:
  explicit Solver(Mat a, const std::string& options, const char* type = KSPGMRES);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  KSP ksp() const { return ksp_; }
  PC pc() const;
  KSPConvergedReason solve(double rhs = 1); ///< for a constant right-hand side
  int iterations() const;
  double residual() const;  ///< ||b - A x|| / ||b||, recomputed
  std::string view() const; ///< what PCView() prints on the first rank, to all ranks

private:
  KSP ksp_ = nullptr;
  Vec x_ = nullptr, b_ = nullptr;
};

/// A PC of type ainvil with options, set up.
class Precond {
public:
  Precond(Mat a, const std::string& options);
  ~Precond();
  Precond(const Precond&) = delete;
  Precond& operator=(const Precond&) = delete;

  PC pc() const { return pc_; }
  std::vector<double> apply(const std::vector<double>& x, bool transposed = false) const;
  std::string view() const;

private:
  Mat a_;
  PC pc_ = nullptr;
};

std::string viewOf(PC pc);

/// While it lives errors of PETSc are kept, not printed.
class Errors {
public:
  Errors() { check(PetscPushErrorHandler(keep, this)); }
  ~Errors() { PetscPopErrorHandler(); }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;

  const std::string& message() const { return message_; } ///< of the first one

private:
  static PetscErrorCode keep(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                             PetscErrorType type, const char* text, void* self);
  std::string message_;
};

} // namespace test
} // namespace ainvil
