// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverse factors by incomplete (bi)conjugation, all columns at a time.

#include "Ainvil_Preconditioner.hpp"
#include "ainv/Ainvil_RoundKernels.hpp"

#include <functional>

namespace ainvil {

/// What an entry z_kj is compared with when it is dropped.
enum class DropRule {
  Auto,     ///< Relative if symmetric, Absolute if not
  Absolute, ///< the tolerance
  Relative  ///< tolerance x sqrt(|a_jj / a_kk|): as if A had been scaled to a unit diagonal before
};

namespace detail {

/// The order in which columns are computed, which the result does not depend on.
enum class ColumnSchedule {
  Device, ///< by events on GPUs, in chunks on hosts
  Events, ///< in no order, those that others have changed
  Chunks  ///< consecutive columns by one thread, for hosts
};

struct InverseFactorsParameters {
  bool stabilized = true;                  ///< SAINV or AINV
  bool symmetric = true;                   ///< Z only, or Z and W
  DropRule drop_rule = DropRule::Absolute; ///< not Auto
  double drop = 0.1;
  int max_column = 0; ///< 0: any number of entries
  /// With Fail it all ends as soon as a pivot breaks down for good, because columns behind one may
  /// grow without bounds: the factors are of no use then, and breakdowns() may be too few.
  BreakdownPolicy breakdown = BreakdownPolicy::Fail;
  double shift = 1e-3;
  Offset max_entries = 0; ///< It all ends when the columns have more together; 0: any number
  ColumnSchedule schedule = ColumnSchedule::Device;
};

/// One of Z and W and what belongs to it.
template <class Scalar, class Device>
struct FactorSide {
  FactorColumns<Scalar, Device> columns;
  ColumnsOfRows<Device> of_rows;        ///< where the columns have entries
  IndexLists<Device> touched;           ///< rows in which a column ever was not zero
  ColumnsOfRows<Device> touching;       ///< the same by rows
  Kokkos::View<Ordinal*, Device> first; ///< of the columns that reach a row; and to list with
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
/// columns: far fewer rounds do than the elimination tree has levels (docs/results.md).
///
/// By events: a column that has been computed looks up who met it (Wake). A round costs what its
/// columns cost, whatever n is, and one wait of the host. Where passes over all columns cost less,
/// because there are many to wake, these see by themselves whether they are concerned. As long as
/// there are enough others, a column waits while one before it that it met is about to be computed:
/// more rounds, up to the length of the longest chain, but fewer computations.
///
/// In chunks: threads of a host work through consecutive columns, using the new versions of those
/// they have just computed themselves; a single one so runs the sequential algorithm, once.
///
/// The result depends neither on the columns one starts from nor on the number of threads or the
/// schedule: bit for bit on the same device.
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
  /// the columns it has. `progress`, if there is one, is called with the number of columns that are
  /// not to be computed, by all that is known so far.
  void compute(const execution_space& exec, const Matrix& a, const Matrix& transposed,
               const std::function<void(Offset)>& progress = {});

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
  /// The columns had more entries than they may, and are not complete.
  bool isTooFull() const { return n_ > 0 && read_(stop_place) == Offset(FactorStop::TooFull); }
  Offset entries() const { return n_ == 0 ? 0 : read_(entries_place); } ///< of Z and W together
  int rounds() const { return rounds_; }
  Offset columnsComputed() const; ///< over all rounds

private:
  using Side = FactorSide<Scalar, Device>;
  /// Of the counters that are read together; behind them four a side.
  enum CounterPlace {
    num_chosen,
    num_proposed,
    num_left,
    stop_place,
    entries_place,
    broken_place,
    of_room
  };

  int numSides() const { return parameters_.symmetric ? 1 : 2; }
  const Side& other(int side) const { return sides_[parameters_.symmetric ? 0 : 1 - side]; }
  using Progress = std::function<void(Offset)>;
  void computeByEvents(const execution_space& exec, const Matrix& a, const Matrix& transposed,
                       const Progress& progress);
  void computeInChunks(const execution_space& exec, const Matrix& a, const Matrix& transposed,
                       const Progress& progress);
  void tell(const execution_space& exec, const Progress& progress) const;
  bool hasEnded(const execution_space& exec) const;
  bool passesPay(const Matrix& a, Offset count) const;
  Offset read(const Counter<Device>& counter) const;
  ReachedRows<Scalar, Device> reachedRows(const Matrix& a, const Matrix& transposed,
                                          int side) const;
  void reach(const execution_space& exec, const Matrix& a, const Matrix& transposed, int side,
             bool changed_only, const Kokkos::View<const Ordinal*, Device>& list, Ordinal count);
  void proposeDirty(const execution_space& exec);
  Ordinal choose(const execution_space& exec, const Matrix& a, const Matrix& transposed);
  void sortMembers(const execution_space& exec, Ordinal count);
  void makePlace(const execution_space& exec, bool list_all);
  void computeColumns(const execution_space& exec, const Matrix& a, const Matrix& transposed,
                      Ordinal begin, Ordinal end, Ordinal per_chunk, Ordinal room,
                      const Progress& progress);
  bool wake(const execution_space& exec, const Matrix& a, const Matrix& transposed, Ordinal count);
  void endRound(const execution_space& exec, Ordinal count, bool propose);

  InverseFactorsParameters parameters_;
  Ordinal n_ = 0;
  bool by_events_ = false;
  Ordinal largest_room_ = 0; ///< of the members of the last round
  Offset proposed_ = -1;     ///< if these are all dirty columns: how many there are; else -1
  Side sides_[2];
  FactorState<Scalar, Device> state_;
  Agenda<Device> agenda_;
  Counter<Device> stop_, num_entries_, num_broken_;
  Kokkos::View<Offset*, Device> counters_; ///< all there are, and as they were when last read
  Kokkos::View<Offset*, HostDevice> read_, begins_; ///< these: of the rooms
  Kokkos::View<Scalar*, Device> scales_; ///< sqrt |a_kk|, 1 for 0; empty: absolute dropping
  Ordinal breakdowns_ = 0;
  Ordinal first_breakdown_ = -1;
  int rounds_ = 0;
  Offset num_members_ = 0; ///< over all rounds, those included that could not be computed
};

} // namespace detail
} // namespace ainvil
