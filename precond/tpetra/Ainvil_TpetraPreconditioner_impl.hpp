// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraPreconditioner.hpp, for applications with other types than
/// Tpetra's defaults.

#include "Ainvil_Factory.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"

#include <Teuchos_TimeMonitor.hpp>

#include <utility>

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

/// True if both are CrsMatrix with the same CrsGraph, or both BlockCrsMatrix, which hold shallow
/// copies, with copies of the same. Collective.
template <class Scalar, class LO, class GO, class Node>
bool haveSameGraph(const Tpetra::RowMatrix<Scalar, LO, GO, Node>& a,
                   const Tpetra::RowMatrix<Scalar, LO, GO, Node>& b) {
  using Crs = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  using Blocks = Tpetra::BlockCrsMatrix<Scalar, LO, GO, Node>;
  const auto *crs_a = dynamic_cast<const Crs*>(&a), *crs_b = dynamic_cast<const Crs*>(&b);
  if (crs_a != nullptr && crs_b != nullptr)
    return crs_a->getCrsGraph() == crs_b->getCrsGraph();
  const auto *blocks_a = dynamic_cast<const Blocks*>(&a),
             *blocks_b = dynamic_cast<const Blocks*>(&b);
  if (blocks_a == nullptr || blocks_b == nullptr ||
      blocks_a->getBlockSize() != blocks_b->getBlockSize())
    return false;
  const auto &graph_a = blocks_a->getCrsGraph(), &graph_b = blocks_b->getCrsGraph();
  if (graph_a.getColMap() != graph_b.getColMap())
    return false;
  // A rank without entries has no arrays to tell them apart.
  const int here =
      graph_a.getLocalGraphDevice().entries.data() == graph_b.getLocalGraphDevice().entries.data();
  int everywhere = 0;
  Teuchos::reduceAll(*a.getComm(), Teuchos::REDUCE_MIN, here, Teuchos::outArg(everywhere));
  return everywhere != 0;
}

/// True if both have the same indices on this rank. Copies of a map, as a BlockCrsMatrix hands them
/// out, share their list.
template <class Map>
bool sameIndices(const Map& a, const Map& b) {
  if (!a.isContiguous() && !b.isContiguous()) {
    const auto indices_a = a.getMyGlobalIndices(), indices_b = b.getMyGlobalIndices();
    if (indices_a.data() == indices_b.data() && indices_a.extent(0) == indices_b.extent(0))
      return true;
  }
  return a.locallySameAs(b);
}

} // namespace detail

template <class MatrixType>
void Preconditioner<MatrixType>::requireSameChoice(const ParameterChoice& choice) const {
  requireSame(*matrix().getComm(), "the preconditioner", textOf(choice));
}

/// What the list asks for, told to all ranks of the matrix if there is one.
template <class MatrixType>
ParameterChoice Preconditioner<MatrixType>::agreedChoice(const Teuchos::ParameterList& list) const {
  if (matrix_.is_null())
    return chooseParameters(base_, list);
  ParameterChoice choice;
  onAllRanks(*matrix_->getComm(), [&] { choice = chooseParameters(base_, list); });
  requireSameChoice(choice);
  return choice;
}

template <class MatrixType>
void Preconditioner<MatrixType>::setParameters(const Teuchos::ParameterList& list) {
  Teuchos::ParameterList merged(parameters_);
  merged.setParameters(list);
  const ParameterChoice choice = agreedChoice(merged);
  if (choice.specification != choice_.specification || choice.block_size != choice_.block_size)
    initialized_ = computed_ = false;
  parameters_ = merged;
  choice_ = choice;
  for (auto at = list.begin(); at != list.end(); ++at)
    list.entry(at).getAny(); // is used: the application's list tells it from what nobody has read
}

template <class MatrixType>
void Preconditioner<MatrixType>::setMatrix(const Teuchos::RCP<const row_matrix_type>& a) {
  if (a.getRawPtr() == matrix_.getRawPtr())
    return;
  initialized_ = initialized_ && !a.is_null() && detail::haveSameGraph(*matrix_, *a);
  computed_ = false;
  known_x_ = known_y_ = Teuchos::null;
  matrix_ = a;
}

template <class MatrixType>
const typename Preconditioner<MatrixType>::row_matrix_type&
Preconditioner<MatrixType>::matrix() const {
  TEUCHOS_TEST_FOR_EXCEPTION(matrix_.is_null(), std::runtime_error,
                             "ainvil " << methodOf(base_)
                                       << ": there is no matrix: call setMatrix with one first.");
  return *matrix_;
}

/// "Ainvil ilu: compute" in the table that Teuchos::TimeMonitor::summarize() prints.
template <class MatrixType>
Teuchos::RCP<Teuchos::Time> Preconditioner<MatrixType>::teuchosTimer(const char* phase) const {
  return Teuchos::TimeMonitor::getNewCounter(message("Ainvil ", methodOf(base_), ": ", phase));
}

