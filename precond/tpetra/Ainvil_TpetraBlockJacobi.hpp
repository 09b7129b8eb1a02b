// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Any method of Ainvil on the diagonal block of each rank.

#include "Ainvil_TpetraLocalBlock.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"

namespace ainvil {
namespace tpetra {

/// Block-Jacobi over the ranks: M^-1 = diag(M_0^-1, M_1^-1, ...), M_r^-1 the preconditioner that
/// createPreconditioner() makes for the rows of rank r and their entries in columns of rank r. On
/// one rank, that preconditioner. Set-up and application do not communicate, but for a word whether
/// all went well, and for a polynomial around it. For overlapping blocks it goes into
/// Ifpack2::AdditiveSchwarz.
///
/// Its report has, beside the phases of that preconditioner, "extract", which finds the block of
/// the rank in initialize(), and "gather", of the values in compute().
///
/// compute() throws where the method objects to being applied, as sweeps that diverge do.
///
/// A class derived from it may put a preconditioner of its own on each rank, see createLocal().
template <class MatrixType>
class BlockJacobi : public Preconditioner<MatrixType> {
public:
  using Base = Preconditioner<MatrixType>;
  using typename Base::execution_space;
  using typename Base::row_matrix_type;
  using typename Base::scalar_type;

  using Base::Base;

protected:
  using typename Base::device_type;
  using typename Base::VectorIn;
  using typename Base::VectorOut;

  /// The preconditioner of the rank's block, each time that initialize() is called: the one of
  /// specification(). Where it is another one, isLocal() is false if polynomials go around it.
  virtual PreconditionerPtr<scalar_type, device_type> createLocal() const;

  void doInitialize(const execution_space& exec) override;
  void doCompute(const execution_space& exec) override;
  bool isLocal() const override { return true; }
  std::shared_ptr<typename Base::Block> block() const override { return block_; }
  void doApply(const execution_space& exec, const VectorIn& x, const VectorOut& y, Trans trans,
               scalar_type alpha, scalar_type beta) const override;

private:
  /// The rank's block with the values of now.
  BsrMatrix<scalar_type, device_type> get(const execution_space& exec);

  std::shared_ptr<typename Base::Block> block_; ///< of the last initialize()
  PreconditionerPtr<scalar_type, device_type> local_;
};

} // namespace tpetra
} // namespace ainvil
