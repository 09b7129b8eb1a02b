// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// hypre. A method is a name and parameters, which have the defaults of hypre:
/// "parasails,levels=1,threshold=0.1,filter=0.1", "fsai,steps=5,step-size=3,tolerance=0.001",
/// "ilu,level=0", "euclid,level=0", "boomeramg,strong=0.25", "jacobi"; "ainvil ilu:solve=isai" is
/// Ainvil's in the solvers of hypre.

#include "peers/PeerMethod.hpp"
#include "peers/PeerSolver.hpp"

#ifdef AINVIL_HAVE_HYPRE
#include "Ainvil_Hypre.h"
#endif

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include <numeric>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

void check(HYPRE_Int code) {
  if (code == 0)
    return;
  char text[256];
  HYPRE_DescribeError(code, text);
  HYPRE_ClearAllErrors();
  throw std::runtime_error(std::string("hypre: ") + text);
}

/// A preconditioner of hypre: an object and the functions that make, apply and destroy it.
struct Precond {
  HYPRE_Solver object = nullptr;
  HYPRE_PtrToParSolverFcn setup = HYPRE_ParCSRDiagScaleSetup;
  HYPRE_PtrToParSolverFcn solve = HYPRE_ParCSRDiagScale;
  HYPRE_Int (*destroy)(HYPRE_Solver) = nullptr;
};

Precond makeParasails(PeerMethod& method, const PeerSystem& system) {
  Precond p{nullptr, HYPRE_ParCSRParaSailsSetup, HYPRE_ParCSRParaSailsSolve,
            HYPRE_ParCSRParaSailsDestroy};
  const double threshold = method.number("threshold", 0.1);
  const int levels = method.integer("levels", 1);
  const double filter = method.number("filter", 0.1);
  method.finish();
  check(HYPRE_ParCSRParaSailsCreate(system.comm, &p.object));
  check(HYPRE_ParCSRParaSailsSetParams(p.object, threshold, levels));
  check(HYPRE_ParCSRParaSailsSetFilter(p.object, filter));
  check(HYPRE_ParCSRParaSailsSetSym(p.object, system.spd ? 1 : 0));
  return p;
}

Precond makeFsai(PeerMethod& method) {
  Precond p{nullptr, HYPRE_FSAISetup, HYPRE_FSAISolve, HYPRE_FSAIDestroy};
  const int steps = method.integer("steps", 5), step_size = method.integer("step-size", 3);
  const double tolerance = method.number("tolerance", 1e-3);
  method.finish();
  check(HYPRE_FSAICreate(&p.object));
  check(HYPRE_FSAISetMaxSteps(p.object, steps));
  check(HYPRE_FSAISetMaxStepSize(p.object, step_size));
  check(HYPRE_FSAISetKapTolerance(p.object, tolerance));
  check(HYPRE_FSAISetMaxIterations(p.object, 1));
  check(HYPRE_FSAISetTolerance(p.object, 0));
  // A factor of M does not matter to CG: no iterations to find one.
  check(HYPRE_FSAISetEigMaxIters(p.object, 0));
  check(HYPRE_FSAISetZeroGuess(p.object, 1));
  return p;
}

/// ILU(k) of the rows of a rank.
Precond makeIlu(PeerMethod& method) {
  Precond p{nullptr, HYPRE_ILUSetup, HYPRE_ILUSolve, HYPRE_ILUDestroy};
  const int level = method.integer("level", 0);
  const int reorder = method.integer("reorder", 0);
  method.finish();
  check(HYPRE_ILUCreate(&p.object));
  check(HYPRE_ILUSetType(p.object, 0));
  check(HYPRE_ILUSetLevelOfFill(p.object, level));
  check(HYPRE_ILUSetLocalReordering(p.object, reorder));
  check(HYPRE_ILUSetMaxIter(p.object, 1));
  check(HYPRE_ILUSetTol(p.object, 0));
  return p;
}

Precond makeEuclid(PeerMethod& method, const PeerSystem& system) {
  Precond p{nullptr, HYPRE_EuclidSetup, HYPRE_EuclidSolve, HYPRE_EuclidDestroy};
  const int level = method.integer("level", 0);
  method.finish();
  check(HYPRE_EuclidCreate(system.comm, &p.object));
  check(HYPRE_EuclidSetLevel(p.object, level));
  check(HYPRE_EuclidSetBJ(p.object, 1));
  return p;
}

