// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverse factors by incomplete (bi)conjugation, all columns at a time.

#include "Ainvil_FactorColumns.hpp"
#include "Ainvil_Preconditioner.hpp"

namespace ainvil {

/// What an entry z_kj is compared with when it is dropped.
enum class DropRule {
  Absolute, ///< the tolerance
  Relative  ///< tolerance x sqrt(|a_jj / a_kk|): as if A had been scaled to a unit diagonal before
};

namespace detail {

struct InverseFactorsParameters {
  bool stabilized = true; ///< SAINV or AINV
  bool symmetric = true;  ///< Z only, or Z and W
  DropRule drop_rule = DropRule::Absolute;
  double drop = 0.1;
  int max_column = 0; ///< 0: any number of entries
  BreakdownPolicy breakdown = BreakdownPolicy::Fail;
  double shift = 1e-3;
};

/// One of Z and W and what belongs to it.
template <class Scalar, class Device>
struct FactorSide {
  FactorColumns<Scalar, Device> columns;
  ColumnsOfRows<Device> of_rows;        ///< where the columns have entries
  IndexLists<Device> touched;           ///< rows in which a column ever was not zero
  Kokkos::View<Ordinal*, Device> first; ///< of the changed columns that concern a row
};

/// What Z and W have in common; one element a column.
template <class Scalar, class Device>
struct FactorState {
  Kokkos::View<char*, Device> current;  ///< version of z_j, w_j and d_j
  Kokkos::View<char*, Device> changed;  ///< in this round: then the other version is the new one
  Kokkos::View<Scalar*, Device> pivots; ///< d_j, in two versions like columns
  Kokkos::View<char*, Device> broken;   ///< d_j is not what the columns give
  Kokkos::View<Ordinal*, Device> rooms; ///< of the hash tables a column needs, a power of two
  Kokkos::View<char*, Device> dirty;    ///< to be computed
  /// Column j was computed in this round with the new versions of the columns base(j), ..., j - 1;
  /// or it was not and base(j) = -1.
  Kokkos::View<Ordinal*, Device> base;
  Kokkos::View<char*, Device> waiting; ///< but not in this round
};

/// Z, W and D of Ainv for a matrix in its elimination order.
///
/// Column j is a function F_j of the columns i < j that it meets, those with p_ij != 0 on the way.
/// Without dropping these fill whole subtrees of the elimination tree, so that a column has to wait
/// for all of its descendants; the tree of a grid is thousands of levels high. With dropping a
/// column meets a few near it, but only the values tell which. So columns are computed in rounds,
/// each from those of the round before, starting from the identity, and again if they met one that
/// has changed since, until none has. The fixed point is unique, since F_j depends on earlier
/// columns only, and is the factor of the sequential algorithm. Influence fades along chains of
/// columns: far fewer rounds do than the elimination tree has levels (docs/results.md). On GPUs a
/// column waits, as long as there are enough others, while one before it that it met is about to be
/// computed: more rounds, up to the length of the longest chain, but fewer computations.
///
/// Threads of a host work through consecutive columns, using the new versions of those they have
/// just computed themselves; a single one so runs the sequential algorithm, once.
///
/// Rounds are deterministic, and the result depends neither on the columns one starts from nor on
/// the number of threads or the schedule: bit for bit on the same device.
template <class Scalar, class Device>
class InverseFactors {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;

  InverseFactors() = default;
  /// Columns of the identity, for matrices of n rows.
  InverseFactors(const execution_space& exec, const InverseFactorsParameters& parameters,
                 Ordinal n);

  /// For a matrix with sorted rows and its transpose, or itself twice if symmetric. Starts from
  /// the columns it has.
  void compute(const execution_space& exec, const Matrix& a, const Matrix& transposed);

  Ordinal numColumns() const { return n_; }
  /// The columns of Z; those of W, which are Z's if symmetric.
  const FactorColumns<Scalar, Device>& z() const { return sides_[0].columns; }
  const FactorColumns<Scalar, Device>& w() const {
    return sides_[parameters_.symmetric ? 0 : 1].columns;
  }
  /// current(j) is the version that counts.
  const FactorState<Scalar, Device>& state() const { return state_; }

  Ordinal breakdowns() const { return breakdowns_; }
  Ordinal firstBreakdown() const { return first_breakdown_; }
  int rounds() const { return rounds_; }
  Offset columnsComputed() const { return computed_; } ///< over all rounds

private:
  using Side = FactorSide<Scalar, Device>;

  int numSides() const { return parameters_.symmetric ? 1 : 2; }
  const Side& other(int side) const { return sides_[parameters_.symmetric ? 0 : 1 - side]; }
  void computeColumns(const execution_space& exec, const Matrix& a, const Matrix& transposed,
                      bool in_order);

  InverseFactorsParameters parameters_;
  Ordinal n_ = 0;
  Side sides_[2];
  FactorState<Scalar, Device> state_;
  Kokkos::View<Scalar*, Device> scales_;   ///< sqrt |a_kk|, 1 for 0; empty: absolute dropping
  Kokkos::View<Ordinal*, Device> members_; ///< columns of one launch
  Ordinal breakdowns_ = 0;
  Ordinal first_breakdown_ = -1;
  int rounds_ = 0;
  Offset computed_ = 0;
};

} // namespace detail
} // namespace ainvil
