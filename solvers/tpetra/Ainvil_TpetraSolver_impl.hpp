// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraSolver.hpp, for applications with other types than Tpetra's
/// defaults.

#include "Ainvil_TpetraBlockOperator_impl.hpp"
#include "Ainvil_TpetraSolver.hpp"
#include "Ainvil_TpetraVectorViews.hpp"

namespace ainvil {
namespace tpetra {
namespace detail {

/// A Tpetra::Operator on the local rows of multivectors that are in one piece.
template <class Scalar, class LO, class GO, class Node>
class ArrayOperator final : public LinearOperator<Scalar, typename Node::device_type> {
  using Device = typename Node::device_type;
  using Operator = Tpetra::Operator<Scalar, LO, GO, Node>;
  using RowMatrix = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using Vectors = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using Views = VectorViews<Scalar, LO, GO, Node>;
  using Map = Tpetra::Map<LO, GO, Node>;

public:
  using typename LinearOperator<Scalar, Device>::execution_space;
  using In = MultiVectorArg<const Scalar, Device>;
  using Out = MultiVectorArg<Scalar, Device>;

  /// Its vectors are on the map of the unknowns, also where the operator, as some of Ifpack2's,
  /// counts the rows of each rank from 0. What the operator throws is kept in `failure` if there
  /// are other ranks, else thrown.
  ArrayOperator(const Operator& op, const Teuchos::RCP<const Map>& unknowns, Failure& failure)
      : op_(op), blocks_(dynamic_cast<const BlockOperator<RowMatrix>*>(&op)),
        own_(dynamic_cast<const OwnOperator*>(&op)), failure_(failure),
        alone_(unknowns->getComm()->getSize() == 1),
        takes_factors_(own_ != nullptr || dynamic_cast<const RowMatrix*>(&op) != nullptr),
        unknowns_(unknowns), read_(unknowns), written_(unknowns) {}

  Offset numPointRows() const override { return compat::numLocalElements(*unknowns_); }
  Offset numPointCols() const override { return compat::numLocalElements(*unknowns_); }
  bool isFixed() const override { return own_ == nullptr || own_->isFixed(); }

  void apply(const execution_space& exec, In x, Out y, Trans, Scalar alpha,
             Scalar beta) const override {
    const auto work = [&] {
      if (blocks_ != nullptr)
        blocks_->applyLocal(exec, x, y, alpha, beta);
      else if (takes_factors_ || (alpha == Scalar(1) && beta == Scalar(0)))
        applyTo(*written_.of(y), x, alpha, beta);
      else
        applyAndAdd(x, y, alpha, beta);
    };
    if (alone_)
      work();
    else
      failure_.keepOf(work);
  }

private:
  void applyTo(Vectors& y, In x, Scalar alpha, Scalar beta) const {
    op_.apply(*read_.of(x), y, Teuchos::NO_TRANS, alpha, beta);
    Views::toArray(y);
  }

  /// For operators that may know no other alpha and beta than 1 and 0.
  void applyAndAdd(In x, Out y, Scalar alpha, Scalar beta) const {
    if (product_.is_null() || product_->getNumVectors() != x.extent(1))
      product_ = Teuchos::rcp(new Vectors(unknowns_, x.extent(1)));
    applyTo(*product_, x, Scalar(1), Scalar(0));
    const Teuchos::RCP<Vectors> to = written_.of(y);
    to->update(alpha, *product_, beta);
    Views::toArray(*to);
  }

