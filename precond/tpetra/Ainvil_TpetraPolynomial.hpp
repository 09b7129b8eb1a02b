// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Polynomials in the matrix of all ranks.

#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_TpetraMatrixHalo.hpp"
#include "Ainvil_TpetraReduction.hpp"
#include "polynomial/Ainvil_ResidualPolynomial.hpp"

#include <memory>
#include <utility>

namespace ainvil {
namespace tpetra {
namespace detail {

/// The halo of a matrix, as a ResidualPolynomial takes it.
template <class Scalar, class LO, class GO, class Node>
class ForeignHalo final : public ForeignPart<Scalar, typename Node::device_type> {
public:
  using Base = ForeignPart<Scalar, typename Node::device_type>;
  using typename Base::execution_space;
  using typename Base::In;
  using typename Base::Out;
  using Halo = tpetra::Halo<Scalar, LO, GO, Node>;

  /// Of a matrix whose ranks need each other.
  explicit ForeignHalo(Halo halo) : halo_(std::move(halo)) {}

  /// Takes the values of H_r, see Halo.
  void update(const execution_space& exec, const typename Halo::Values& all) {
    halo_.update(exec, all);
  }

  void reserve(const execution_space& exec, size_t columns) const override {
    halo_.reserve(exec, columns);
  }
  void begin(const execution_space& exec, Trans trans, const In& x) const override {
    if (trans == Trans::Yes)
      halo_.beginTransposed(exec, x);
    else
      halo_.begin(exec, x);
  }
  void add(const execution_space& exec, Trans trans, Scalar alpha, const Out& y) const override {
    if (trans == Trans::Yes)
      halo_.addTransposed(exec, alpha, y);
    else
      halo_.add(exec, alpha, y);
  }

  Offset numScalars() const override { return halo_.rows().numScalars(); }
  Offset bytes() const override { return halo_.rows().bytes(Trans::No); }

private:
  Halo halo_;
};

} // namespace detail

/// M^-1 p(A M^-1) for a matrix A whose rows are spread over ranks, and an M^-1 of the same ranks:
/// see ResidualPolynomial. A product with A exchanges unknowns between neighbours while the rows of
/// a rank are multiplied with its own; an application has no reduction. With an M^-1 that does not
/// depend on how rows are spread, p does not either, but for rounding and for the random numbers,
/// which go by the order of the ranks. Only the entries between own unknowns are stored in the
/// precision that the parameters name.
///
/// Takes a CrsMatrix or BlockCrsMatrix whose rows, domain and range are spread in the same way. All
/// calls are collective. `method` is called as method(exec, x, y, trans), on the rows of this rank,
/// and does y = op(M^-1) x. Where it throws on one rank, that rank still takes part in the
/// exchanges to come, so that the others do not wait for ever: compute() then throws on all ranks,
/// apply() on that rank. If the method communicates, it does so before it throws.
///
/// Memory beside that of ResidualPolynomial: the Halo of the matrix, which keeps H_r^T too, and the
/// rank's block, if nobody shares one.
template <class Scalar, class LO, class GO, class Node>
class RanksPolynomial {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using row_matrix_type = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using Block = LocalBlock<Scalar, LO, GO, Node>;             ///< A_rr
  using VectorIn = MultiVectorArg<const Scalar, device_type>; ///< a rank's rows, read
  using VectorOut = MultiVectorArg<Scalar, device_type>;      ///< a rank's rows, written

