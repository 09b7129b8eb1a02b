// SPDX-License-Identifier: BSD-3-Clause
#include "precond/petsc/PetscSupport.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace ainvil {
namespace test {

void check(PetscErrorCode code) {
  if (code == 0)
    return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(std::string("PETSc: ") + (text != nullptr ? text : "error"));
}

bool hasMatType(const std::string& type) {
  const Errors none_is_printed;
  Mat a;
  check(MatCreate(PETSC_COMM_WORLD, &a));
  const bool has = MatSetType(a, type.c_str()) == 0;
  check(MatDestroy(&a));
  return has;
}

std::vector<std::string> generalTypes() {
  std::vector<std::string> types = {MATAIJ, MATBAIJ};
  for (const char* type : {"aijcusparse", "aijkokkos"})
    if (hasMatType(type))
      types.push_back(type);
  return types;
}

double numCopiesOfGpu() {
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_ct + petsc_gtoc_ct;
#else
  return 0;
#endif
}

Mat matrixOf(const System& system, const std::string& type, Spread spread) {
  const Rows rows = rowsOf(system, spread);
  const int bs = system.block_size;
  const bool upper = type == MATSBAIJ;
  std::vector<PetscInt> inside(rows.end - rows.first), outside(rows.end - rows.first);
  for (int row = rows.first; row < rows.end; ++row)
    for (int e = system.row_map[row]; e < system.row_map[row + 1]; ++e) {
      const int column = system.entries[e];
      if (upper && column < row)
        continue;
      ++(rows.first <= column && column < rows.end ? inside : outside)[row - rows.first];
    }
  Mat a;
  check(MatCreate(PETSC_COMM_WORLD, &a));
  const PetscInt n = (rows.end - rows.first) * bs;
  check(MatSetSizes(a, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  check(MatSetBlockSize(a, bs));
  check(MatSetType(a, type.c_str()));
  check(
      MatXAIJSetPreallocation(a, bs, inside.data(), outside.data(), inside.data(), outside.data()));
  setValues(a, system, type);
  return a;
}

void setValues(Mat a, const System& system, const std::string& type, double factor) {
  const int bs = system.block_size;
  PetscInt first, end;
  check(MatGetOwnershipRange(a, &first, &end));
  std::vector<double> block(size_t(bs) * bs);
  for (PetscInt row = first / bs; row < end / bs; ++row)
    for (int e = system.row_map[row]; e < system.row_map[row + 1]; ++e) {
      const PetscInt column = system.entries[e];
      if (type == MATSBAIJ && column < row)
        continue;
      for (int k = 0; k < bs * bs; ++k)
        block[k] = factor * system.values[size_t(e) * bs * bs + k];
      check(MatSetValuesBlocked(a, 1, &row, 1, &column, block.data(), INSERT_VALUES));
    }
  check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
}

Vec vectorOf(Mat a, const std::vector<double>& local) {
  Vec x;
  check(MatCreateVecs(a, &x, nullptr));
  PetscScalar* values;
  check(VecGetArrayWrite(x, &values));
  std::copy(local.begin(), local.end(), values);
  check(VecRestoreArrayWrite(x, &values));
  return x;
}

std::vector<double> localNumbers(Vec x) {
  PetscInt n;
  const PetscScalar* values;
  check(VecGetLocalSize(x, &n));
  check(VecGetArrayRead(x, &values));
  const std::vector<double> numbers(values, values + n);
  check(VecRestoreArrayRead(x, &values));
  return numbers;
}

namespace {

/// Adds options under a prefix that nobody else has: what is inside of a PC reads them late.
std::string withOwnPrefix(const std::string& options) {
  static int count = 0;
  const std::string prefix = "x" + std::to_string(++count) + "_";
  check(PetscOptionsPrefixPush(nullptr, prefix.c_str()));
  check(PetscOptionsInsertString(nullptr, options.c_str()));
  check(PetscOptionsPrefixPop(nullptr));
  return prefix;
}

} // namespace

Solver::Solver(Mat a, const std::string& options, const char* type) {
  check(KSPCreate(PETSC_COMM_WORLD, &ksp_));
  check(KSPSetOptionsPrefix(ksp_, withOwnPrefix(options).c_str()));
  check(KSPSetOperators(ksp_, a, a));
  check(KSPSetType(ksp_, type));
  if (std::string(type) == KSPGMRES) {
    check(KSPSetPCSide(ksp_, PC_RIGHT));
    check(KSPGMRESSetRestart(ksp_, 30));
    check(KSPGMRESSetOrthogonalization(ksp_, KSPGMRESModifiedGramSchmidtOrthogonalization));
  }
  check(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
  check(KSPSetTolerances(ksp_, 1e-8, 1e-300, 1e300, 5000));
  PC pc;
  check(KSPGetPC(ksp_, &pc));
  check(PCSetType(pc, PCAINVIL));
  check(KSPSetFromOptions(ksp_));
  check(MatCreateVecs(a, &x_, &b_));
}

Solver::~Solver() {
  KSPDestroy(&ksp_);
  VecDestroy(&x_);
  VecDestroy(&b_);
}

PC Solver::pc() const {
  PC pc;
  check(KSPGetPC(ksp_, &pc));
  return pc;
}

KSPConvergedReason Solver::solve(double rhs) {
  check(VecSet(b_, rhs));
  check(VecSet(x_, 0));
  check(KSPSolve(ksp_, b_, x_));
  KSPConvergedReason reason;
  check(KSPGetConvergedReason(ksp_, &reason));
  return reason;
}

int Solver::iterations() const {
  PetscInt count;
  check(KSPGetIterationNumber(ksp_, &count));
  return count;
}

double Solver::residual() const {
  Mat a;
  Vec r;
  PetscReal norm, of_b;
  check(KSPGetOperators(ksp_, &a, nullptr));
  check(VecDuplicate(b_, &r));
  check(MatMult(a, x_, r));
  check(VecAYPX(r, -1, b_));
  check(VecNorm(r, NORM_2, &norm));
  check(VecNorm(b_, NORM_2, &of_b));
  check(VecDestroy(&r));
  return norm / of_b;
}

std::string Solver::view() const {
  return viewOf(pc());
}

std::string viewOf(PC pc) {
  // Rank 0 writes the text into a file, and tells it to the others.
  char name[PETSC_MAX_PATH_LEN] = {};
  if (rankOfWorld() == 0) {
    const auto path = std::filesystem::temp_directory_path() / "ainvil-petsc-view-XXXXXX";
    path.string().copy(name, sizeof(name) - 1);
    close(mkstemp(name));
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD);
  PetscViewer viewer;
  check(PetscViewerASCIIOpen(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), name, &viewer));
  check(PCView(pc, viewer));
  check(PetscViewerDestroy(&viewer));
  std::string text;
  if (rankOfWorld() == 0) {
    std::ostringstream out;
    out << std::ifstream(name).rdbuf();
    text = out.str();
    std::remove(name);
  }
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(&text[0], length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

Precond::Precond(Mat a, const std::string& options) : a_(a) {
  check(PCCreate(PETSC_COMM_WORLD, &pc_));
  check(PCSetOptionsPrefix(pc_, withOwnPrefix(options).c_str()));
  check(PCSetType(pc_, PCAINVIL));
  check(PCSetOperators(pc_, a, a));
  check(PCSetFromOptions(pc_));
  check(PCSetUp(pc_));
}

Precond::~Precond() {
  PCDestroy(&pc_);
}

std::vector<double> Precond::apply(const std::vector<double>& x, bool transposed) const {
  Vec from = vectorOf(a_, x), to;
  check(VecDuplicate(from, &to));
  check(VecSet(to, NAN)); // must not be read
  check(transposed ? PCApplyTranspose(pc_, from, to) : PCApply(pc_, from, to));
  const std::vector<double> y = localNumbers(to);
  check(VecDestroy(&from));
  check(VecDestroy(&to));
  return y;
}

std::string Precond::view() const {
  return viewOf(pc_);
}

PetscErrorCode Errors::keep(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                            PetscErrorType type, const char* text, void* self) {
  std::string& message = static_cast<Errors*>(self)->message_;
  if (type == PETSC_ERROR_INITIAL && message.empty() && text != nullptr)
    message = text;
  return code;
}

} // namespace test
} // namespace ainvil
