// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sparse approximate inverses of general matrices.

#include "Ainvil_Preconditioner.hpp"
#include "product/Ainvil_SparseOperator.hpp"
#include "spai/Ainvil_SpaiRowSolver.hpp"

namespace ainvil {

/// Growth of the pattern of M, row by row, by what a row of A would take from the residual.
struct SpaiAdaptive {
  int steps = 0;    ///< at most so many; 0: the pattern is static
  int per_step = 4; ///< blocks a row takes in a step
  double eps = 0.2; ///< rows with ||E_i - M_i A||_F <= eps sqrt(b) grow no more
  int power = 0;    ///< rows start from this power of A~ in place of SpaiOptions::power
};

/// Pattern and storage of M, but for patterns in memory.
struct SpaiOptions {
  int power = 1; ///< pattern S(|A~|^power); 0: the diagonal
  /// A~ are the blocks of A with ||A_ij|| > tau sqrt(||A_ii|| ||A_jj||), and its diagonal.
  double tau = 0;
  /// With steps > 0 rows start from the power of A~ that it names, or from the user's pattern.
  SpaiAdaptive adaptive;
  /// initialize() gives up where the least squares problems take more than so many operations a
  /// point row of A, or one of them 1000 times as many; 0: never.
  double max_work = 5e8;
  Storage storage = Storage::Native;                 ///< of M
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for rank deficient local problems
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift

  /// The keys that name them; the words of `storage` depend on the precision of the vectors.
  static const ParameterTable<SpaiOptions>& table(VectorPrecision vectors);
};

/// All of Spai.
template <class Device>
struct SpaiParameters : SpaiOptions {
  SpaiParameters() = default;
  /// With the pattern of a power.
  SpaiParameters(const SpaiOptions& options) : SpaiOptions(options) {}

  /// Pattern given by the user instead, square, in block rows; the diagonal is added to it.
  Graph<Device> pattern;
};

/// M ~ A^-1 that minimises ||I - M A||_F over all matrices of a pattern. Each block row i is a
/// problem of its own: with J its pattern and I the columns in which the rows J of A have entries,
///   || E_i - M_i,J A_J,I ||_F -> min,
/// a dense least squares problem of |I| b rows and |J| b unknowns, b the block size, with b
/// right-hand sides. It is solved by Householder's reflections: the normal equations would be
/// cheaper, but square its condition. Rows of A are scaled by powers of two before: such a scaling
/// of A from the left scales the columns of M, to the bit. A scaling from the right changes M, and
/// so does none of the two for a permutation of A, rows and columns alike.
///
/// Rows of M by rows of A: A, M and their blocks are read and written as they are stored, set-up
/// and application need no transposed copy of either. (The minimiser of ||I - A M||_F is the one
/// of A^T, transposed.) An application is one product with M.
///
/// Adaptive patterns: with the residual R = E_i - M_i A, each step gives row i the k outside of J
/// of the largest
///   sum over point rows s of A_k and r of R:  (R_r a_ks^T)^2 / ||a_ks||^2,
/// which for block size 1 is what ||R||^2 loses to the best multiple of row k of A, and all rows
/// that have grown are solved again. No scaling of rows of A alters the choice.
///
/// The pattern is that of the values initialize() sees where tau > 0 or patterns are adaptive, else
/// of the graph alone.
/// Breakdown: local problems whose rows of A depend on each other, to 10 n eps for n unknowns of
/// rows scaled to 1, are counted. `fail` throws; `shift` tries again with `shift` times its largest
/// entry added to the diagonal of each row of A in the problem; `replace`, or if that fails too,
/// takes the identity over the largest entry of block row i of A, or over 1 where that is zero.
/// Whatever the policy, initialize() throws before it solves problems beyond `max_work`.
///
/// Cost: sum over rows of up to 4 |I| |J|^2 b^3 operations, about half as many where |I| grows from
/// row to row of J as in bands; in every adaptive step, too, for the rows that still grow. Memory:
/// M, in Scalar and in the storage precision; the columns I of all rows, an index each; and for the
/// rows worked on at a time |I| |J| b^2 scalars.
///
/// Sources: Cosgrove, Diaz, Griewank, Approximate inverse preconditionings for sparse linear
/// systems (1992); Grote, Huckle, Parallel preconditioning with sparse approximate inverses (1997);
/// patterns of powers of a sparsified matrix: Chow, A priori sparsity patterns for parallel sparse
/// approximate inverse preconditioners (2000); blocks: Barnard, Grote, A block version of the SPAI
/// preconditioner (1999).
template <class Scalar, class Device>
class Spai final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  using Parameters = SpaiParameters<Device>; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<SpaiOptions>& parameterTable() {
    return SpaiOptions::table(precisionOf<Scalar>());
  }

  /// \throws InvalidArgument for parameters out of range.
  explicit Spai(const SpaiParameters<Device>& parameters);

  std::string description() const override;

  const SparseOperator<Scalar, Device>& inverse() const { return inverse_; } ///< M
  /// ||I - M A||_F of the last compute(), M before it is rounded; rows that were replaced count as
  /// if they were zero.
  double residual() const { return residual_; }

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  Graph<Device> makePattern(const execution_space& exec, const Matrix& a,
                            const Graph<Device>& with_diagonal) const;
  void checkRows(const execution_space& exec);

  SpaiParameters<Device> parameters_;
  int block_size_ = 1;
  Graph<Device> pattern_;                ///< of M
  Kokkos::View<Scalar*, Device> values_; ///< of M
  detail::SpaiRowSolver<Scalar, Device> solver_;
  detail::SpaiRowResults<Device> results_;
  double residual_ = 0;
  SparseOperator<Scalar, Device> inverse_;
};

} // namespace ainvil
