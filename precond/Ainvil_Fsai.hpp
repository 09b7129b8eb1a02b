// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Factored sparse approximate inverses of symmetric positive definite matrices.

#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Preconditioner.hpp"
#include "fsai/Ainvil_FsaiRowSolver.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {

/// Growth of the pattern of G, row by row, by the gradient of the Kaporin conditioning number.
struct FsaiAdaptive {
  int steps = 0;    ///< at most so many; 0: the pattern is static
  int per_step = 4; ///< blocks a row takes in a step
  /// A row stops after a step that left more than (1 - tolerance) of its psi_i, see Fsai; 0: none
  /// stops for that.
  double tolerance = 0.01;
  int power = 0; ///< rows start from this power of A~ in place of FsaiOptions::power
};

/// Pattern, filter and storage of G, but for arrays in memory.
struct FsaiOptions {
  /// Pattern: sparsified A~ of the blocks with ||A_ij|| > tau sqrt(||A_ii|| ||A_jj||); then `power`
  /// steps of B <- Low(B A~) from the identity. With max_row > 0 each step keeps that many blocks a
  /// row, those where the product of the scaled norms ||A_ij|| / sqrt(||A_ii|| ||A_jj||) is
  /// largest.
  double tau = 0.01;
  int power = 2;   ///< steps
  int max_row = 0; ///< blocks a row, its diagonal one included; 0: any number
  /// With steps > 0 rows start from the power of A~ that it names, or from the user's pattern, and
  /// grow up to max_row blocks.
  FsaiAdaptive adaptive;
  /// Post-filter: blocks of G with ||G_ij|| < filter ||G_i|| are dropped and the row is scaled so
  /// that diag(G A G^T) = I holds again. 0: none.
  double filter = 0.05;
  Storage storage = Storage::Native;                 ///< of G and G^T
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for local systems that are not SPD
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift
  /// Memory for those local systems that do not fit fast memory; rows are worked on in chunks of
  /// this size. One system is always allowed for.
  Offset chunk_bytes = Offset(256) << 20;

  /// The keys that name them; the words of `storage` depend on the precision of the vectors.
  static const ParameterTable<FsaiOptions>& table(VectorPrecision vectors);
};

/// All of Fsai.
template <class Device>
struct FsaiParameters : FsaiOptions {
  FsaiParameters() = default;
  /// With the pattern that tau and power make, and all rows wanted.
  FsaiParameters(const FsaiOptions& options) : FsaiOptions(options) {}

  /// Pattern given by the user instead, in block rows. Must be lower triangular; the diagonal may
  /// be present or not.
  Graph<Device> pattern;
  /// Rows of G that are wanted: where there is a 0, row i of G becomes the diagonal block alone.
  /// Empty: all are. For a matrix that is part of a larger one, rows at its edge cannot be right.
  Kokkos::View<const char*, Device> wanted;
  /// Without, G alone is made, for whoever applies it in another way, and apply() throws.
  bool applied = true;
};

