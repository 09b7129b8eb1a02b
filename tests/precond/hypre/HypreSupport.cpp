// SPDX-License-Identifier: BSD-3-Clause
#include "precond/hypre/HypreSupport.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ainvil {
namespace test {

void check(HYPRE_Int code) {
  if (code == 0)
    return;
  char text[256] = "";
  HYPRE_DescribeError(code, text);
  HYPRE_ClearAllErrors();
  throw std::runtime_error(std::string("hypre: ") + text + ainvilHypreMessage());
}

namespace {

std::vector<HYPRE_BigInt> numbersFrom(HYPRE_BigInt first, HYPRE_BigInt end) {
  std::vector<HYPRE_BigInt> numbers(end - first);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

} // namespace

ParSystem::ParSystem(const System& system, Spread spread) {
  const Rows rows = rowsOf(system, spread);
  first_ = rows.first * system.block_size;
  end_ = rows.end * system.block_size;
  check(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first_, end_ - 1, first_, end_ - 1, &ij_a_));
  check(HYPRE_IJMatrixSetObjectType(ij_a_, HYPRE_PARCSR));
  check(HYPRE_IJMatrixInitialize(ij_a_));
  setValues(system);
  ij_b_ = vectorOf(1);
  ij_x_ = vectorOf(0);
  check(HYPRE_IJMatrixGetObject(ij_a_, reinterpret_cast<void**>(&a_)));
  check(HYPRE_IJVectorGetObject(ij_b_, reinterpret_cast<void**>(&b_)));
  check(HYPRE_IJVectorGetObject(ij_x_, reinterpret_cast<void**>(&x_)));
}

ParSystem::~ParSystem() {
  HYPRE_IJVectorDestroy(ij_x_);
  HYPRE_IJVectorDestroy(ij_b_);
  HYPRE_IJMatrixDestroy(ij_a_);
}

void ParSystem::setValues(const System& system, double factor) {
  const int bs = system.block_size;
  for (HYPRE_BigInt row = first_; row < end_; ++row) {
    std::vector<HYPRE_BigInt> columns;
    std::vector<double> values;
    for (int e = system.row_map[row / bs]; e < system.row_map[row / bs + 1]; ++e)
      for (int j = 0; j < bs; ++j) {
        columns.push_back(system.entries[e] * bs + j);
        values.push_back(factor * system.values[(size_t(e) * bs + row % bs) * bs + j]);
      }
    HYPRE_Int length = static_cast<HYPRE_Int>(columns.size());
    check(HYPRE_IJMatrixSetValues(ij_a_, 1, &length, &row, columns.data(), values.data()));
  }
  check(HYPRE_IJMatrixAssemble(ij_a_));
}

HYPRE_IJVector ParSystem::vectorOf(double value) const {
  const auto rows = numbersFrom(first_, end_);
  const std::vector<double> values(rows.size(), value);
  HYPRE_IJVector v;
  check(HYPRE_IJVectorCreate(MPI_COMM_WORLD, first_, end_ - 1, &v));
  check(HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR));
  check(HYPRE_IJVectorInitialize(v));
  check(HYPRE_IJVectorSetValues(v, end_ - first_, rows.data(), values.data()));
  check(HYPRE_IJVectorAssemble(v));
  return v;
}

void ParSystem::setX(double value) {
  check(HYPRE_ParVectorSetConstantValues(x_, value));
}

std::vector<double> ParSystem::localX() const {
  const auto rows = numbersFrom(first_, end_);
  std::vector<double> x(rows.size());
  check(HYPRE_IJVectorGetValues(ij_x_, end_ - first_, rows.data(), x.data()));
  return x;
}

void ParSystem::setLocalB(const std::vector<double>& local) {
  const auto rows = numbersFrom(first_, end_);
  check(HYPRE_IJVectorSetValues(ij_b_, end_ - first_, rows.data(), local.data()));
}

