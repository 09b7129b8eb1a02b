// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraBlockOperator.hpp, for applications with other types than Tpetra's
/// defaults.

#include "Ainvil_TpetraBlockOperator.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraMatrixHalo.hpp"
#include "Ainvil_TpetraVectorViews.hpp"

namespace ainvil {
namespace tpetra {

template <class MatrixType>
BlockOperator<MatrixType>::BlockOperator(const Teuchos::RCP<const row_matrix_type>& a,
                                         int block_size)
    : matrix_(a) {
  const Teuchos::Comm<int>& comm = *a->getComm();
  onAllRanks(comm, [&] {
    if (!hasRowsOnDevice(*a))
      throw InvalidArgument("a BlockOperator needs a CrsMatrix or a BlockCrsMatrix: take the "
                            "products of other matrices as they are");
    if (!a->isFillComplete())
      throw InvalidArgument("a BlockOperator needs a matrix that is fill complete: call its "
                            "fillComplete first");
  });
  const bool same = a->getDomainMap()->isSameAs(*a->getRangeMap()) && rowsAreUnknowns(*a);
  if (!same)
    throw InvalidArgument("a BlockOperator needs a matrix whose rows, domain map and range map are "
                          "spread over the ranks in the same way");
  const execution_space exec;
  onAllRanks(comm, [&] { block_ = {exec, *a, block_size}; });
  halo_ = haloOf(exec, *a);
  onAllRanks(comm, [&] {
    const auto local = block_.get(exec, *a);
    plan_ = ainvil::detail::planProducts(exec, local.graph, local.block_size, sizeof(scalar_type));
    takeValues(exec);
  });
}

template <class MatrixType>
void BlockOperator<MatrixType>::update() {
  onAllRanks(*matrix_->getComm(), [&] { takeValues(execution_space()); });
}

template <class MatrixType>
void BlockOperator<MatrixType>::takeValues(const execution_space& exec) {
  const BsrMatrix<scalar_type, device_type> local = block_.get(exec, *matrix_);
  using Stored = StoredValues<scalar_type, device_type>;
  local_ =
      Local(local.graph, local.block_size, Stored(std::in_place_index<0>, local.values), plan_);
  if (halo_.exists())
    halo_.update(exec, block_.valuesOf(exec, *matrix_));
}

template <class MatrixType>
void BlockOperator<MatrixType>::applyLocal(const execution_space& exec, VectorIn x, VectorOut y,
                                           scalar_type alpha, scalar_type beta) const {
  halo_.begin(exec, x);
  local_.multiply(exec, Trans::No, alpha, x, beta, y);
  halo_.add(exec, alpha, y);
}

template <class MatrixType>
void BlockOperator<MatrixType>::apply(const multivector_type& x, multivector_type& y,
                                      Teuchos::ETransp mode, scalar_type alpha,
                                      scalar_type beta) const {
  TEUCHOS_TEST_FOR_EXCEPTION(mode != Teuchos::NO_TRANS, std::runtime_error,
                             "ainvil: a BlockOperator has no transposed product: take that of its "
                             "matrix.");
  const size_t n = compat::numLocalElements(*getDomainMap());
  TEUCHOS_TEST_FOR_EXCEPTION(
      x.getNumVectors() != y.getNumVectors() || x.getLocalLength() != n || y.getLocalLength() != n,
      std::runtime_error,
      "ainvil: X and Y of a BlockOperator need as many columns as each other and "
          << n << " rows on this rank, but have " << x.getNumVectors() << " and "
          << y.getNumVectors() << " columns, " << x.getLocalLength() << " and "
          << y.getLocalLength() << " rows.");
  if (x.getNumVectors() == 0)
    return;
  const execution_space exec;
  const Teuchos::RCP<const multivector_type> from = inOnePiece(x);
  const Teuchos::RCP<multivector_type> to = inOnePiece(y);
  const auto x_local = from->getLocalViewDevice(Tpetra::Access::ReadOnly);
  if (beta == scalar_type(0))
    applyLocal(exec, x_local, to->getLocalViewDevice(Tpetra::Access::OverwriteAll), alpha, beta);
  else
    applyLocal(exec, x_local, to->getLocalViewDevice(Tpetra::Access::ReadWrite), alpha, beta);
  if (to.get() != &y)
    Tpetra::deep_copy(y, *to);
}

} // namespace tpetra
} // namespace ainvil
