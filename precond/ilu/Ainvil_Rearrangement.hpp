// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows exchanged, scaled and reordered before the factorisation, which does not pivot.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_Scaling.hpp"

namespace ainvil {

/// Whether rows are exchanged before the factorisation.
enum class RowMatching {
  None,   ///< no
  Product ///< by maximumProductMatching(), which also scales
};

/// How the matrix is scaled that is factored.
enum class MatrixScaling {
  None, ///< not at all
  Ruiz  ///< by ruizScaling(), at each compute
};

/// Which matrix Ilu factors in place of A.
struct RearrangementParameters {
  RowMatching match = RowMatching::None;     ///< whether rows are exchanged
  MatrixScaling scale = MatrixScaling::None; ///< without a matching, which brings its own
  Ordering order = Ordering::Natural;        ///< of rows and columns alike, after the matching

  /// ", match: product, reorder: rcm": what is not the default.
  std::string description() const;
  /// Whether `scale` has an effect: a matching brings scalings of its own.
  bool takesScale() const { return match == RowMatching::None; }
  /// Whether the matrix is another one than A.
  bool changesMatrix() const {
    return match != RowMatching::None || scale != MatrixScaling::None || order != Ordering::Natural;
  }
};

namespace detail {

/// B = P R A C Q^T, where P are the rows in the order of the matching and then of the ordering, Q
/// the columns in the latter; A^-1 = C Q^T B^-1 P R. R and C are rounded to powers of 2, so that
/// scaling rounds nothing.
template <class Scalar, class Device>
class Rearrangement {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>; ///< A or B

  /// With parameters that change the matrix.
  explicit Rearrangement(RearrangementParameters parameters = {}) : parameters_(parameters) {}

  /// The matching depends on the values: the graph of B is known only after find().
  bool followsValues() const { return parameters_.match != RowMatching::None; }

  /// Allocates what has the size of A. Without a matching finds the graph of B.
  void initialize(const execution_space& exec, const Matrix& a, Report& report);
  /// Finds the matching, the ordering that depends on it, and the graph of B. `progress`, if there
  /// is one, is told how many rows are matched. Waits.
  void find(const execution_space& exec, const Matrix& a, Report& report,
            const std::function<void(Offset)>& progress);
  /// The values of B from those of A, scaled anew by MatrixScaling::Ruiz and as find() saw fit with
  /// a matching. Asynchronous, no allocation.
  void update(const execution_space& exec, const Matrix& a);

  const Matrix& matrix() const { return matrix_; } ///< B
  /// What a message about B has to tell besides, as " (...)".
  std::string remark() const;
  /// The block row of A that is block row k of B. Waits.
  Ordinal originalRow(const execution_space& exec, Ordinal k) const;

  /// t = P R x, or with Trans::Yes Q C x. Asynchronous, as leave().
  void enter(const execution_space& exec, Trans trans, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> t) const;
  /// y = C Q^T t, or with Trans::Yes R P^T t.
  void leave(const execution_space& exec, Trans trans, MultiVectorArg<const Scalar, Device> t,
             MultiVectorArg<Scalar, Device> y) const;

private:
  bool scales() const {
    return parameters_.match != RowMatching::None || parameters_.scale != MatrixScaling::None;
  }
  void reorder(const execution_space& exec, const Graph<HostDevice>& graph,
               const Permutation<HostDevice>& matched);

  RearrangementParameters parameters_;
  Ordinal num_matched_ = 0;
  Permutation<Device> rows_, columns_; ///< P and Q
  PermutedGraph<Device> pattern_;
  Matrix matrix_;
  RowColumnScaling<Scalar, Device> scaling_; ///< R and C
  RowColumnScaling<Scalar, Device> norms_;   ///< work of ruizScaling()
};

} // namespace detail
} // namespace ainvil
