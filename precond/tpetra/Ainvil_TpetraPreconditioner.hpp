// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What every preconditioner of Ainvil on Tpetra's matrices is.

#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_TpetraCompat.hpp"
#include "Ainvil_TpetraOwnOperator.hpp"
#include "Ainvil_TpetraParameters.hpp"
#include "Ainvil_TpetraPolynomial.hpp"

#include <Ifpack2_Details_CanChangeMatrix.hpp>
#include <Ifpack2_Preconditioner.hpp>

#include <memory>
#include <set>
#include <string>

namespace ainvil {
namespace tpetra {

/// An Ifpack2::Preconditioner that Belos takes (setRightPrec) and Ifpack2::AdditiveSchwarz too
/// (setInnerPreconditioner). MatrixType is a Tpetra::RowMatrix; the matrix itself may be a
/// CrsMatrix or BlockCrsMatrix, and for methods that stay on a rank any other RowMatrix as well.
///
/// Where there is a matrix, the constructor, setParameters(), initialize(), compute() and
/// setMatrix() are collective: if they fail on one rank of the matrix, all ranks throw, and the
/// message names the rank. (The matrix that AdditiveSchwarz hands to its inner preconditioner is of
/// one rank: there that rank alone throws.) All ranks must have the same parameters.
/// setParameters() undoes initialize() if it changes anything. All local kernels run on the default
/// instance of the execution space.
///
/// Teuchos::TimeMonitor has timers "Ainvil METHOD: initialize", "... compute" and "... apply".
/// Where kernels run asynchronously, apply() does not wait for them, and what its timer and
/// getApplyTime() have is the time of launching; with the parameter "timer for apply" it waits
/// before and behind, and they have the time of the work.
///
/// With a degree ("poly: degree") over more than one rank, and where isLocal() is false also on
/// one, the polynomial is in the matrix of all ranks, a RanksPolynomial around the method. Of other
/// matrices than CrsMatrix and BlockCrsMatrix, and with "auto", each rank has a polynomial of its
/// own rows, if isLocal().
///
/// Belos does not ask a preconditioner whether it is the same linear map at every application: with
/// asynchronous sweeps (isFixed() false) use its flexible GMRES, and say so by the parameter "Allow
/// Varying", without which initialize() refuses them.
template <class MatrixType>
class Preconditioner
    : public Ifpack2::Preconditioner<
          typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
          typename MatrixType::global_ordinal_type, typename MatrixType::node_type>,
      public Ifpack2::Details::CanChangeMatrix<Tpetra::RowMatrix<
          typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
          typename MatrixType::global_ordinal_type, typename MatrixType::node_type>>,
      public OwnOperator {
public:
  using scalar_type = typename MatrixType::scalar_type;
  using local_ordinal_type = typename MatrixType::local_ordinal_type;
  using global_ordinal_type = typename MatrixType::global_ordinal_type;
  using node_type = typename MatrixType::node_type;
  using device_type = typename node_type::device_type;
  using execution_space = typename device_type::execution_space;
  using row_matrix_type =
      Tpetra::RowMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using map_type = Tpetra::Map<local_ordinal_type, global_ordinal_type, node_type>;
  using multivector_type =
      Tpetra::MultiVector<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  static_assert(std::is_same<MatrixType, row_matrix_type>::value,
                "the template argument must be a Tpetra::RowMatrix");

  /// The method and its parameters as createPreconditioner() takes them. `a` may be null: setMatrix
  /// gives one later. \throws Teuchos::Exceptions::InvalidParameterValue; InvalidArgument if ranks
  /// have different parameters
  Preconditioner(const Teuchos::RCP<const row_matrix_type>& a, const std::string& specification)
      : matrix_(a), base_(specification), choice_(agreedChoice(Teuchos::ParameterList())) {}

  /// Takes the parameters of the list over those of earlier calls; see validParameters(). \throws
  /// as chooseParameters(), and InvalidArgument if ranks have different parameters; then nothing
  /// has changed.
  void setParameters(const Teuchos::ParameterList& list) override;
  /// All parameters of the method with their defaults and explanations.
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const {
    return validParameters(methodOf(base_));
  }

  /// Of the graph, and of the values where the method takes its pattern from them. \throws
  /// std::runtime_error; Teuchos::Exceptions::InvalidParameterValue if isFixed() is false and
  /// "Allow Varying" not set
  void initialize() override;
  bool isInitialized() const override { return initialized_; } ///< there is a pattern
  /// Of the values, for the graph of the last initialize(), which it calls if need be. \throws
  /// std::runtime_error
  void compute() override;
  bool isComputed() const override { return computed_; } ///< apply() may be called

  /// True if apply() is the same linear map every time, which plain GMRES and CG rely on: all but
  /// asynchronous sweeps.
  bool isFixed() const override { return choice_.fixed; }

  /// Y = beta Y + alpha op(M^-1) X; beta = 0 overwrites Y, NaN included. X and Y may be the same.
  /// Collective, also where the method does not communicate: the ranks look together at a map that
  /// they have not seen in the call before. \throws std::runtime_error on all ranks before
  /// compute(), or for multivectors of other maps or sizes, if only on one of them; OutOfMemory
  /// where there is none for the first time that so many columns come: on all ranks for what
  /// exchanges take, else on those that have none, and Y holds anything on all.
  void apply(const multivector_type& x, multivector_type& y,
             Teuchos::ETransp mode = Teuchos::NO_TRANS, scalar_type alpha = 1,
             scalar_type beta = 0) const override;
  bool hasTransposeApply() const override { return true; } ///< all methods have it

  /// Another matrix, which must then be initialized, unless it has the CrsGraph of the one before:
  /// then it need only be computed, as new values in the same matrix. The same one changes nothing.
  void setMatrix(const Teuchos::RCP<const row_matrix_type>& a) override;
  /// A, or null.
  Teuchos::RCP<const row_matrix_type> getMatrix() const override { return matrix_; }
  /// That of X, the range map of A. \throws std::runtime_error without a matrix
  Teuchos::RCP<const map_type> getDomainMap() const override { return matrix().getRangeMap(); }
  /// That of Y, the domain map of A. \throws std::runtime_error without a matrix
  Teuchos::RCP<const map_type> getRangeMap() const override { return matrix().getDomainMap(); }

  int getNumInitialize() const override { return num_initialize_; } ///< calls that succeeded
  int getNumCompute() const override { return num_compute_; }       ///< calls that succeeded
  int getNumApply() const override { return num_apply_; }           ///< calls that succeeded
  double getInitializeTime() const override { return initialize_seconds_; } ///< seconds, of all
  double getComputeTime() const override { return compute_seconds_; }       ///< seconds, of all
  /// Seconds of all calls; where kernels run asynchronously, of launching them, or of the work with
  /// "timer for apply".
  double getApplyTime() const override { return apply_seconds_; }

  /// One line of YAML.
  std::string description() const override;
  /// The same on rank 0; with VERB_MEDIUM the calls, their seconds and the entries of rank 0
  /// besides, with VERB_HIGH the phases of its set-up and the notes of the method.
  void describe(Teuchos::FancyOStream& out,
                const Teuchos::EVerbosityLevel verbosity =
                    Teuchos::Describable::verbLevel_default) const override;

  /// What the constructor and setParameters() have asked for.
  const ParameterChoice& choice() const { return choice_; }

  /// What the set-up of this rank cost, by phase, and what came of it; without phases before
  /// initialize().
  const Report& localReport() const { return report_; }

protected:
  using VectorIn = MultiVectorArg<const scalar_type, device_type>; ///< a rank's rows, read
  using VectorOut = MultiVectorArg<scalar_type, device_type>;      ///< a rank's rows, written

  /// A_rr, as methods on a rank's rows take it.
  using Block = LocalBlock<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  /// initialize() of the matrix, which is there and fill-complete.
  virtual void doInitialize(const execution_space& exec) = 0;
  /// compute() likewise, after doInitialize(). Both call takeReport().
  virtual void doCompute(const execution_space& exec) = 0;
  /// y = beta y + alpha op(M^-1) x for the rows of this rank of X and Y, which do not overlap.
  virtual void doApply(const execution_space& exec, const VectorIn& x, const VectorOut& y,
                       Trans trans, scalar_type alpha, scalar_type beta) const = 0;
  /// Whether M^-1 is one of each rank, which doApply() applies without messages, and on one rank
  /// has the polynomial that specification() names there.
  virtual bool isLocal() const = 0;
  /// Makes room for doApply() to so many columns, if that exchanges: there one rank must not fail
  /// alone. Called after each doCompute() for one column. \throws OutOfMemory
  virtual void reserve(const execution_space& /* exec */, size_t /* columns */) const {}
  /// The block of the rank, if doCompute() gets it, for others to share.
  virtual std::shared_ptr<Block> block() const { return nullptr; }

  /// A. \throws std::runtime_error without one
  const row_matrix_type& matrix() const;
  /// Runs work() as a phase of the set-up that is not the local preconditioner's.
  template <class Work>
  void timePhase(const execution_space& exec, const char* phase, const Work& work) {
    around_.time(exec, "tpetra", phase, work);
  }
  /// The report of the local preconditioner, with the phases around it.
  void takeReport(const Report& local) {
    report_ = local;
    for (const PhaseTimes::Phase& phase : around_.phases())
      report_.phases.set(phase.first, phase.second);
  }
  /// For createPreconditioner(), without a polynomial that is not the method's affair.
  std::string specification() const;
  int blockSize() const { return choice_.block_size; } ///< "block: size"

private:
  using Polynomial =
      RanksPolynomial<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  PolynomialParameters polynomial() const;
  void reserveTogether(const execution_space& exec, size_t columns) const;
  void applyRows(const VectorIn& x, const VectorOut& y, Trans trans, scalar_type alpha,
                 scalar_type beta) const;
  Teuchos::RCP<Teuchos::Time> teuchosTimer(const char* phase) const;
  /// Runs work() and adds the seconds that it took.
  template <class Work>
  void timed(const char* phase, double& seconds, const Work& work) const;
  void requireFillComplete() const;
  ParameterChoice agreedChoice(const Teuchos::ParameterList& list) const;
  void requireSameChoice(const ParameterChoice& choice) const;
  void requireMap(const char* name, const multivector_type& x, const map_type& map,
                  Teuchos::RCP<const map_type>& known) const;

  Teuchos::RCP<const row_matrix_type> matrix_;
  std::string base_;                       ///< the constructor's specification
  Teuchos::ParameterList parameters_;      ///< all that setParameters() was given
  ParameterChoice choice_;                 ///< both
  std::unique_ptr<Polynomial> polynomial_; ///< null: none but perhaps the method's own
  mutable std::set<size_t> columns_;       ///< that all ranks have room for, where they exchange
  PhaseTimes around_;
  Report report_;
  bool initialized_ = false, computed_ = false;
  int num_initialize_ = 0, num_compute_ = 0;
  mutable int num_apply_ = 0;
  double initialize_seconds_ = 0, compute_seconds_ = 0;
  mutable double apply_seconds_ = 0;
  mutable Teuchos::RCP<Teuchos::Time> apply_timer_;        ///< null before the first apply()
  mutable Teuchos::RCP<const map_type> known_x_, known_y_; ///< maps that were found to be right
};

} // namespace tpetra
} // namespace ainvil
