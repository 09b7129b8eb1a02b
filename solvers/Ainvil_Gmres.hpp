// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Restarted GMRES.

#include "Ainvil_Arnoldi.hpp"
#include "Ainvil_ResidualMeter.hpp"

namespace ainvil {

/// GMRES(m) with right preconditioning: minimises ||b - A x|| over x_0 + M K_m(A M, r_0), so that
/// the residual it follows is the true one whatever M is. M must be a fixed linear operator.
///
/// Orthogonalisation: classical Gram-Schmidt twice, the second time delayed into the next step
/// (Bielich, Langou, Thomas, Swirydowicz, Yamazaki, Boman, Parallel Computing 112 (2022)). Each
/// vector is orthogonalised as often as in CGS2, yet the basis is read twice a step, as in one pass
/// of Gram-Schmidt: once for the inner products, once for the update.
///
/// Cost of iteration j of a cycle: the kernels of A and M and **two kernels** of its own; memory
/// traffic 2 (j + 2) + 2 vectors. **No host synchronisation** but one every check_interval
/// iterations, when the host reads the inner products of the steps since the last look (a few
/// kilobytes) and updates the small least-squares problem; all decisions follow from the steps
/// themselves, so the iteration count is exact however seldom it looks. End of a cycle: one kernel
/// of inner products, the update x += M V y, the true residual, and one synchronisation more.
/// Workspace: min(restart, max_iterations, n) + 2 vectors, kept between solves of the same size.
///
/// A cycle that claims convergence is believed only if the recomputed residual agrees; otherwise
/// another cycle starts from it. On a singular operator (Breakdown) x holds the best iterate; on
/// NaN or Inf from A or M (Diverged) that of the last cycle.
template <class Scalar, class Device>
class Gmres {
public:
  using execution_space = typename Device::execution_space;

  /// \throws InvalidArgument if an option is out of range.
  explicit Gmres(SolverOptions options = {});

  /// Solves A x = b. `m` is the preconditioner, an approximate inverse of A, or null for none. `x`
  /// holds the initial guess and receives the solution. Waits for the instance.
  /// \throws InvalidArgument if shapes do not match.
  SolveResult solve(const execution_space& exec, const LinearOperator<Scalar, Device>& a,
                    const LinearOperator<Scalar, Device>* m, Vector<const Scalar, Device> b,
                    Vector<Scalar, Device> x);

  SolveResult solve(const LinearOperator<Scalar, Device>& a,
                    const LinearOperator<Scalar, Device>* m, Vector<const Scalar, Device> b,
                    Vector<Scalar, Device> x) {
    return solve(execution_space(), a, m, b, x);
  }

private:
  struct System {
    const execution_space& exec;
    const LinearOperator<Scalar, Device>& a;
    const LinearOperator<Scalar, Device>* m;
  };

  void allocate(const execution_space& exec, Offset n);
  int runCycle(const System& system, int length, double b_norm, SolveResult& result);
  void multiply(const System& system, int j);
  void takeInnerProducts(const execution_space& exec, int u, int z);
  void update(const execution_space& exec, int j);
  void readRecords(const execution_space& exec, int first, int last);
  int correct(const System& system, int columns, MultiVectorArg<Scalar, Device> x);

  bool converged(const SolveResult& result) const {
    return result.rel_residual <= options_.tolerance;
  }
  detail::ArnoldiRecord record(double* data, int j) const {
    return {data + Offset(j) * detail::ArnoldiRecord::size(capacity_), capacity_};
  }
  MultiVectorArg<Scalar, Device> column(int j) const {
    return MultiVectorArg<Scalar, Device>(basis_.data() + j * n_, n_, 1);
  }

  SolverOptions options_;
  Offset n_ = -1;
  int capacity_ = 0; ///< basis vectors, one more than iterations of a cycle
  detail::SumTeams shape_;
  detail::PartialSums<Device> sums_;
  detail::ResidualMeter<Scalar, Device> meter_;
  detail::ArnoldiLeastSquares arnoldi_;
  MultiVector<Scalar, Device> basis_; ///< n x capacity
  Vector<Scalar, Device> work_;
  Kokkos::View<double*, Device> records_; ///< one ArnoldiRecord a step
  Kokkos::View<double*, Device> coefficients_;
  typename Kokkos::View<double*, Device>::HostMirror host_records_, host_coefficients_;
};

/// One solve with its own workspace: see Gmres.
template <class Scalar, class Device>
SolveResult
gmres(const typename Device::execution_space& exec, const LinearOperator<Scalar, Device>& a,
      typename detail::NonDeduced<const LinearOperator<Scalar, Device>*>::type m,
      typename detail::NonDeduced<Vector<const Scalar, Device>>::type b,
      typename detail::NonDeduced<Vector<Scalar, Device>>::type x, SolverOptions options = {}) {
  return Gmres<Scalar, Device>(std::move(options)).solve(exec, a, m, b, x);
}

template <class Scalar, class Device>
SolveResult gmres(const LinearOperator<Scalar, Device>& a,
                  typename detail::NonDeduced<const LinearOperator<Scalar, Device>*>::type m,
                  typename detail::NonDeduced<Vector<const Scalar, Device>>::type b,
                  typename detail::NonDeduced<Vector<Scalar, Device>>::type x,
                  SolverOptions options = {}) {
  return gmres(typename Device::execution_space(), a, m, b, x, std::move(options));
}

} // namespace ainvil
