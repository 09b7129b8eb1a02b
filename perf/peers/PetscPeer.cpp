// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// PETSc. A method is a word, options of PETSc, or both: "ilu -mat_type baij".

#include "peers/PeerSolver.hpp"

#include <petscdevice.h>
#include <petscksp.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

const std::map<std::string, std::string> words = {
    {"none", "-pc_type none"},
    {"jacobi", "-pc_type jacobi"},
    {"ilu", "-pc_type bjacobi -sub_pc_type ilu"},
    {"icc", "-pc_type bjacobi -sub_pc_type icc"},
    {"asm", "-pc_type asm -sub_pc_type ilu"},
    {"gamg", "-pc_type gamg"},
};

std::string optionsOf(const std::string& method) {
  const size_t end = std::min(method.find(' '), method.size());
  const std::string word = method.substr(0, end);
  if (!word.empty() && word[0] == '-')
    return method;
  const auto found = words.find(word);
  if (found == words.end())
    throw std::invalid_argument("'" + word +
                                "' is neither none, jacobi, ilu, icc, asm or gamg nor "
                                "an option of PETSc, which begins with -");
  return found->second + method.substr(end);
}

/// The words of an error. `Text` is char or const char, as the version of PETSc has it.
template <class Result, class Text>
std::string messageOf(PetscErrorCode code, Result (*tell)(PetscErrorCode, const char**, Text**)) {
  const char* text = nullptr;
  Text* specific = nullptr;
  tell(code, &text, &specific);
  return std::string("PETSc: ") + (text ? text : "error") +
         (specific && *specific ? std::string(", ") + specific : "");
}

void check(PetscErrorCode code) {
  if (code != 0)
    throw std::runtime_error(messageOf(code, PetscErrorMessage));
}

class PetscSolver : public PeerSolver {
public:
  PetscSolver(const std::string& method, const PeerSystem& system) : system_(system) {
    check(PetscOptionsClear(nullptr));
    check(PetscOptionsInsertString(nullptr, optionsOf(method).c_str()));
    assemble();
  }
  ~PetscSolver() override {
    KSPDestroy(&ksp_);
    VecDestroy(&x_);
    VecDestroy(&b_);
    MatDestroy(&a_);
  }

  void setUp() override {
    check(KSPDestroy(&ksp_));
    check(KSPCreate(system_.comm, &ksp_));
    check(KSPSetOperators(ksp_, a_, a_));
    check(KSPSetType(ksp_, system_.spd ? KSPCG : KSPGMRES));
    if (!system_.spd) {
      check(KSPGMRESSetRestart(ksp_, system_.restart));
      check(KSPSetPCSide(ksp_, PC_RIGHT));
    }
    check(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
    constexpr double never = 1e-300;
    check(KSPSetTolerances(ksp_, system_.tolerance, never, 1 / never, system_.max_iterations));
    check(KSPSetFromOptions(ksp_));
    check(KSPSetUp(ksp_));
    check(KSPSetUpOnBlocks(ksp_));
    refuseUnknownOptions();
    waitForGpu();
  }

  void apply(int count) override {
    PC pc;
    check(KSPGetPC(ksp_, &pc));
    for (int k = 0; k < count; ++k)
      check(PCApply(pc, b_, x_));
    waitForGpu();
  }

  PeerResult solve(double* x) override {
    check(VecSet(x_, 0));
    check(KSPSolve(ksp_, b_, x_));
    PeerResult result;
    KSPConvergedReason reason;
    PetscInt iterations;
    check(KSPGetConvergedReason(ksp_, &reason));
    check(KSPGetIterationNumber(ksp_, &iterations));
    result.converged = reason > 0;
    result.iterations = iterations;
    if (!result.converged)
      result.message = KSPConvergedReasons[reason];
    const PetscScalar* values;
    check(VecGetArrayRead(x_, &values));
    std::copy(values, values + system_.numBlockRows() * system_.block_size, x);
    check(VecRestoreArrayRead(x_, &values));
    return result;
  }

private:
  void assemble() {
    const int bs = system_.block_size, first = system_.first_block_row, end = system_.end_block_row;
    const PetscInt n = system_.numBlockRows() * bs;
    std::vector<PetscInt> inside(system_.numBlockRows()), outside(system_.numBlockRows());
    for (int row = first; row < end; ++row)
      for (long long e = system_.row_map[row]; e < system_.row_map[row + 1]; ++e) {
        const int column = system_.entries[e];
        ++(first <= column && column < end ? inside : outside)[row - first];
      }
    check(MatCreate(system_.comm, &a_));
    check(MatSetSizes(a_, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    check(MatSetBlockSize(a_, bs));
    check(MatSetType(a_, MATAIJ));
    check(MatSetFromOptions(a_));
    check(MatXAIJSetPreallocation(a_, bs, inside.data(), outside.data(), nullptr, nullptr));
    for (PetscInt row = first; row < end; ++row) {
      const long long begin = system_.row_map[row];
      const PetscInt length = static_cast<PetscInt>(system_.row_map[row + 1] - begin);
      // The values of a call are a dense matrix of bs rows.
      values_.resize(size_t(length) * bs * bs);
      for (int e = 0; e < length; ++e)
        for (int i = 0; i < bs; ++i)
          std::copy_n(system_.values + ((begin + e) * bs + i) * bs, bs,
                      values_.data() + (size_t(i) * length + e) * bs);
      check(MatSetValuesBlocked(a_, 1, &row, length, system_.entries + begin, values_.data(),
                                INSERT_VALUES));
    }
    check(MatAssemblyBegin(a_, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(a_, MAT_FINAL_ASSEMBLY));
    if (system_.spd)
      check(MatSetOption(a_, MAT_SPD, PETSC_TRUE));
    check(MatCreateVecs(a_, &x_, &b_));
    PetscScalar* rhs;
    check(VecGetArrayWrite(b_, &rhs));
    std::copy(system_.rhs + first * bs, system_.rhs + end * bs, rhs);
    check(VecRestoreArrayWrite(b_, &rhs));
  }

  /// With -mat_type aijcusparse and aijkokkos; a solve ends with a norm, which waits.
  static void waitForGpu() { check(PetscDeviceContextSynchronize(nullptr)); }

  void refuseUnknownOptions() const {
    PetscInt count;
    char **names, **values;
    check(PetscOptionsLeftGet(nullptr, &count, &names, &values));
    const std::string first = count > 0 ? names[0] : "";
    check(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
    if (!first.empty())
      throw std::invalid_argument("PETSc does not use the option -" + first);
  }

  PeerSystem system_;
  std::vector<double> values_;
  Mat a_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr;
  KSP ksp_ = nullptr;
};

class Petsc : public PeerLibrary {
public:
  Petsc() {
    perf::check(PetscInitializeNoArguments());
    perf::check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  }
  ~Petsc() override { PetscFinalize(); }
  std::string version() const override {
    PetscInt major, minor, subminor;
    perf::check(PetscGetVersionNumber(&major, &minor, &subminor, nullptr));
    return "PETSc " + std::to_string(major) + "." + std::to_string(minor) + "." +
           std::to_string(subminor);
  }
  void check(const std::string& method, bool) const override { optionsOf(method); }
  std::unique_ptr<PeerSolver> create(const std::string& method,
                                     const PeerSystem& system) const override {
    return std::make_unique<PetscSolver>(method, system);
  }
};

} // namespace
} // namespace perf
} // namespace ainvil

ainvil::perf::PeerLibrary* ainvilPeerLibrary() {
  return new ainvil::perf::Petsc;
}