/// By Ainvil::hypre, in the blocks of the system.
Precond makeAinvil(const std::string& specification, const PeerSystem& system) {
#ifdef AINVIL_HAVE_HYPRE
  Precond p{nullptr, ainvilHypreSetup, ainvilHypreSolve, ainvilHypreDestroy};
  const bool failed = ainvilHypreCreate(system.comm, specification.c_str(), &p.object) != 0;
  HYPRE_ClearAllErrors();
  if (failed)
    throw std::invalid_argument(ainvilHypreMessage());
  check(ainvilHypreSetBlockSize(p.object, system.block_size));
  return p;
#else
  static_cast<void>(system);
  throw std::invalid_argument("'ainvil " + specification +
                              "' needs Ainvil::hypre, which is not built");
#endif
}

Precond makeBoomeramg(PeerMethod& method, const PeerSystem& system) {
  Precond p{nullptr, HYPRE_BoomerAMGSetup, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGDestroy};
  const double strong = method.number("strong", 0.25);
  method.finish();
  check(HYPRE_BoomerAMGCreate(&p.object));
  check(HYPRE_BoomerAMGSetStrongThreshold(p.object, strong));
  check(HYPRE_BoomerAMGSetNumFunctions(p.object, system.block_size));
  check(HYPRE_BoomerAMGSetMaxIter(p.object, 1));
  check(HYPRE_BoomerAMGSetTol(p.object, 0));
  check(HYPRE_BoomerAMGSetPrintLevel(p.object, 0));
  return p;
}

Precond makePrecond(const std::string& text, const PeerSystem& system) {
  const std::string own = "ainvil ";
  if (text.compare(0, own.size(), own) == 0)
    return makeAinvil(text.substr(own.size()), system);
  PeerMethod method(text);
  const std::string& name = method.name();
  if (name == "parasails")
    return makeParasails(method, system);
  if (name == "fsai" && system.spd)
    return makeFsai(method);
  if (name == "fsai")
    throw std::invalid_argument("hypre's FSAI is for SPD matrices, --solver cg");
  if (name == "ilu")
    return makeIlu(method);
  if (name == "euclid")
    return makeEuclid(method, system);
  if (name == "boomeramg")
    return makeBoomeramg(method, system);
  if (name != "jacobi")
    throw std::invalid_argument(
        "'" + name + "' is not one of parasails, fsai, ilu, euclid, boomeramg, jacobi, ainvil");
  method.finish();
  return {};
}

class HypreSolver : public PeerSolver {
public:
  HypreSolver(const std::string& method, const PeerSystem& system)
      : method_(method), system_(system) {
    assemble();
  }
  ~HypreSolver() override {
    destroy();
    HYPRE_IJVectorDestroy(ij_x_);
    HYPRE_IJVectorDestroy(ij_b_);
    HYPRE_IJMatrixDestroy(ij_a_);
  }

  void setUp() override {
    destroy();
    precond_ = makePrecond(method_, system_);
    if (system_.spd) {
      check(HYPRE_ParCSRPCGCreate(system_.comm, &krylov_));
      check(HYPRE_PCGSetTwoNorm(krylov_, 1)); // ||r||, not sqrt(r^T M r)
      check(HYPRE_PCGSetTol(krylov_, system_.tolerance));
      check(HYPRE_PCGSetMaxIter(krylov_, system_.max_iterations));
      check(HYPRE_ParCSRPCGSetPrecond(krylov_, precond_.solve, precond_.setup, precond_.object));
      check(HYPRE_ParCSRPCGSetup(krylov_, a_, b_, x_));
    } else {
      check(HYPRE_ParCSRGMRESCreate(system_.comm, &krylov_));
      check(HYPRE_GMRESSetKDim(krylov_, system_.restart));
      check(HYPRE_GMRESSetTol(krylov_, system_.tolerance));
      check(HYPRE_GMRESSetMaxIter(krylov_, system_.max_iterations));
      check(HYPRE_ParCSRGMRESSetPrecond(krylov_, precond_.solve, precond_.setup, precond_.object));
      check(HYPRE_ParCSRGMRESSetup(krylov_, a_, b_, x_));
    }
  }

  void apply(int count) override {
    for (int k = 0; k < count; ++k) {
      check(HYPRE_ParVectorSetConstantValues(x_, 0));
      precond_.solve(precond_.object, a_, b_, x_);
    }
    HYPRE_ClearAllErrors(); // that a single iteration does not converge
  }

  PeerResult solve(double* x) override {
    check(HYPRE_ParVectorSetConstantValues(x_, 0));
    PeerResult result;
    HYPRE_Int iterations = 0, converged = 0;
    if (system_.spd) {
      HYPRE_ParCSRPCGSolve(krylov_, a_, b_, x_);
      HYPRE_PCGGetNumIterations(krylov_, &iterations);
      HYPRE_PCGGetConverged(krylov_, &converged);
    } else {
      HYPRE_ParCSRGMRESSolve(krylov_, a_, b_, x_);
      HYPRE_GMRESGetNumIterations(krylov_, &iterations);
      HYPRE_GMRESGetConverged(krylov_, &converged);
    }
    HYPRE_ClearAllErrors(); // not to converge is one
    result.iterations = iterations;
    result.converged = converged != 0;
    check(HYPRE_IJVectorGetValues(ij_x_, static_cast<HYPRE_Int>(rows_.size()), rows_.data(), x));
    return result;
  }

private:
  void destroy() {
    if (krylov_ != nullptr)
      (system_.spd ? HYPRE_ParCSRPCGDestroy : HYPRE_ParCSRGMRESDestroy)(krylov_);
    if (precond_.object != nullptr)
      precond_.destroy(precond_.object);
    krylov_ = nullptr;
    precond_ = {};
  }

