// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Factored approximate inverses by incomplete (bi)conjugation: AINV, SAINV and BAINV.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_Preconditioner.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {

/// What an entry z_kj is compared with when it is dropped.
enum class DropRule {
  Auto,     ///< Relative if symmetric, Absolute if not
  Absolute, ///< the tolerance
  Relative  ///< tolerance x sqrt(|a_jj / a_kk|): as if A had been scaled to a unit diagonal before
};

/// Variant, dropping and order of Ainv.
struct AinvParameters {
  bool stabilized = true; ///< SAINV, which cannot break down on SPD matrices, or AINV
  /// One factor Z for a symmetric matrix. Without, Z and W by biconjugation, for any matrix.
  bool symmetric = true;
  DropRule drop_rule = DropRule::Auto; ///< what entries are compared with when they are dropped
  double drop = 0.1;                   ///< drop tolerance; 0: nothing is dropped
  int max_column = 0; ///< at most so many entries a column, the diagonal included; 0: any number
  /// compute() throws BreakdownError once Z and W have more entries than so many times those of A,
  /// and more than a million; 0: never. Counted while columns are computed: those that several
  /// threads compute more than once may be some per cent longer on the way.
  double max_fill = 20;
  Ordering order = Ordering::Natural; ///< elimination order
  /// A matrix in blocks has block columns, see detail::BlockInverseFactors; else it is taken apart.
  bool blocks = false;
  /// BAINV: METIS divides the graph into so many parts, and entries of A between parts are left
  /// out. 1: none are.
  int parts = 1;
  Storage storage = Storage::Native;                 ///< of the factors
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for pivots that are not positive
  double shift = 1e-3; ///< pivot that BreakdownPolicy::Shift takes, relative to |a_jj|
  /// Without `symmetric` a pivot counts as zero at so many eps times the largest entry of its row
  /// of A.
  double pivot_tolerance = 10;

  /// The keys that name them; the words of `storage` depend on the precision of the vectors.
  static const ParameterTable<AinvParameters>& table(VectorPrecision vectors);
};

/// The rule that is meant: what DropRule::Auto stands for.
DropRule dropRule(const AinvParameters& parameters);

namespace detail {

template <class Scalar, class Device>
class InverseFactors;
template <class Scalar, class Device>
class BlockAinv;
struct InverseFactorsResult;

/// The arrays of a factor, kept from compute to compute and as long as the longest so far.
template <class Scalar, class Device>
struct AinvArrays {
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<Scalar*, Device> values;

  void reserveRows(const typename Device::execution_space& exec, Ordinal rows) {
    reserve(exec, "Ainvil::row_map", row_map, Offset(rows) + 1);
  }
  /// And a tenth more, so that factors that grow a little take no new memory.
  void reserveBlocks(const typename Device::execution_space& exec, Offset blocks, Offset scalars) {
    reserve(exec, "Ainvil::entries", entries, blocks, blocks / 10);
    reserve(exec, "Ainvil::values", values, scalars, scalars / 10);
  }
};

} // namespace detail