template <class MatrixType>
template <class Work>
void Preconditioner<MatrixType>::timed(const char* phase, double& seconds, const Work& work) const {
  ainvil::compat::fence(execution_space(), "Ainvil::tpetra[timer]");
  const Teuchos::TimeMonitor monitor(*teuchosTimer(phase));
  Kokkos::Timer timer;
  work();
  ainvil::compat::fence(execution_space(), "Ainvil::tpetra[timer]");
  seconds += timer.seconds();
}

template <class MatrixType>
void Preconditioner<MatrixType>::requireFillComplete() const {
  const row_matrix_type& a = matrix();
  onAllRanks(*a.getComm(), [&] {
    TEUCHOS_TEST_FOR_EXCEPTION(!a.isFillComplete(), std::runtime_error,
                               "ainvil " << methodOf(base_)
                                         << ": the matrix is not fill complete: call its "
                                            "fillComplete first.");
  });
}

/// What goes around the method; of degree 0 if there is none.
template <class MatrixType>
PolynomialParameters Preconditioner<MatrixType>::polynomial() const {
  const row_matrix_type& a = matrix();
  const bool method_takes_it = isLocal() && a.getComm()->getSize() == 1;
  const auto parameters = polynomialParameters<scalar_type, device_type>(choice_.specification);
  return method_takes_it || !hasRowsOnDevice(a) || parameters.degree < 0 ? PolynomialParameters{}
                                                                         : parameters;
}

template <class MatrixType>
std::string Preconditioner<MatrixType>::specification() const {
  return polynomial().degree > 0 ? withoutPolynomial(choice_.specification) : choice_.specification;
}

template <class MatrixType>
void Preconditioner<MatrixType>::initialize() {
  const row_matrix_type& a = matrix();
  requireFillComplete();
  requireSameChoice(choice_); // chosen before there was a matrix, perhaps
  requireFixed(choice_);
  TEUCHOS_TEST_FOR_EXCEPTION(
      !a.getDomainMap()->isSameAs(*a.getRangeMap()), std::runtime_error,
      "ainvil " << methodOf(base_)
                << ": the matrix has different domain and range maps, but a preconditioner needs "
                   "the rank that owns an unknown to own its equation too.");
  initialized_ = computed_ = false;
  around_ = {};
  report_ = {};
  polynomial_.reset();
  ScopedRegion region("Ainvil::tpetra::initialize");
  timed("initialize", initialize_seconds_, [&] {
    const execution_space exec;
    doInitialize(exec);
    const PolynomialParameters parameters = polynomial();
    if (parameters.degree > 0)
      polynomial_ = std::make_unique<Polynomial>(exec, a, blockSize(), parameters, block());
  });
  initialized_ = true;
  ++num_initialize_;
}

template <class MatrixType>
void Preconditioner<MatrixType>::compute() {
  requireFillComplete();
  if (!initialized_)
    initialize();
  computed_ = false;
  ScopedRegion region("Ainvil::tpetra::compute");
  timed("compute", compute_seconds_, [&] {
    const execution_space exec;
    columns_.clear();
    doCompute(exec);
    reserveTogether(exec, 1);
    if (polynomial_ != nullptr)
      polynomial_->compute(
          exec, matrix(),
          [&](const auto&... arguments) { doApply(arguments..., scalar_type(1), scalar_type(0)); },
          report_);
  });
  computed_ = true;
  ++num_compute_;
}

/// Every rank looks at its own indices, and all together at the outcome: else one that throws alone
/// would leave the others waiting in the next product or sum. A map that is that of the
/// preconditioner, or the one of the call before, needs no look: objects are the same on all ranks
/// or on none. AdditiveSchwarz hands vectors of all ranks to what it thinks of as the
/// preconditioner of one: there only their length counts, and that rank looks alone.
template <class MatrixType>
void Preconditioner<MatrixType>::requireMap(const char* name, const multivector_type& x,
                                            const map_type& map,
                                            Teuchos::RCP<const map_type>& known) const {
  const Teuchos::RCP<const map_type> other = x.getMap();
  if (other.getRawPtr() == &map || other == known)
    return;
  const int ranks = map.getComm()->getSize();
  // On one rank contiguous maps differ by where they begin to count.
  const bool by_length = other->getComm()->getSize() != ranks ||
                         (ranks == 1 && other->isContiguous() && map.isContiguous());
  onAllRanks(*map.getComm(), [&] {
    const bool same = by_length ? compat::numLocalElements(*other) == compat::numLocalElements(map)
                                : detail::sameIndices(*other, map);
    TEUCHOS_TEST_FOR_EXCEPTION(!same, std::runtime_error,
                               "ainvil " << methodOf(base_) << ": the map of " << name
                                         << " is not that of the preconditioner: they have "
                                         << x.getLocalLength() << " and "
                                         << compat::numLocalElements(map)
                                         << " indices on this rank. X must have its domain map, Y "
                                            "its range map.");
  });
  known = other;
}

