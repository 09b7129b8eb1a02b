// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraPreconditioner.hpp, for applications with other types than
/// Tpetra's defaults.

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"

namespace ainvil {
namespace tpetra {
namespace detail {

/// True if the local parts share memory, padding between columns included.
template <class MultiVector>
bool overlap(const MultiVector& x, const MultiVector& y) {
  const auto x_view = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto y_view = y.getLocalViewDevice(Tpetra::Access::ReadOnly);
  return x_view.data() < y_view.data() + y_view.span() &&
         y_view.data() < x_view.data() + x_view.span();
}

} // namespace detail

template <class MatrixType>
void Preconditioner<MatrixType>::setParameters(const Teuchos::ParameterList& list) {
  Teuchos::ParameterList merged(parameters_);
  merged.setParameters(list);
  const ParameterChoice choice = chooseParameters(base_, merged);
  if (choice.specification != choice_.specification || choice.block_size != choice_.block_size)
    initialized_ = computed_ = false;
  parameters_ = merged;
  choice_ = choice;
}

template <class MatrixType>
void Preconditioner<MatrixType>::setMatrix(const Teuchos::RCP<const row_matrix_type>& a) {
  if (a.getRawPtr() == matrix_.getRawPtr())
    return;
  matrix_ = a;
  initialized_ = computed_ = false;
}

template <class MatrixType>
const typename Preconditioner<MatrixType>::row_matrix_type&
Preconditioner<MatrixType>::matrix() const {
  TEUCHOS_TEST_FOR_EXCEPTION(matrix_.is_null(), std::runtime_error,
                             "ainvil " << methodOf(base_)
                                       << ": there is no matrix: call setMatrix with one first.");
  return *matrix_;
}

template <class MatrixType>
template <class Work>
void Preconditioner<MatrixType>::timed(double& seconds, const Work& work) {
  ainvil::compat::fence(execution_space(), "Ainvil::tpetra[timer]");
  Kokkos::Timer timer;
  work();
  ainvil::compat::fence(execution_space(), "Ainvil::tpetra[timer]");
  seconds += timer.seconds();
}

template <class MatrixType>
void Preconditioner<MatrixType>::initialize() {
  const row_matrix_type& a = matrix();
  TEUCHOS_TEST_FOR_EXCEPTION(!a.isFillComplete(), std::runtime_error,
                             "ainvil " << methodOf(base_)
                                       << ": the matrix is not fill complete: call its "
                                          "fillComplete before initialize.");
  TEUCHOS_TEST_FOR_EXCEPTION(
      !a.getDomainMap()->isSameAs(*a.getRangeMap()), std::runtime_error,
      "ainvil " << methodOf(base_)
                << ": the matrix has different domain and range maps, but a preconditioner needs "
                   "the rank that owns an unknown to own its equation too.");
  initialized_ = computed_ = false;
  ScopedRegion region("Ainvil::tpetra::initialize");
  timed(initialize_seconds_, [&] { doInitialize(execution_space()); });
  initialized_ = true;
  ++num_initialize_;
}

template <class MatrixType>
void Preconditioner<MatrixType>::compute() {
  if (!initialized_)
    initialize();
  computed_ = false;
  ScopedRegion region("Ainvil::tpetra::compute");
  timed(compute_seconds_, [&] { doCompute(execution_space()); });
  computed_ = true;
  ++num_compute_;
}

/// Looks at the indices of this rank only, and not even at them where the maps are the same object.
/// AdditiveSchwarz hands vectors of all ranks to what it thinks of as the preconditioner of one:
/// there only their length counts.
template <class MatrixType>
void Preconditioner<MatrixType>::requireMap(const char* name, const multivector_type& x,
                                            const map_type& map) const {
  const map_type& other = *x.getMap();
  const bool of_the_same_ranks = other.getComm()->getSize() == map.getComm()->getSize();
  const bool same = &other == &map || (of_the_same_ranks ? other.locallySameAs(map)
                                                         : compat::numLocalElements(other) ==
                                                               compat::numLocalElements(map));
  TEUCHOS_TEST_FOR_EXCEPTION(!same, std::runtime_error,
                             "ainvil " << methodOf(base_) << ": the map of " << name
                                       << " is not that of the preconditioner: they have "
                                       << x.getLocalLength() << " and "
                                       << compat::numLocalElements(map)
                                       << " indices on this rank. X must have its domain map, Y "
                                          "its range map.");
}

template <class MatrixType>
void Preconditioner<MatrixType>::apply(const multivector_type& x, multivector_type& y,
                                       Teuchos::ETransp mode, scalar_type alpha,
                                       scalar_type beta) const {
  TEUCHOS_TEST_FOR_EXCEPTION(!computed_, std::runtime_error,
                             "ainvil " << methodOf(base_)
                                       << ": apply before compute: call compute first.");
  TEUCHOS_TEST_FOR_EXCEPTION(x.getNumVectors() != y.getNumVectors(), std::runtime_error,
                             "ainvil " << methodOf(base_) << ": X has " << x.getNumVectors()
                                       << " columns, but Y has " << y.getNumVectors() << ".");
  requireMap("X", x, *getDomainMap());
  requireMap("Y", y, *getRangeMap());
  ScopedRegion region("Ainvil::tpetra::apply");
  const Kokkos::Timer timer;
  const Trans trans = mode == Teuchos::NO_TRANS ? Trans::No : Trans::Yes;
  const bool copy_x = !x.isConstantStride() || detail::overlap(x, y);
  const multivector_type from(x, copy_x ? Teuchos::Copy : Teuchos::View);
  if (y.isConstantStride()) {
    doApply(execution_space(), from, y, trans, alpha, beta);
  } else {
    multivector_type to(y, Teuchos::Copy);
    doApply(execution_space(), from, to, trans, alpha, beta);
    Tpetra::deep_copy(y, to);
  }
  apply_seconds_ += timer.seconds();
  ++num_apply_;
}

template <class MatrixType>
std::string Preconditioner<MatrixType>::description() const {
  std::string text = message(
      "\"ainvil::tpetra::Preconditioner\": {Initialized: ", initialized_ ? "true" : "false",
      ", Computed: ", computed_ ? "true" : "false", ", Method: \"", choice_.specification, "\"");
  if (choice_.block_size > 0)
    text += message(", Block size: ", choice_.block_size);
  if (matrix_.is_null())
    return text + ", Matrix: null}";
  return text + message(", Global matrix dimensions: [", matrix_->getGlobalNumRows(), ", ",
                        matrix_->getGlobalNumCols(), "], Ranks: ", matrix_->getComm()->getSize(),
                        "}");
}

} // namespace tpetra
} // namespace ainvil