  HYPRE_IJVector makeVector() const {
    HYPRE_IJVector v;
    check(HYPRE_IJVectorCreate(system_.comm, first_, last_, &v));
    check(HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR));
    check(HYPRE_IJVectorInitialize(v));
    check(HYPRE_IJVectorSetValues(v, static_cast<HYPRE_Int>(rows_.size()), rows_.data(),
                                  system_.rhs + first_));
    check(HYPRE_IJVectorAssemble(v));
    return v;
  }

  void assemble() {
    const int bs = system_.block_size;
    first_ = HYPRE_BigInt(system_.first_block_row) * bs;
    last_ = HYPRE_BigInt(system_.end_block_row) * bs - 1;
    rows_.resize(system_.numBlockRows() * bs);
    std::iota(rows_.begin(), rows_.end(), first_);
    std::vector<HYPRE_Int> lengths(rows_.size());
    for (size_t r = 0; r < rows_.size(); ++r) {
      const int row = static_cast<int>(rows_[r]) / bs;
      lengths[r] = static_cast<HYPRE_Int>(system_.row_map[row + 1] - system_.row_map[row]) * bs;
    }
    check(HYPRE_IJMatrixCreate(system_.comm, first_, last_, first_, last_, &ij_a_));
    check(HYPRE_IJMatrixSetObjectType(ij_a_, HYPRE_PARCSR));
    check(HYPRE_IJMatrixSetRowSizes(ij_a_, lengths.data()));
    check(HYPRE_IJMatrixInitialize(ij_a_));
    std::vector<HYPRE_BigInt> columns;
    std::vector<double> values;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const int row = static_cast<int>(rows_[r]) / bs, i = static_cast<int>(rows_[r]) % bs;
      columns.clear();
      values.clear();
      for (long long e = system_.row_map[row]; e < system_.row_map[row + 1]; ++e)
        for (int j = 0; j < bs; ++j) {
          columns.push_back(HYPRE_BigInt(system_.entries[e]) * bs + j);
          values.push_back(system_.values[(e * bs + i) * bs + j]);
        }
      check(
          HYPRE_IJMatrixSetValues(ij_a_, 1, &lengths[r], &rows_[r], columns.data(), values.data()));
    }
    check(HYPRE_IJMatrixAssemble(ij_a_));
    ij_b_ = makeVector();
    ij_x_ = makeVector();
    check(HYPRE_IJMatrixGetObject(ij_a_, reinterpret_cast<void**>(&a_)));
    check(HYPRE_IJVectorGetObject(ij_b_, reinterpret_cast<void**>(&b_)));
    check(HYPRE_IJVectorGetObject(ij_x_, reinterpret_cast<void**>(&x_)));
  }

  std::string method_;
  PeerSystem system_;
  HYPRE_BigInt first_ = 0, last_ = -1;
  std::vector<HYPRE_BigInt> rows_;
  HYPRE_IJMatrix ij_a_ = nullptr;
  HYPRE_IJVector ij_b_ = nullptr, ij_x_ = nullptr;
  HYPRE_ParCSRMatrix a_ = nullptr;
  HYPRE_ParVector b_ = nullptr, x_ = nullptr;
  HYPRE_Solver krylov_ = nullptr;
  Precond precond_;
};

class Hypre : public PeerLibrary {
public:
  Hypre() { HYPRE_Init(); }
  ~Hypre() override { HYPRE_Finalize(); }
  std::string version() const override { return "hypre " HYPRE_RELEASE_VERSION; }
  void check(const std::string& method, bool spd) const override {
    PeerSystem system;
    system.comm = MPI_COMM_SELF;
    system.spd = spd;
    const Precond precond = makePrecond(method, system);
    if (precond.object != nullptr)
      precond.destroy(precond.object);
  }
  std::unique_ptr<PeerSolver> create(const std::string& method,
                                     const PeerSystem& system) const override {
    return std::make_unique<HypreSolver>(method, system);
  }
};

} // namespace
} // namespace perf
} // namespace ainvil

ainvil::perf::PeerLibrary* ainvilPeerLibrary() {
  return new ainvil::perf::Hypre;
}
