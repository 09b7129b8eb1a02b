// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The incomplete LU preconditioner with a choice of triangular strategies.

#include "ilu/Ainvil_BlockIlu.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

#include <variant>

namespace ainvil {

/// The triangular strategies: the type of the parameters chooses.
template <class Device>
using TriangularParameters = std::variant<ExactParameters, IsaiParameters<Device>, SweepParameters>;

/// The factorisation and how its factors are applied.
template <class Device>
struct IluParameters {
  BlockIluParameters factorization;   ///< of A
  TriangularParameters<Device> solve; ///< how L^-1 and U^-1 are applied
  Storage storage = Storage::Native;  ///< of the factors or inverses that are applied
};

/// M^-1 = U^-1 L^-1 with the factors of BlockIlu and one of the triangular strategies for both.
template <class Scalar, class Device>
class Ilu final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  /// \throws InvalidArgument for parameters out of range.
  explicit Ilu(const IluParameters<Device>& parameters);

  std::string description() const override;
  bool isFixed() const override { return lower_->isFixed() && upper_->isFixed(); }
  const BlockIlu<Scalar, Device>& factors() const { return factors_; }            ///< L and U
  const TriangularSolver<Scalar, Device>& lowerSolver() const { return *lower_; } ///< of L
  const TriangularSolver<Scalar, Device>& upperSolver() const { return *upper_; } ///< of U

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  IluParameters<Device> parameters_;
  BlockIlu<Scalar, Device> factors_;
  std::unique_ptr<TriangularSolver<Scalar, Device>> lower_, upper_;
  mutable MultiVector<Scalar, Device> intermediate_;
};

} // namespace ainvil
