// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverse factors by incomplete (bi)conjugation, all columns at a time: the entrance to this room.
///
/// ### What is computed
///
/// Z, W and the pivots D of AINV and SAINV, with W^T A Z ~ D (Benzi, Meyer, Tuma 1996; Benzi, Tuma
/// 1998; Benzi, Cullum, Tuma 2000), left-looking: column by column, each from those before it.
/// Below X is one of the factors and Y the other; B = A for X = Z and B = A^T for X = W. If A is
/// symmetric there is Z only, and X = Y = Z.
///
///     x_j = e_j
///     for i = 1 .. j - 1:   p_ij = y_i^T B x_j         (AINV: b_i^T x_j, b_i^T being row i of B)
///                           x_j -= (p_ij / d_i) x_i
///                           entries |x_kj| < drop, k != j, are dropped
///     d_j = w_j^T A z_j                                (AINV: a_j^T z_j)
///
/// Column j *depends* on the columns i with p_ij != 0 on the way. Only values tell which these are,
/// but a pattern bounds them: p_ij = (B^T y_i)^T x_j, so that i *influences* j only if the pattern
/// of B^T y_i has a row in common with the *support* of x_j, which is all rows in which x_j has
/// been nonzero at some step, those included that were dropped again.
///
/// ### Why in rounds
///
/// Without dropping, the columns that j depends on fill whole subtrees of the elimination tree, and
/// that of a grid is thousands of levels high: hardly anything could be done at the same time. With
/// dropping a column depends on a few near it, but which ones is not known before the values are.
/// So columns are computed by a fixed-point iteration. A round computes many *pending* columns,
/// each from the *current versions* of the columns before it, whether these are final or not, and
/// writes their *next versions*. Columns that depend on one that has changed become pending again.
/// The iteration begins with any columns, those of an earlier compute(), say, and ends when none is
/// pending. The fixed point is unique, since a column depends on earlier ones only,
/// and it is the factor of the sequential algorithm, to the last dropped entry. Sums are taken in
/// the order of stored entries: neither the starting point nor the schedule nor the number of
/// threads changes a bit on the same device.
///
/// The first compute() begins with columns to first order, x_lj = -b_lj / a_ll (FirstColumns), or,
/// where one thread of a host computes all columns in order, with the identity. Where chains of
/// columns are long, nearly all of them would be computed again and again, until the changes have
/// come along; there the first rounds are by levels:
///
/// *Levels*. Column j is of a level above all columns that influence it by the patterns of the
/// current versions (columnLevels); levels that served the last compute() serve again. A round
/// takes the columns level by level, in parts between which memory may grow, each from the next
/// versions of those of lower levels. If no column turns out wider than its current version, that
/// is all: every column has been computed once. Else those that depend on what has changed are
/// pending, as after any other round. On CUDA a part is one launch, whose columns wait for the
/// level before (LevelGate), elsewhere a launch a level.
///
/// Then there are two schedules (ColumnSchedule), whose loops are in ConjugationRounds:
///
/// *Worklist*, for GPUs. The columns of a round are independent of each other (a Jacobi iteration).
/// A round costs what its columns cost, whatever n is, and one wait of the host.
///
/// *Chunks*, for hosts. Every thread takes consecutive pending columns and uses the next versions
/// of those that it has just computed itself (Gauss-Seidel within a chunk). A single thread so runs
/// the sequential algorithm, once. Where chains of dependent columns are long and columns are
/// computed again and again, one thread computes the rest in order.
///
/// ### One column through one round of the worklist
///
/// 1. *Queue.* Column j is pending and in Worklist::queue: at first all columns are.
/// 2. *SelectColumns.* j is selected for this round, or it waits: if a pending i < j influences it
///    and enough others are queued to keep the GPU busy. Its turn comes when i has been computed.
///    The selected columns are sorted by the size of the hash tables they need (SortByTableSize),
///    because scratch memory decides how many columns a GPU computes at a time: a launch a size, or
///    some where tables are long.
/// 3. *ConjugateColumns.* One warp computes column j. It reads the current versions of x_i, y_i and
///    d_i, i < j, and columns of B; which i to look at it finds in FactorSide::by_row, the columns
///    of Y by rows. x_j and B x_j grow in hash tables in scratch memory. No other warp writes
///    column j, and none reads its next version in this round. The patterns by rows are shared:
///    warps insert into them while others read, which adds candidates with p_ij = 0 at most.
/// 4. *StoreColumn.* The warp writes the next version of x_j, its support and the next d_j, inserts
///    them into the patterns by rows, and notes by what they differ from the current version
///    (Change). Column j is no longer pending.
/// 5. *NotifyDependents* goes from each computed column i that has changed along the pattern of
///    B^T y_i, of the current and the next version, and finds in FactorSide::supports_by_row the
///    columns that i influences. They become pending and are queued. Where so many have changed
///    that a pass over all columns is cheaper, FirstInfluence and MarkDependents do the same.
/// 6. *EndRound.* The next version becomes the current one.
///
/// ### How memory grows
///
/// Sizes are not known before. Three kinds of memory may turn out too small in a round; the column
/// then stays pending, its current version as it is, and is queued again (Worklist::num_failed).
///
/// * The hash tables in scratch memory: the column asks for the next power of two.
/// * The pools that columns and supports live in (ListPool). A column that outgrows its place moves
///   to the end of the pool. Where that is full, FactorStorage::grow() moves all columns to one of
///   twice the size, between rounds.
/// * The patterns by rows (ColumnsByRow), which take insertions as linked lists, until rebuild().
///
/// ### Where it can break down
///
/// * d_j <= 0 (|d_j| <= pivot_tolerance max_k |a_jk| if not symmetric) or not finite: the policy's
///   substitute takes its place, and the column is marked broken. A later round may mend it as long
///   as columns before it are pending. Under the policy `fail` the rounds end when a broken column
///   has no pending one before it, because the columns behind it may grow without bounds.
/// * Z and W have more entries than max_entries: the rounds end (FactorStop::TooFull).
/// * Columns overflow to infinity or NaN: their pivots are broken, or Ainv refuses the factors. NaN
///   equals NaN when versions are compared, so that the iteration ends.