  /// Of the graph, in blocks as LocalBlock makes them, or those of a `shared` one that gets the
  /// values of the matrix before each compute(). Waits. \throws InvalidArgument and OutOfMemory on
  /// all ranks
  RanksPolynomial(const execution_space& exec, const row_matrix_type& a, int block_size,
                  const PolynomialParameters& parameters, std::shared_ptr<Block> shared = nullptr)
      : comm_(a.getComm()), is_shared_(shared != nullptr), block_(std::move(shared)),
        polynomial_(parameters) {
    onAllRanks(*comm_, [&] {
      if (!is_shared_)
        block_ = std::make_shared<Block>(exec, a, block_size);
    });
    PolynomialProcesses<Scalar, device_type> processes;
    processes.values_stay = block_->copiesValues();
    if (comm_->getSize() > 1) {
      const auto halo = haloOf(exec, a, true);
      if (halo.exists())
        foreign_ = std::make_shared<Foreign>(halo);
      const long long here = compat::numLocalElements(*a.getDomainMap());
      long long up_to_here = 0;
      Teuchos::scan(*comm_, Teuchos::REDUCE_SUM, here, Teuchos::outArg(up_to_here));
      processes.foreign = foreign_;
      processes.reduction = std::make_shared<CommReduction<device_type>>(comm_, *failure_);
      processes.first_unknown = up_to_here - here;
      processes.num_unknowns = Offset(a.getDomainMap()->getGlobalNumElements());
    }
    onAllRanks(*comm_, [&] { polynomial_.initialize(exec, block_->latest(a), processes); });
  }

  /// Of the values, for M^-1 as it is now: makes of its report that of this object. Waits. \throws
  /// on all ranks InvalidArgument, what the method throws, and BreakdownError where there is an
  /// objection
  template <class Method>
  void compute(const execution_space& exec, const row_matrix_type& a, const Method& method,
               Report& report) {
    onAllRanks(*comm_, [&] {
      polynomial_.update(exec, is_shared_ ? block_->latest(a) : block_->get(exec, a));
      if (foreign_ != nullptr)
        foreign_->update(exec, block_->valuesOf(exec, a));
      requireNoObjection(report);
    });
    failure_->clear();
    polynomial_.findRoots(exec, Kept<Method>(method, *this), report.phases);
    onAllRanks(*comm_, [&] { failure_->rethrow(); });
    polynomial_.addTo(report);
    requireNoObjection(report); // all have the same one
  }

  /// Makes room for applications to so many columns. \throws OutOfMemory
  void reserve(const execution_space& exec, size_t columns) const {
    polynomial_.reserve(exec, columns);
  }
  /// y = beta y + alpha op(M^-1 p(A M^-1)) x, after reserve() on all ranks. Asynchronous on the
  /// device but for messages.
  template <class Method>
  void apply(const execution_space& exec, const Method& method, const VectorIn& x,
             const VectorOut& y, Trans trans, Scalar alpha, Scalar beta) const {
    const bool plain = alpha == Scalar(1) && beta == Scalar(0);
    VectorOut to = y;
    failure_->clear();
    if (!plain)
      failure_->keepOf(
          [&] { to = ainvil::detail::workspaceOf(exec, product_, x.extent(0), x.extent(1)); });
    polynomial_.apply(exec, Kept<Method>(method, *this), x, to, trans);
    failure_->rethrow();
    if (!plain)
      axpby<Scalar, device_type>(exec, alpha, to, beta, y);
  }

private:
  using Foreign = detail::ForeignHalo<Scalar, LO, GO, Node>;

  /// M^-1; keeps what the method throws if there are other ranks.
  template <class Method>
  class Kept final : public LinearOperator<Scalar, device_type> {
  public:
    Kept(const Method& method, const RanksPolynomial& around)
        : method_(method), failure_(*around.failure_), alone_(around.comm_->getSize() == 1),
          num_rows_(around.block_->numPointRows()) {}

    Offset numPointRows() const override { return num_rows_; }
    Offset numPointCols() const override { return num_rows_; }
    void apply(const execution_space& exec, VectorIn x, VectorOut y, Trans trans, Scalar,
               Scalar) const override {
      if (alone_)
        method_(exec, x, y, trans);
      else
        failure_.keepOf([&] { method_(exec, x, y, trans); });
    }

  private:
    const Method& method_;
    Failure& failure_;
    bool alone_;
    Offset num_rows_;
  };

  static void requireNoObjection(const Report& report) {
    if (!report.objection.empty())
      throw BreakdownError(report.objection);
  }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  bool is_shared_;
  std::shared_ptr<Block> block_;
  std::shared_ptr<Foreign> foreign_;                               ///< null: nobody needs another
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>(); ///< of this rank
  ResidualPolynomial<Scalar, device_type> polynomial_;
  mutable MultiVector<Scalar, device_type> product_;
};

} // namespace tpetra
} // namespace ainvil