/// M^-1 = G^T G with G lower triangular on a given pattern, minimising || I - G L ||_F over it,
/// where L L^T = A (L is never formed), scaled to diag(G A G^T) = I. Block row i with pattern P is
///   G_i = last block row of C^-1,  C C^T = A[P, P],
/// so every row is an independent dense Cholesky factorisation of size |P| b, b the block size: the
/// rows go through BatchedCholesky, which gathers A[P, P] by merging rows of A with P where it
/// factors them. For block size 1 this is FSAI; for larger blocks, block FSAI with lower triangular
/// diagonal blocks. CG with it cannot break down if A is SPD: G^T G is SPD whatever was dropped.
///
/// Adaptive patterns: the Kaporin number of G A G^T, mean eigenvalue to its power over determinant,
/// is the product of all psi_i^b over det(A), where
///   psi_i^b = det(G~_i A G~_i^T) = det(G_ii)^-2,  G~_i = G_ii^-1 G_i.
/// Each step gives block row i the k < i outside of P that promise the largest relative decrease,
///   || (G A)_ik C_k^-T ||_F^2,  C_k C_k^T = A_kk,
/// among the neighbours in A~ of P, and the row is solved again. For block size 1 that is
/// (d psi_i / d g~_ik)^2 / (4 a_kk psi_i), exactly what the best g~_ik alone brings. No block
/// diagonal scaling of A alters the choice.
///
/// The pattern is that of the values initialize() sees. compute() solves for G, drops its small
/// blocks anew, and forms G^T; where other blocks survive the filter than before it transposes what
/// is left of the pattern. Without filter that is done once. compute() allocates memory only when
/// more blocks survive than before, by at least a tenth, for other long rows (LongRows) of G or
/// G^T, or on GPUs to shift the rows that break down.
///
/// Where one thread of a host does all, there is no G^T: an application takes each row of G twice,
/// for its product with x and for what that adds to the result, and reads G once.
///
/// Breakdown: a local system that is not SPD (A is not, or rounding) is counted. `fail` throws;
/// `shift` tries again with (1 + shift) times its diagonal; `replace`, or if that fails too, takes
/// the pivot block of the row alone, or the identity.
///
/// Cost: sum over rows of (|P| b)^3 / 3, in every adaptive step too. Memory: G before the filter, G
/// and G^T after it, chunk_bytes; without filter G and G^T; G^T as said above.
///
/// Sources: Kolotilina, Yeremin, Factorized sparse approximate inverse preconditionings I (1993);
/// Janna, Ferronato, Gambolati, The use of supernodes in factored sparse approximate inverse
/// preconditioning (2015); pattern, filter and GPU setting: Bernaschi, Bisson, Fantozzi, Janna
/// (2016); adaptive patterns: Janna, Ferronato, Adaptive pattern research for block FSAI
/// preconditioning (2011); Janna, Ferronato, Sartoretto, Gambolati, FSAIPACK (2015).
template <class Scalar, class Device>
class Fsai final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  using Parameters = FsaiParameters<Device>; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<FsaiOptions>& parameterTable() {
    return FsaiOptions::table(precisionOf<Scalar>());
  }

  /// \throws InvalidArgument for parameters out of range.
  explicit Fsai(const FsaiParameters<Device>& parameters);

  std::string description() const override;

  const SparseOperator<Scalar, Device>& factor() const { return g_; } ///< G
  /// G^T; no matrix where there is one thread of a host, which needs none, or G alone is made.
  const SparseOperator<Scalar, Device>& transposedFactor() const { return gt_; }
  /// Graphs that G has had since the object was made: who has copied one takes the next where this
  /// has grown.
  int numGraphs() const { return num_graphs_; }
  /// Blocks of G before the post-filter.
  Offset patternEntries() const { return pattern_.numEntries(); }

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  /// Graph and values of G or G^T; the arrays are kept, and enlarged where they are too short.
  struct Factor {
    Graph<Device> graph;
    detail::ProductPlan<Device> plan;
    Kokkos::View<Offset*, Device> row_map;
    Kokkos::View<Ordinal*, Device> entries;
    StoredValues<Scalar, Device> values;
  };

  bool isFiltered() const { return parameters_.filter > 0; }
  Graph<Device> makePattern(const execution_space& exec, const Matrix& a, bool has_diagonal) const;
  void solveRows(const execution_space& exec, const Matrix& a);
  void solveShifted(const execution_space& exec, const Matrix& a,
                    const std::function<void(Offset)>& progress);
  void filterRows(const execution_space& exec, const Matrix& a);
  void setGraph(const execution_space& exec, const Graph<Device>& graph);
  void transposeGraph(const execution_space& exec);
  void writeFactor(const execution_space& exec, Offset entries, bool comparable);
  void transposeFactor(const execution_space& exec);
  void applyInOnePass(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                      MultiVectorArg<Scalar, Device> y) const;
  detail::ProductPlan<Device> planFor(const execution_space& exec,
                                      const Graph<Device>& graph) const;
  SparseOperator<Scalar, Device> stored(const execution_space& exec, const Factor& factor) const;

  FsaiParameters<Device> parameters_;
  int block_size_ = 1;
  bool keeps_transposed_ = true; ///< G is applied, by more than one thread
  int num_graphs_ = 0;
  Graph<Device> pattern_;                ///< of G before the filter
  Kokkos::View<Scalar*, Device> values_; ///< of G; what the filter drops becomes zero
  detail::FsaiRowSolver<Scalar, Device> solver_;
  Kokkos::View<int*, Device> info_;
  Kokkos::View<Offset*, Device> symmetry_room_; ///< of requireSymmetric()
  Factor g_arrays_, gt_arrays_;
  Kokkos::View<Offset*, Device> next_row_map_; ///< of G after the filter, until it is compared
  Kokkos::View<int*, Device> changed_;         ///< a single flag
  SparseOperator<Scalar, Device> g_, gt_;
  mutable MultiVector<Scalar, Device> intermediate_;
};

} // namespace ainvil