/// Where ranks exchange, those that fail do so together, before.
template <class MatrixType>
void Preconditioner<MatrixType>::reserveTogether(const execution_space& exec,
                                                 size_t columns) const {
  if ((isLocal() && polynomial_ == nullptr) || columns_.count(columns) > 0)
    return;
  const std::set<size_t> known = std::exchange(columns_, {}); // what fails may have freed the old
  onAllRanks(*matrix().getComm(), [&] {
    reserve(exec, columns);
    if (polynomial_ != nullptr)
      polynomial_->reserve(exec, columns);
  });
  columns_ = known;
  columns_.insert(columns);
}

/// apply() for the rows of this rank.
template <class MatrixType>
void Preconditioner<MatrixType>::applyRows(const VectorIn& x, const VectorOut& y, Trans trans,
                                           scalar_type alpha, scalar_type beta) const {
  const execution_space exec;
  reserveTogether(exec, x.extent(1));
  if (polynomial_ == nullptr)
    doApply(exec, x, y, trans, alpha, beta);
  else
    polynomial_->apply(
        exec,
        [&](const auto&... arguments) { doApply(arguments..., scalar_type(1), scalar_type(0)); }, x,
        y, trans, alpha, beta);
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
  requireMap("X", x, *getDomainMap(), known_x_);
  requireMap("Y", y, *getRangeMap(), known_y_);
  ScopedRegion region("Ainvil::tpetra::apply");
  if (apply_timer_.is_null())
    apply_timer_ = teuchosTimer("apply");
  const auto waitWhereTimed = [&] {
    if (choice_.timed_apply)
      ainvil::compat::fence(execution_space(), "Ainvil::tpetra[timer for apply]");
  };
  waitWhereTimed();
  const Teuchos::TimeMonitor monitor(*apply_timer_);
  const Kokkos::Timer timer;
  const Trans trans = mode == Teuchos::NO_TRANS ? Trans::No : Trans::Yes;
  Teuchos::RCP<const multivector_type> from = Teuchos::rcpFromRef(x);
  if (!x.isConstantStride() || detail::overlap(x, y))
    from = Teuchos::rcp(new multivector_type(x, Teuchos::Copy));
  const auto applyTo = [&](multivector_type& to) {
    const auto x_rows = from->getLocalViewDevice(Tpetra::Access::ReadOnly);
    if (beta == scalar_type(0))
      applyRows(x_rows, to.getLocalViewDevice(Tpetra::Access::OverwriteAll), trans, alpha, beta);
    else
      applyRows(x_rows, to.getLocalViewDevice(Tpetra::Access::ReadWrite), trans, alpha, beta);
  };
  if (y.isConstantStride()) {
    applyTo(y);
  } else {
    multivector_type to(y, Teuchos::Copy);
    applyTo(to);
    Tpetra::deep_copy(y, to);
  }
  waitWhereTimed();
  apply_seconds_ += timer.seconds();
  ++num_apply_;
}

template <class MatrixType>
std::string Preconditioner<MatrixType>::description() const {
  std::string text =
      message("\"ainvil::tpetra::Preconditioner\": {Initialized: ", initialized_ ? "true" : "false",
              ", Computed: ", computed_ ? "true" : "false", ", Method: \"", choice_.specification,
              "\", Varies: ", isFixed() ? "false" : "true");
  if (choice_.block_size > 0)
    text += message(", Block size: ", choice_.block_size);
  if (matrix_.is_null())
    return text + ", Matrix: null}";
  return text + message(", Global matrix dimensions: [", matrix_->getGlobalNumRows(), ", ",
                        matrix_->getGlobalNumCols(), "], Ranks: ", matrix_->getComm()->getSize(),
                        "}");
}

template <class MatrixType>
void Preconditioner<MatrixType>::describe(Teuchos::FancyOStream& out,
                                          const Teuchos::EVerbosityLevel verbosity) const {
  const bool is_first = matrix_.is_null() || matrix_->getComm()->getRank() == 0;
  if (verbosity == Teuchos::VERB_NONE || !is_first)
    return;
  out << description() << '\n';
  if (verbosity == Teuchos::VERB_DEFAULT || verbosity == Teuchos::VERB_LOW)
    return;
  Teuchos::OSTab tab(out);
  out << "Initialize: {calls: " << num_initialize_ << ", seconds: " << initialize_seconds_ << "}\n"
      << "Compute: {calls: " << num_compute_ << ", seconds: " << compute_seconds_ << "}\n"
      << "Apply: {calls: " << num_apply_ << ", seconds: " << apply_seconds_ << "}\n"
      << "Entries of rank 0: " << report_.factor_entries << '\n'
      << "Breakdowns of rank 0: " << report_.breakdowns << '\n';
  if (verbosity == Teuchos::VERB_MEDIUM)
    return;
  for (const PhaseTimes::Phase& phase : report_.phases.phases())
    out << "Seconds of " << phase.first << ": " << phase.second << '\n';
  if (!report_.notes.empty())
    out << "Notes: " << report_.notes << '\n';
}

} // namespace tpetra
} // namespace ainvil