double ParSystem::residual() const {
  const HYPRE_IJVector ij_r = vectorOf(0);
  HYPRE_ParVector r;
  double of_r, of_b;
  check(HYPRE_IJVectorGetObject(ij_r, reinterpret_cast<void**>(&r)));
  check(HYPRE_ParVectorCopy(b_, r));
  check(HYPRE_ParCSRMatrixMatvec(-1, a_, x_, 1, r));
  check(HYPRE_ParVectorInnerProd(r, r, &of_r));
  check(HYPRE_ParVectorInnerProd(b_, b_, &of_b));
  check(HYPRE_IJVectorDestroy(ij_r));
  return std::sqrt(of_r / of_b);
}

HyprePrecond::HyprePrecond(const std::string& specification, int block_size) {
  check(ainvilHypreCreate(MPI_COMM_WORLD, specification.c_str(), &solver_));
  check(ainvilHypreSetBlockSize(solver_, block_size));
}

void HyprePrecond::setUp(const ParSystem& system) {
  check(ainvilHypreSetup(solver_, system.a(), system.b(), system.x()));
}

std::vector<double> HyprePrecond::apply(ParSystem& system, const std::vector<double>& b,
                                        bool transposed) {
  system.setLocalB(b);
  system.setX(NAN); // must not be read
  const auto solve = transposed ? ainvilHypreSolveTranspose : ainvilHypreSolve;
  check(solve(solver_, system.a(), system.b(), system.x()));
  return system.localX();
}

std::string HyprePrecond::report() const {
  const char* text;
  check(ainvilHypreGetReport(solver_, &text));
  return text;
}

#define AINVIL_KRYLOV(NAME)                                                                        \
  Krylov {                                                                                         \
#NAME, HYPRE_ParCSR##NAME##Create, HYPRE_ParCSR##NAME##SetTol, HYPRE_ParCSR##NAME##SetMaxIter, \
        HYPRE_ParCSR##NAME##SetPrecond, HYPRE_ParCSR##NAME##Setup, HYPRE_ParCSR##NAME##Solve,      \
        HYPRE_ParCSR##NAME##GetNumIterations, HYPRE_ParCSR##NAME##Destroy                          \
  }

const std::vector<Krylov>& krylovMethods() {
  static const std::vector<Krylov> methods = {AINVIL_KRYLOV(GMRES),    AINVIL_KRYLOV(FlexGMRES),
                                              AINVIL_KRYLOV(LGMRES),   AINVIL_KRYLOV(COGMRES),
                                              AINVIL_KRYLOV(BiCGSTAB), AINVIL_KRYLOV(PCG)};
  return methods;
}

KrylovSolver::KrylovSolver(const std::string& name)
    : method_(&*std::find_if(krylovMethods().begin(), krylovMethods().end(),
                             [&](const Krylov& method) { return method.name == name; })) {
  check(method_->create(MPI_COMM_WORLD, &solver_));
  check(method_->set_tolerance(solver_, 1e-8));
  check(method_->set_max_iterations(solver_, 1000));
  if (name == "GMRES")
    check(HYPRE_GMRESSetKDim(solver_, 30));
  if (name == "PCG")
    check(HYPRE_PCGSetTwoNorm(solver_, 1)); // ||r||, not sqrt(r^T M r)
}

void KrylovSolver::setPrecond(HYPRE_PtrToParSolverFcn solve, HYPRE_PtrToParSolverFcn set_up,
                              HYPRE_Solver precond) {
  check(method_->set_precond(solver_, solve, set_up, precond));
}

HYPRE_Int KrylovSolver::setUp(const ParSystem& system) {
  return method_->set_up(solver_, system.a(), system.b(), system.x());
}

HYPRE_Int KrylovSolver::solve(ParSystem& system) {
  system.setX(0);
  return method_->solve(solver_, system.a(), system.b(), system.x());
}

int KrylovSolver::iterations() const {
  HYPRE_Int count;
  check(method_->get_iterations(solver_, &count));
  return count;
}

} // namespace test
} // namespace ainvil
