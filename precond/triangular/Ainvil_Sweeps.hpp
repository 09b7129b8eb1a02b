// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Triangular solves by a few Jacobi or block-asynchronous sweeps.

#include "triangular/Ainvil_TriangularOptions.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

namespace ainvil {

/// x ~ T^-1 b for T = D (I + M), M = D^-1 S with the strictly triangular part S of T, by m sweeps
///   x <- (1 - omega) x + omega (D^-1 b - M x),
/// one pass over M each and nothing else: M is stored (for a unit factor it is S itself). M is
/// nilpotent, so undamped sweeps reach the exact solve after as many sweeps as T has level sets,
/// less one; what a few of them leave is M^{m+1} x and depends on the size of M, which is why
/// compute() measures it on random probes, reports it, and objects if it exceeds
/// divergence_limit. Any block size, any number of columns; rows of very different length are
/// balanced.
///
/// Asynchronous sweeps work in place: one launch a sweep, rows started in the order of their
/// dependencies. On hosts most rows see values of their own sweep; on a GPU that holds most rows at
/// a time few do, and a sweep is worth about as much as a Jacobi sweep. The result depends on the
/// schedule: the operator is not fixed. The transposed solve takes Jacobi sweeps in either mode.
///
/// Sources: Anzt, Chow, Dongarra, Iterative sparse triangular solves for preconditioning (2015);
/// Chow, Anzt, Scott, Dongarra, Using Jacobi iterations and blocking for solving sparse triangular
/// systems in incomplete factorization preconditioning (2018).
template <class Stored, class Scalar, class Device>
class SweepTriangularSolver final : public TriangularSolver<Scalar, Device> {
public:
  using Base = TriangularSolver<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;

  /// \throws InvalidArgument for parameters out of range.
  explicit SweepTriangularSolver(const SweepParameters& parameters);

  std::string description() const override;
  void keepTransposed() override { keep_transposed_ = true; }
  void initialize(const execution_space& exec, const Factor& factor, const std::string& prefix,
                  Report& report) override;
  void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
               Report& report) override;
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans) const override;
  bool isFixed() const override { return parameters_.mode == SweepMode::Jacobi; }
  Offset entries() const override;
  Offset bytes() const override;

private:
  using In = MultiVectorArg<const Scalar, Device>;
  using Out = MultiVectorArg<Scalar, Device>;

  void jacobi(const execution_space& exec, Trans trans, In c, Out y, Out t) const;
  void async(const execution_space& exec, In c, Out y) const;
  double probeResidual(const execution_space& exec);
  /// The start from zero is that from omega D^-1 b after one sweep.
  int steps() const { return parameters_.sweeps - (parameters_.start == SweepStart::Zero ? 1 : 0); }
  Scalar startFactor() const {
    return Scalar(parameters_.start == SweepStart::Zero ? parameters_.damping : 1.0);
  }

  static constexpr bool rounded = !std::is_same<Stored, Scalar>::value;

  SweepParameters parameters_;
  bool keep_transposed_ = false;
  bool unit_ = false;
  Uplo uplo_ = Uplo::Lower;
  SparseOperator<Scalar, Device> m_;
  Kokkos::View<Stored*, Device> diagonal_inverse_; ///< of a general factor
  MultiVector<Scalar, Device> probes_;
  mutable MultiVector<Scalar, Device> workspace_;
};

} // namespace ainvil
