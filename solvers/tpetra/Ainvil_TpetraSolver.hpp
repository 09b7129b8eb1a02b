// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The Krylov solvers on Tpetra's operators and vectors.

#include "Ainvil_TpetraBlockOperator.hpp"
#include "Ainvil_TpetraReduction.hpp"
#include "krylov/Ainvil_KrylovSolver.hpp"

#include <Tpetra_Vector.hpp>

#include <string>
#include <vector>

namespace ainvil {
namespace tpetra {

/// GMRES, FGMRES, CG and BiCGStab of solvers/ for systems that are spread over ranks: the same
/// classes, which take one MPI_Allreduce where they take sums over all rows. An iteration of GMRES
/// and FGMRES has one, of CG two, of BiCGStab three; with SolverOptions::reductions = Fewest CG has
/// one and BiCGStab two, and with Pipelined that one of CG travels during the products. On one rank
/// there is none, and results are those of the solver without ranks to the last bit where A and M
/// are.
///
/// A is any Tpetra::Operator, M too, so Ifpack2's preconditioners and Ainvil's; both work on the
/// vectors of the solver as they stand, without copies. With a BlockOperator the products are
/// Ainvil's, and overlap their messages. Operators that are neither a RowMatrix nor Ainvil's need
/// to know apply() with alpha = 1 and beta = 0 only.
///
/// All calls of solve() are collective, and fail on all ranks or on none. What A, M, `progress` or
/// `stop` throws on one rank in the midst of a solve ends it on all ranks, the next time that sums
/// are taken and the host looks at them, and all ranks throw it (as onAllRanks() does); x is then
/// undefined. A must not throw on one rank alone before its own communication is done, because the
/// others would wait for it there.
template <class Scalar = Tpetra::Operator<>::scalar_type,
          class LO = Tpetra::Operator<>::local_ordinal_type,
          class GO = Tpetra::Operator<>::global_ordinal_type,
          class Node = Tpetra::Operator<>::node_type>
class Solver {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using operator_type = Tpetra::Operator<Scalar, LO, GO, Node>;
  using multivector_type = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using vector_type = Tpetra::Vector<Scalar, LO, GO, Node>;
  using map_type = Tpetra::Map<LO, GO, Node>;

  /// The solver of this name as createSolver() knows it. \throws InvalidArgument for another name
  /// or an option out of range
  explicit Solver(const std::string& name, SolverOptions options = {});
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Solves A x = b from the x given, M from the right, null for none. b and x are on the range and
  /// the domain map of A. Kernels run on the default instance, for which it waits. The workspace is
  /// kept for further solves of the same size. \throws InvalidArgument for maps that do not fit,
  /// another solver or other options than on rank 0, or a preconditioner that varies where the
  /// method needs a fixed one (of Ainvil's it is known); OutOfMemory; what A, M and `progress`
  /// throw. It may be used again after any of them.
  SolveResult solve(const operator_type& a, const operator_type* m, const vector_type& b,
                    vector_type& x);

  /// Solves A X = B for any number of columns; a result a column. Eight at a time advance together,
  /// as those of KrylovSolver::solve(): A and M are applied to all of them at once, so that a
  /// message between two ranks serves eight, and an iteration has the reductions of one column,
  /// each of them for all. Each column stops by itself; one of zeros has the solution zero. Columns
  /// that do not lie one behind the other, as those of a view of some columns of a multivector, are
  /// copied and copied back. \throws as for one column, and InvalidArgument if B has not as many
  /// columns as X, or as that of rank 0
  std::vector<SolveResult> solve(const operator_type& a, const operator_type* m,
                                 const multivector_type& b, multivector_type& x);

  /// From now on residuals are judged by ||W r||_2, W = diag(weights), one column of positive
  /// numbers on the map of b, in place of ||r||_2: see KrylovSolver::setWeights(). Null: the 2-norm
  /// again. All ranks give weights or none. solve() checks them as it does its other arguments;
  /// their values may change between two solves.
  void setWeights(const Teuchos::RCP<const multivector_type>& weights) { weights_ = weights; }

  const std::string& name() const { return name_; }         ///< as given
  const SolverOptions& options() const { return options_; } ///< as given

private:
  void requireSame(const Teuchos::Comm<int>& comm, bool preconditioned, size_t columns) const;
  void requireMaps(const operator_type& a, const operator_type* m, const multivector_type& b,
                   const multivector_type& x) const;

  std::string name_;
  SolverOptions options_;
  Teuchos::RCP<const multivector_type> weights_; ///< of the rows, or null
  Failure failure_;                              ///< of this solve
  std::unique_ptr<KrylovSolver<Scalar, device_type>> solver_;
  Teuchos::RCP<const Teuchos::Comm<int>> comm_; ///< that the solver reduces over
};

} // namespace tpetra
} // namespace ainvil