/// M^-1 = Z D^-1 W^T with Z and W unit upper triangular (in the elimination order) and
/// W^T A Z = D + what was dropped; W = Z if A is symmetric. The columns follow
///   z_j = e_j;  for i = 1 .. j - 1:  z_j -= (p_ij / d_i) z_i,  then entries |z_kj| < drop, k != j,
///                                    are dropped,
/// where p_ij = w_i^T A z_j and d_i = w_i^T A z_i in SAINV, p_ij = a_i^T z_j and d_i = a_i^T z_i,
/// a_i^T being row i of A, in AINV; likewise w_j with A^T. The factor is that of the sequential
/// algorithm in the elimination order, to the last dropped entry, however many columns are worked
/// on at a time: see detail::InverseFactors. It is stored in the numbering of A.
///
/// Breakdown: a pivot d_j that is not positive (zero to rounding, if not symmetric: a difference of
/// nearly equal numbers without a correct digit) or not finite is counted.
/// `fail` throws, as soon as one pivot is certain to stay bad, because columns behind it may grow
/// without bounds; `shift` takes shift |a_jj| in its place, `replace` |a_jj|, both with 1 for
/// |a_jj| = 0.
///
/// Blocks are taken apart: the algorithm works on scalar entries. With AinvParameters::blocks it
/// works on block columns, and the factors are stored in blocks: detail::BlockInverseFactors has
/// the formulas, norms and pivots. They are computed by one thread of the host, from the identity
/// at every compute(), with memory of the host for two dense block columns, and applied on the
/// device.
///
/// The elimination order and the parts are found on the host by initialize(). compute() starts from
/// the columns it found last. How many entries the factors have follows the values, so that compute
/// allocates where they become a tenth longer than ever before, and for the few rows that are much
/// longer than the mean; where it takes columns by levels, 12 bytes a row for these, and up to 32
/// an entry of A while it finds them, again where they have not served; and columns of 16 bits
/// where products read these. The second compute needs room for its columns beside those of the
/// first: with the same values, the third one and those after it allocate nothing else.
///
/// Sources: Benzi, Meyer, Tuma (1996), AINV; Benzi, Tuma (1998), the nonsymmetric case; Benzi,
/// Cullum, Tuma (2000), SAINV; Benzi, Kouhia, Tuma (2001), blocks; orderings: Benzi, Tuma (2000).
template <class Scalar, class Device>
class Ainv final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  using Parameters = AinvParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() {
    return Parameters::table(precisionOf<Scalar>());
  }

  /// \throws InvalidArgument for parameters out of range.
  explicit Ainv(const AinvParameters& parameters);
  ~Ainv() override;

  std::string description() const override;

  /// The columns z_j, w_j and pivots d_j, in the elimination order: ainv/Ainvil_InverseFactors.hpp.
  const detail::InverseFactors<Scalar, Device>& factors() const { return *factors_; }
  /// Those of block columns, in place of them; null without.
  const detail::BlockAinv<Scalar, Device>* blockFactors() const { return block_factors_.get(); }
  // What apply() multiplies with, M^-1 = left right, in the numbering of A.
  const SparseOperator<Scalar, Device>& left() const { return left_; }   ///< Z D^-1/2, or Z
  const SparseOperator<Scalar, Device>& right() const { return right_; } ///< left^T, or D^-1 W^T
  /// Elimination order of the point rows, of block columns that of the block rows.
  const Permutation<Device>& order() const { return order_; }
  Offset edgeCut() const { return edge_cut_; }          ///< pairs of rows that BAINV separates
  Ordinal largestPart() const { return largest_part_; } ///< rows in BAINV's largest part

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  Matrix orderedMatrix() const;
  Matrix transposedMatrix() const;
  detail::InverseFactorsResult findColumns(const execution_space& exec, const Matrix& a);
  void requireComplete(const detail::InverseFactorsResult& found);
  void assemble(const execution_space& exec);

  AinvParameters parameters_;
  Permutation<Device> order_;
  Graph<Device> graph_; ///< of A in the elimination order, without what BAINV leaves out
  Kokkos::View<const Offset*, Device> source_; ///< of its entries in A
  PermutedGraph<Device> transposed_;           ///< of graph_; empty if symmetric
  Kokkos::View<Scalar*, Device> values_, transposed_values_;
  std::unique_ptr<detail::InverseFactors<Scalar, Device>> factors_;
  std::unique_ptr<detail::BlockAinv<Scalar, Device>> block_factors_; ///< null: of points
  int block_size_ = 1;                                               ///< of the factors
  Kokkos::View<Offset*, Device> places_;                             ///< to sort and transpose with
  detail::AinvArrays<Scalar, Device> left_arrays_, right_arrays_, z_arrays_;
  SparseOperator<Scalar, Device> left_;  ///< Z D^-1/2, or Z
  SparseOperator<Scalar, Device> right_; ///< D^-1/2 Z^T, or D^-1 W^T
  Offset edge_cut_ = 0;
  Ordinal largest_part_ = 0;
  Kokkos::View<Offset*, Device> symmetry_room_; ///< of requireSymmetric()
  mutable MultiVector<Scalar, Device> intermediate_;
};

} // namespace ainvil
