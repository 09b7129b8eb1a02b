// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraBlockJacobi.hpp.

#include "Ainvil_Factory.hpp"
#include "Ainvil_TpetraBlockJacobi.hpp"
#include "Ainvil_TpetraFilteredRows.hpp"
#include "Ainvil_TpetraPreconditioner_impl.hpp"

namespace ainvil {
namespace tpetra {

template <class MatrixType>
auto BlockJacobi<MatrixType>::createLocal() const -> PreconditionerPtr<scalar_type, device_type> {
  return createPreconditioner<scalar_type, device_type>(this->specification());
}

template <class MatrixType>
auto BlockJacobi<MatrixType>::get(const execution_space& exec)
    -> BsrMatrix<scalar_type, device_type> {
  const row_matrix_type& a = this->matrix();
  const auto rows = detail::filteredRows(a);
  return rows.upper != nullptr ? block_->get(exec, rows) : block_->get(exec, a);
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doInitialize(const execution_space& exec) {
  const row_matrix_type& a = this->matrix();
  TEUCHOS_TEST_FOR_EXCEPTION(!rowsAreUnknowns(a), std::runtime_error,
                             "ainvil: the row map of the matrix is not its range map, but a rank "
                             "must have the rows of its own unknowns, in their order.");
  onAllRanks(*this->matrix().getComm(), [&] {
    block_.reset();
    local_ = createLocal();
    const auto rows = detail::filteredRows(a);
    this->timePhase(exec, "extract", [&] {
      using Block = typename Base::Block;
      block_ = rows.upper != nullptr ? std::make_shared<Block>(exec, rows, this->blockSize())
                                     : std::make_shared<Block>(exec, a, this->blockSize());
    });
    local_->initialize(exec, get(exec));
    this->takeReport(local_->report());
  });
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doCompute(const execution_space& exec) {
  onAllRanks(*this->matrix().getComm(), [&] {
    BsrMatrix<scalar_type, device_type> block;
    this->timePhase(exec, "gather", [&] { block = get(exec); });
    local_->compute(exec, block);
    this->takeReport(local_->report());
    if (!local_->objection().empty())
      throw BreakdownError(local_->objection());
  });
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doApply(const execution_space& exec, const VectorIn& x,
                                      const VectorOut& y, Trans trans, scalar_type alpha,
                                      scalar_type beta) const {
  local_->apply(exec, x, y, trans, alpha, beta);
}

} // namespace tpetra
} // namespace ainvil