#include "Ainvil_Ainv.hpp"
#include "ainv/Ainvil_FactorStorage.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "graph/Ainvil_LevelSets.hpp"

#include <functional>
#include <type_traits>
#include <utility>

namespace ainvil {

namespace detail {

/// The order in which columns are computed. The result does not depend on it.
enum class ColumnSchedule {
  Device,   ///< Worklist on GPUs, Chunks on hosts
  Worklist, ///< independent columns, those whose dependencies have changed
  Chunks    ///< consecutive columns by one thread, for hosts
};

struct InverseFactorsParameters {
  bool stabilized = true;                  ///< SAINV or AINV
  bool symmetric = true;                   ///< Z only, or Z and W
  DropRule drop_rule = DropRule::Absolute; ///< not Auto
  double drop = 0.1;
  int max_column = 0; ///< 0: any number of entries
  /// Fail ends the rounds as soon as one pivot is certain to stay bad: the factors are of no use
  /// then, and breakdowns may be too few.
  BreakdownPolicy breakdown = BreakdownPolicy::Fail;
  double shift = 1e-3;
  double pivot_tolerance = 0; ///< not symmetric: relative to the largest entry of the row of A
  Offset max_entries = 0;     ///< of Z and W together, at which the rounds end; 0: any number
  ColumnSchedule schedule = ColumnSchedule::Device;
  /// With so many levels and more, and any number of columns a level, the first rounds are by
  /// levels; 0: where that is faster.
  int fewest_levels = 0;
};

/// Called with the number of columns that are complete; empty if nobody wants to know.
using ColumnProgress = std::function<void(Offset)>;

/// What is told of Z, W and D after a compute(), of points or of blocks.
struct InverseFactorsResult {
  Ordinal breakdowns = 0;       ///< pivots replaced
  Ordinal first_breakdown = -1; ///< their first column, or -1
  bool is_too_full = false;     ///< ended because of max_entries: the columns are not complete
  Offset entries = 0;           ///< scalars of Z and W together
};

/// Z, W and D of Ainv for a matrix in its elimination order; see the top of this file.
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
  /// the columns it has. For `progress` a column is complete while it is not pending. Waits.
  void compute(const execution_space& exec, const Matrix& a, const Matrix& transposed,
               const ColumnProgress& progress = {});

  Ordinal numColumns() const { return n_; }
  /// The columns of Z; those of W, which are Z's if symmetric.
  const SparseColumns<Scalar, Device>& z() const { return storage_.sides[0].columns; }
  const SparseColumns<Scalar, Device>& w() const {
    return storage_.sides[storage_.num_sides - 1].columns;
  }
  /// state().current(j) is the version of column j that counts.
  const ColumnState<Scalar, Device>& state() const { return storage_.state; }

  const InverseFactorsResult& result() const { return result_; } ///< of the last compute()
  int rounds() const { return rounds_; }                         ///< of the last compute()
  int roundsByLevels() const { return rounds_by_levels_; }       ///< of these; a part counts
  Offset columnsComputed() const; ///< in the last compute(), over all rounds

private:
  template <class S, class D>
  friend class ConjugationRounds;

  /// The fewest and the most levels with which the first rounds are by levels.
  std::pair<int, int> boundsOfLevels(const execution_space& exec) const;
  /// Columns to begin with, once.
  void makeFirstColumns(const execution_space& exec, const Matrix& a, const Matrix& transposed);

  InverseFactorsParameters parameters_;
  Ordinal n_ = 0;
  bool by_worklist_ = false;
  FactorStorage<Scalar, Device> storage_;
  LevelSets<Device> levels_;                          ///< of the last round by levels; none before
  Kokkos::View<unsigned*, Device> computed_of_level_; ///< see LevelGate
  /// Of teams: in the order in which they start where columns may wait for each other.
  std::conditional_t<compat::TeamsMayWait<execution_space>::value, Tickets<Device>, PlacesByRank>
      places_;
  Kokkos::View<Offset*, HostDevice> size_begins_; ///< in the batch, by table size
  Kokkos::View<Scalar*, Device> row_sizes_;       ///< max_k |a_jk|; empty if symmetric
  Kokkos::View<Scalar*, Device> scales_; ///< sqrt |a_kk|, 1 for 0; empty: absolute dropping
  Ordinal largest_table_ = 0;            ///< of the last round
  int rounds_ = 0, rounds_by_levels_ = 0;
  Offset num_batched_ = 0; ///< columns of all batches, those included that could not be computed
  InverseFactorsResult result_;
};

} // namespace detail
} // namespace ainvil
