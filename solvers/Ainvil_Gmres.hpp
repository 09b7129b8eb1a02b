// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Restarted GMRES and flexible GMRES.

#include "krylov/Ainvil_Arnoldi.hpp"
#include "krylov/Ainvil_KrylovSolver.hpp"

namespace ainvil {
namespace detail {
struct OrthogonalityLoss;
}

/// No: GMRES, for one fixed preconditioner. Yes: FGMRES, for one that may vary.
enum class Flexible { No, Yes };

/// GMRES(m) with right preconditioning: minimises ||b - A x|| over x_0 + M K_m(A M, r_0), so that
/// the residual it follows is the true one whatever M is. M must be a fixed linear operator.
///
/// Orthogonalisation: classical Gram-Schmidt, and where SolverOptions::reorthogonalize says so a
/// second time, delayed into the next step (Bielich, Langou, Thomas, Swirydowicz, Yamazaki, Boman,
/// Parallel Computing 112 (2022)). With or without the second pass the basis is read twice a step,
/// once for the inner products, once for the update; on hosts the arithmetic of the second pass
/// takes time, too. It is needed where the estimated loss of orthogonality of a vector exceeds the
/// square root of the rounding unit: detail::OrthogonalityLoss.
///
/// FGMRES(m) (Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14
/// (1993)) stores what the preconditioner M_j made of basis vector v_j, A Z~ = V H with
/// z~_j = M_j v_j, and minimises over x_0 + span Z~. The delayed pass, however, has M_j applied to
/// the candidate u_j = V s_j + rho_j v_j, before v_j is known. Defining
///     z~_j = (M_j u_j - sum over k < j of s_kj z~_k) / rho_j
/// gives A Z~ = V H with the H of GMRES, whatever the M_j are, because only A has to be linear. So
/// Z = Z~ R holds the M_j u_j as they come, R being the triangle of the s_j and rho_j, and
/// x = x_0 + Z~ y = x_0 + Z R^-1 y costs one back substitution of size m and no kernel.
///
/// Cost of iteration j of a cycle: the kernels of A and M and **two kernels** of its own; memory
/// traffic 2 (j + 2) + 2 vectors. **No host synchronisation** but one every check_interval
/// iterations, when the host reads the inner products of the steps since the last look (a few
/// kilobytes) and updates the small least-squares problem; all decisions follow from the steps
/// themselves, so the iteration count is exact however seldom it looks. End of a cycle: one kernel
/// of inner products, the update of x (GMRES: with one more application of M), the true residual,
/// and one synchronisation more. Workspace of a column: l + 2 vectors with l = min(restart,
/// max_iterations, n), and with preconditioner 1 more in GMRES, l more in FGMRES; where the second
/// pass is by need (l + 1)^2 numbers beside them.
///
/// With SolverOptions::basis = Float the l basis vectors are rounded to float when they are final
/// and take half the memory and traffic; the candidate, the product and all sums are as before.
/// Source: Aliaga, Anzt, Gruetzmacher, Quintana-Orti, Tomas, Compressed basis GMRES on
/// high-performance graphics processing units, Int. J. High Perform. Comput. Appl. 37 (2023).
///
/// On a singular operator (Breakdown) x holds the best iterate; on NaN or Inf from A or M
/// (Diverged) that of the last cycle.
template <class Scalar, class Device>
class Gmres : public KrylovSolver<Scalar, Device> {
  using Base = KrylovSolver<Scalar, Device>;
  using Base::columns_;
  using Base::n_;
  using Base::options_;
  using Base::shape_;
  using typename Base::Columns;
  using typename Base::Stop;
  using typename Base::System;
  using typename Base::VectorArg;

public:
  using typename Base::execution_space;

  /// \throws InvalidArgument if an option is out of range.
  explicit Gmres(SolverOptions options = {}, Flexible flexible = Flexible::No);

private:
  /// Numbers of basis vectors, of each column.
  using Counts = std::array<int, Columns::capacity>;

