// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraBlockJacobi.hpp.

#include "Ainvil_Factory.hpp"
#include "Ainvil_TpetraBlockJacobi.hpp"
#include "Ainvil_TpetraPreconditioner_impl.hpp"

namespace ainvil {
namespace tpetra {

template <class MatrixType>
const Report& BlockJacobi<MatrixType>::localReport() const {
  TEUCHOS_TEST_FOR_EXCEPTION(local_ == nullptr, std::runtime_error,
                             "ainvil: there is no report before initialize.");
  return report_;
}

template <class MatrixType>
void BlockJacobi<MatrixType>::takeReport() {
  report_ = local_->report();
  for (const PhaseTimes::Phase& phase : around_.phases())
    report_.phases.set(phase.first, phase.second);
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doInitialize(const execution_space& exec) {
  const row_matrix_type& a = this->matrix();
  detail::onAllRanks(*this->matrix().getComm(), [&] {
    block_ = {};
    local_ = createPreconditioner<scalar_type, device_type>(this->specification());
    around_ = {};
    around_.time(exec, "tpetra", "extract", [&] { block_ = {exec, a, this->blockSize()}; });
    local_->initialize(exec, block_.get(exec, a));
    takeReport();
  });
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doCompute(const execution_space& exec) {
  detail::onAllRanks(*this->matrix().getComm(), [&] {
    BsrMatrix<scalar_type, device_type> block;
    around_.time(exec, "tpetra", "gather", [&] { block = block_.get(exec, this->matrix()); });
    local_->compute(exec, block);
    takeReport();
    if (!local_->objection().empty())
      throw BreakdownError(local_->objection());
  });
}

template <class MatrixType>
void BlockJacobi<MatrixType>::doApply(const execution_space& exec, const multivector_type& x,
                                      multivector_type& y, Trans trans, scalar_type alpha,
                                      scalar_type beta) const {
  const auto from = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
  if (beta == scalar_type(0))
    local_->apply(exec, from, y.getLocalViewDevice(Tpetra::Access::OverwriteAll), trans, alpha,
                  beta);
  else
    local_->apply(exec, from, y.getLocalViewDevice(Tpetra::Access::ReadWrite), trans, alpha, beta);
}

} // namespace tpetra
} // namespace ainvil