  const Operator& op_;
  const BlockOperator<RowMatrix>* blocks_; ///< null if it is none
  const OwnOperator* own_;                 ///< null if it is none
  Failure& failure_;
  bool alone_, takes_factors_;
  Teuchos::RCP<const Map> unknowns_;
  mutable Views read_, written_; ///< two, because arrays without rows may be at one place
  mutable Teuchos::RCP<Vectors> product_;
};

/// Whether maps have the same indices on this rank.
template <class Map>
bool fits(const Map& a, const Map& b) {
  return &a == &b || a.locallySameAs(b);
}

} // namespace detail

template <class Scalar, class LO, class GO, class Node>
Solver<Scalar, LO, GO, Node>::Solver(const std::string& name, SolverOptions options)
    : name_(name), options_(std::move(options)) {
  SolverOptions inner = options_;
  if (options_.progress)
    inner.progress = [this](int iteration, double residual) {
      if (comm_->getSize() == 1)
        options_.progress(iteration, residual);
      else
        failure_.keepOf([&] { options_.progress(iteration, residual); });
    };
  if (options_.stop)
    inner.stop = [this](int iteration, double residual) {
      if (comm_->getSize() == 1)
        return options_.stop(iteration, residual);
      bool stops = false;
      failure_.keepOf([&] { stops = options_.stop(iteration, residual); });
      return stops;
    };
  solver_ = createSolver<Scalar, device_type>(name, std::move(inner));
}

/// Ranks with other options would make other reductions.
template <class Scalar, class LO, class GO, class Node>
void Solver<Scalar, LO, GO, Node>::requireSame(const Teuchos::Comm<int>& comm, bool preconditioned,
                                               size_t columns) const {
  const SolverOptions& o = options_;
  tpetra::requireSame(
      comm, "the solver",
      message("'", name_, "' for ", columns, columns == 1 ? " column" : " columns", " of b, ",
              preconditioned ? "with" : "without", " a preconditioner, ",
              o.allow_varying ? "that may vary, " : "", weights_.is_null() ? "without" : "with",
              " weights, tolerance ", o.tolerance, ", scale ", static_cast<int>(o.relative_to),
              ", absolute tolerance ", o.absolute_tolerance, ", ", o.time_limit > 0 ? "a" : "no",
              " time limit, ", o.stop ? "a" : "no", " stop, reductions ",
              static_cast<int>(o.reductions), ", at most ", o.max_iterations,
              " iterations, restart ", o.restart, ", basis ", static_cast<int>(o.basis),
              ", reorthogonalization ", static_cast<int>(o.reorthogonalize), ", a look every ",
              o.check_interval));
}

template <class Scalar, class LO, class GO, class Node>
void Solver<Scalar, LO, GO, Node>::requireMaps(const operator_type& a, const operator_type* m,
                                               const multivector_type& b,
                                               const multivector_type& x) const {
  const auto require = [&](const char* what, const map_type& map, const char* like,
                           const map_type& other) {
    if (!detail::fits(map, other))
      throw InvalidArgument(message(name_, ": ", what, " has not the indices of ", like,
                                    " on this rank: it has ", compat::numLocalElements(map),
                                    ", the other ", compat::numLocalElements(other)));
  };
  if (b.getNumVectors() != x.getNumVectors())
    throw InvalidArgument(message(name_, " needs as many columns of x as of b, but they have ",
                                  x.getNumVectors(), " and ", b.getNumVectors()));
  const map_type& unknowns = *a.getDomainMap();
  require("the range map of A", *a.getRangeMap(), "its domain map", unknowns);
  require("b", *b.getMap(), "A", unknowns);
  require("x", *x.getMap(), "A", unknowns);
  if (!weights_.is_null()) {
    require("the vector of weights", *weights_->getMap(), "A", unknowns);
    if (weights_->getNumVectors() != 1)
      throw InvalidArgument(message(name_,
                                    " takes one weight a row, but the vector of weights has ",
                                    weights_->getNumVectors(), " columns"));
  }
  // Some of Ifpack2's number the rows of each rank from 0.
  if (m != nullptr &&
      (compat::numLocalElements(*m->getDomainMap()) != compat::numLocalElements(unknowns) ||
       compat::numLocalElements(*m->getRangeMap()) != compat::numLocalElements(unknowns)))
    throw InvalidArgument(
        message(name_, ": the preconditioner has ", compat::numLocalElements(*m->getDomainMap()),
                " rows on this rank, but A has ", compat::numLocalElements(unknowns)));
}

template <class Scalar, class LO, class GO, class Node>
SolveResult Solver<Scalar, LO, GO, Node>::solve(const operator_type& a, const operator_type* m,
                                                const vector_type& b, vector_type& x) {
  const multivector_type& b_column = b;
  multivector_type& x_column = x;
  return std::move(solve(a, m, b_column, x_column).front());
}

template <class Scalar, class LO, class GO, class Node>
std::vector<SolveResult>
Solver<Scalar, LO, GO, Node>::solve(const operator_type& a, const operator_type* m,
                                    const multivector_type& b, multivector_type& x) {
  const Teuchos::RCP<const map_type> unknowns = a.getDomainMap();
  const Teuchos::RCP<const Teuchos::Comm<int>> comm = unknowns->getComm();
  requireSame(*comm, m != nullptr, b.getNumVectors());
  Teuchos::RCP<const multivector_type> from;
  Teuchos::RCP<multivector_type> to;
  onAllRanks(*comm, [&] {
    requireMaps(a, m, b, x);
    from = inOnePiece(b);
    to = inOnePiece(x);
  });
  if (comm_ != comm) {
    comm_ = comm;
    std::shared_ptr<const Reduction<device_type>> reduction;
    if (comm->getSize() > 1)
      reduction = std::make_shared<CommReduction<device_type>>(comm, failure_);
    solver_->setReduction(reduction);
  }
  failure_.clear();
  using Wrapped = detail::ArrayOperator<Scalar, LO, GO, Node>;
  const Wrapped a_arrays(a, unknowns, failure_);
  std::unique_ptr<const Wrapped> m_arrays;
  if (m != nullptr)
    m_arrays = std::make_unique<Wrapped>(*m, unknowns, failure_);
  // Without an owner: Tpetra gives nobody the host's copy as long as somebody has the device's.
  using Weights = Kokkos::View<const Scalar*, Kokkos::LayoutLeft, device_type>;
  Weights weights;
  if (!weights_.is_null()) {
    const auto view = weights_->getLocalViewDevice(Tpetra::Access::ReadOnly);
    weights = Weights(view.data(), view.extent(0));
  }
  solver_->setWeights(weights);
  std::vector<SolveResult> results =
      solver_->solve(execution_space(), a_arrays, m_arrays.get(),
                     from->getLocalViewDevice(Tpetra::Access::ReadOnly),
                     to->getLocalViewDevice(Tpetra::Access::ReadWrite));
  if (comm->getSize() > 1)
    onAllRanks(*comm, [&] { failure_.rethrow(); });
  if (to.get() != &x)
    Tpetra::deep_copy(x, *to);
  return results;
}

} // namespace tpetra
} // namespace ainvil