  void allocate(const execution_space& exec, Offset n, bool preconditioned) override;
  VectorArg residual() override { return candidate(); }
  void run(const System& system, const Columns& columns, SolveResult* results,
           Stop* stops) override;
  double negligible() const;
  bool reorthogonalizesByNeed() const;
  /// After the record of a step, or of the end of a cycle.
  enum class NextStep { Follows, None };
  detail::OrthogonalityLoss losses(NextStep next) const;
  void startCycle(const Columns& columns, const SolveResult* results);
  void runCycle(const System& system, SolveResult* results);
  void multiply(const System& system, const Columns& columns, int j);
  void takeInnerProducts(const execution_space& exec, const Columns& columns, int vectors,
                         VectorArg z, NextStep next);
  void update(const execution_space& exec, const Columns& columns, int j);
  void readRecords(const execution_space& exec, int first, int last);
  void look(const System& system, SolveResult* results);
  Counts correct(const System& system, const Columns& columns, const Counts& vectors);
  void toCandidates(double* y, int column, int vectors) const;

  bool isMet(const System& system, int column, const SolveResult& result) const {
    return result.rel_residual <= system.targets.tolerance[column];
  }
  /// The records of step j in this array.
  detail::ArnoldiStep step(double* data, int j) const {
    const int capacity = length_ + 2;
    const Offset size = detail::ArnoldiStep::sizeFor(capacity, columns_);
    return detail::ArnoldiStep::at(data + j * size, capacity, columns_);
  }
  detail::ArnoldiRecord hostRecord(int j, int column) const {
    return step(host_records_.data(), j).record(column);
  }
  /// Calls body(basis), of whichever precision it is, the basis of a column in one piece.
  template <class Body>
  void withBasis(const Body& body);
  /// Calls body(operands, form) with the candidate as u, the records of a step, and the form in
  /// which a kernel is to be taken, a detail::ArnoldiForm as a type.
  template <class Body>
  void withOperands(const Columns& columns, VectorArg z, const detail::ArnoldiStep& step,
                    const Body& body);
  /// Why A M seems singular and what to do.
  std::string singularAdvice(bool preconditioned, int column) const;
  VectorArg columnsFrom(Scalar* data) const { return VectorArg(data, n_, columns_); }
  /// u_j
  VectorArg candidate() const { return columnsFrom(work_.data()); }
  /// A M u_j
  VectorArg product() const { return columnsFrom(work_.data() + columns_ * n_); }
  /// Where M u_j goes.
  VectorArg preconditioned(int j) const {
    return columnsFrom(z_.data() + (flexible_ ? j * columns_ * n_ : 0));
  }

  bool flexible_;
  int length_ = 0; ///< iterations of a cycle at most
  /// The cycle that runs.
  struct {
    Columns running; ///< columns that go on
    Counts lengths;  ///< steps of each column at most
    Counts vectors;  ///< whose combination is the iterate to be taken
    int steps;       ///< that are done
    int seen;        ///< steps whose records have been on the host
  } cycle_ = {};
  MultiVector<Scalar, Device> basis_;       ///< length vectors a column, or empty
  MultiVector<float, Device> single_basis_; ///< the other is empty
  MultiVector<Scalar, Device> work_;        ///< candidates and products
  MultiVector<Scalar, Device> z_;           ///< M u_j of the last step, or if flexible of all
  detail::PartialSums<Device> sums_;
  std::vector<detail::ArnoldiLeastSquares> arnoldi_; ///< of each column
  Kokkos::View<double*, Device> records_;            ///< one ArnoldiStep a step
  Kokkos::View<double*, Device> losses_;             ///< see detail::OrthogonalityLoss
  Kokkos::View<double*, Device> coefficients_;       ///< length a column
  typename Kokkos::View<double*, Device>::HostMirror host_records_, host_coefficients_;
};

/// One solve with its own workspace: see Gmres.
template <class Scalar, class Device>
SolveResult gmres(const typename Device::execution_space& exec,
                  const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                  detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                  SolverOptions options = {}) {
  return Gmres<Scalar, Device>(std::move(options)).solve(exec, a, m, b, x);
}

/// The same on the default instance.
template <class Scalar, class Device>
SolveResult gmres(const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                  detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                  SolverOptions options = {}) {
  return gmres(typename Device::execution_space(), a, m, b, x, std::move(options));
}

/// One solve by flexible GMRES with its own workspace: see Gmres.
template <class Scalar, class Device>
SolveResult fgmres(const typename Device::execution_space& exec,
                   const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                   detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                   SolverOptions options = {}) {
  return Gmres<Scalar, Device>(std::move(options), Flexible::Yes).solve(exec, a, m, b, x);
}

/// The same on the default instance.
template <class Scalar, class Device>
SolveResult fgmres(const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                   detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                   SolverOptions options = {}) {
  return fgmres(typename Device::execution_space(), a, m, b, x, std::move(options));
}

} // namespace ainvil
