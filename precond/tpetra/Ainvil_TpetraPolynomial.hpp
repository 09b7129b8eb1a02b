// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Polynomials in the matrix of all ranks.

#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_TpetraMatrixHalo.hpp"
#include "Ainvil_TpetraReduction.hpp"
#include "polynomial/Ainvil_ResidualPolynomial.hpp"

#include <memory>
#include <set>
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
/// depend on how rows are spread, p does not either, but for rounding and the random numbers, which
/// go by the order of ranks.
///
/// Takes a CrsMatrix or BlockCrsMatrix whose rows, domain and range are spread in the same way. All
/// calls are collective. `method` is called as method(exec, x, y, trans), on the rows of this rank,
/// and does y = op(M^-1) x. What it throws on one rank is thrown at the end of the call, there only
/// in apply(), because the others wait for messages until then.
///
/// Memory beside that of ResidualPolynomial: LocalBlock and Halo of the matrix, which also keeps
/// H_r^T.
template <class Scalar, class LO, class GO, class Node>
class RanksPolynomial {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using row_matrix_type = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using VectorIn = MultiVectorArg<const Scalar, device_type>; ///< a rank's rows, read
  using VectorOut = MultiVectorArg<Scalar, device_type>;      ///< a rank's rows, written

  /// Of the graph, in blocks as LocalBlock makes them. Waits. \throws InvalidArgument and
  /// OutOfMemory on all ranks
  RanksPolynomial(const execution_space& exec, const row_matrix_type& a, int block_size,
                  const PolynomialParameters& parameters)
      : comm_(a.getComm()), polynomial_(parameters) {
    onAllRanks(*comm_, [&] { block_ = {exec, a, block_size}; });
    PolynomialProcesses<Scalar, device_type> processes;
    if (comm_->getSize() > 1) {
      const auto halo = haloOf(exec, a, true);
      if (halo.exists())
        foreign_ = std::make_shared<Foreign>(halo);
      const long long here = compat::numLocalElements(*a.getDomainMap());
      long long up_to_here = 0;
      Teuchos::scan(*comm_, Teuchos::REDUCE_SUM, here, Teuchos::outArg(up_to_here));
      processes = {foreign_, std::make_shared<CommReduction<device_type>>(comm_, *failure_),
                   up_to_here - here, Offset(a.getDomainMap()->getGlobalNumElements())};
    }
    onAllRanks(*comm_, [&] { polynomial_.initialize(exec, block_.get(exec, a), processes); });
    columns_.insert(1);
  }

  /// Of the values, for M^-1 as it is now: makes of its report that of this object. Waits. \throws
  /// on all ranks InvalidArgument, what the method throws, and BreakdownError where there is an
  /// objection
  template <class Method>
  void compute(const execution_space& exec, const row_matrix_type& a, const Method& method,
               Report& report) {
    onAllRanks(*comm_, [&] {
      polynomial_.update(exec, block_.get(exec, a));
      if (foreign_ != nullptr)
        foreign_->update(exec, block_.valuesOf(exec, a));
    });
    failure_->clear();
    polynomial_.findRoots(exec, Kept<Method>(method, *failure_), report.phases);
    onAllRanks(*comm_, [&] { failure_->rethrow(); });
    polynomial_.addTo(report);
    if (!report.objection.empty())
      throw BreakdownError(report.objection);
  }

  /// y = beta y + alpha op(M^-1 p(A M^-1)) x. Asynchronous on the device but for messages.
  template <class Method>
  void apply(const execution_space& exec, const Method& method, const VectorIn& x,
             const VectorOut& y, Trans trans, Scalar alpha, Scalar beta) const {
    const bool plain = alpha == Scalar(1) && beta == Scalar(0);
    const size_t columns = x.extent(1);
    if (columns_.count(columns) == 0) {
      onAllRanks(*comm_, [&] { polynomial_.reserve(exec, columns); });
      columns_.insert(columns);
    }
    VectorOut to = y;
    failure_->clear();
    if (!plain)
      failure_->keepOf(
          [&] { to = ainvil::detail::workspaceOf(exec, product_, x.extent(0), columns); });
    polynomial_.apply(exec, Kept<Method>(method, *failure_), x, to, trans);
    failure_->rethrow();
    if (!plain)
      axpby<Scalar, device_type>(exec, alpha, to, beta, y);
  }

private:
  using Foreign = detail::ForeignHalo<Scalar, LO, GO, Node>;

  /// M^-1; keeps what the method throws.
  template <class Method>
  class Kept final : public LinearOperator<Scalar, device_type> {
  public:
    Kept(const Method& method, Failure& failure) : method_(method), failure_(failure) {}

    Offset numPointRows() const override { return 0; } // nobody asks
    Offset numPointCols() const override { return 0; }
    void apply(const execution_space& exec, VectorIn x, VectorOut y, Trans trans, Scalar,
               Scalar) const override {
      failure_.keepOf([&] { method_(exec, x, y, trans); });
    }

  private:
    const Method& method_;
    Failure& failure_;
  };

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  LocalBlock<Scalar, LO, GO, Node> block_;                         ///< A_rr
  std::shared_ptr<Foreign> foreign_;                               ///< null: nobody needs another
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>(); ///< of this rank, at one place
  ResidualPolynomial<Scalar, device_type> polynomial_;
  mutable std::set<size_t> columns_; ///< that there is room for
  mutable MultiVector<Scalar, device_type> product_;
};

} // namespace tpetra
} // namespace ainvil
