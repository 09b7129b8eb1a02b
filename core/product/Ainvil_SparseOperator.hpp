// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A block sparse matrix, ready to be multiplied with.

#include "product/Ainvil_ProductPlan.hpp"
#include "product/Ainvil_Spmv.hpp"
#include "product/Ainvil_StoredValues.hpp"

#include <memory>

namespace ainvil {

/// A block sparse matrix A with what its products need: the graph, the values in the precision of
/// the vectors or in a shorter one, its long rows (LongRows), and the choice of the kernel, made
/// once for a graph. Sums are taken in the precision of the vectors.
///
/// Products are asynchronous. Any number of threads and instances may multiply with an operator at
/// the same time: the sums of long rows have a workspace for each, which is allocated where an
/// instance, or on hosts one more call at the same time, needs it first. Other products allocate
/// nothing. Work on a stream must be finished before the stream is destroyed. Copies share the
/// arrays, those of rounded values included, and the workspaces.
///
/// Up to detail::most_columns right-hand sides share one pass over the matrix. On hosts each has
/// the result that it has alone, bit by bit; on GPUs one alone may take another kernel
/// (detail::ProductKernel), which rounds in other places.
template <class Scalar, class Device>
class SparseOperator {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;
  using In = MultiVectorArg<const Scalar, Device>; ///< vectors that are read
  using Out = MultiVectorArg<Scalar, Device>;      ///< vectors that are written
  using Step = detail::Step<Scalar, Device>;       ///< w = delta x + epsilon w

  /// No matrix yet; its values are to be stored in the precision of the vectors.
  SparseOperator() : SparseOperator(Storage::Native) {}
  /// No matrix yet; its values are to be stored in that precision.
  explicit SparseOperator(Storage storage)
      : rounded_(noValues<Scalar, Device>(storage)), matrix_(make({}, 1, rounded_)) {}
  /// Shares the arrays of the matrix, whose values may be in any of the precisions. Waits for
  /// passes over the graph.
  template <class Stored>
  SparseOperator(const execution_space& exec, const BsrMatrix<Stored, Device>& a)
      : SparseOperator(a.graph, a.block_size,
                       Values(std::in_place_index<index(storageOf<Stored, Scalar>())>, a.values),
                       detail::planProducts(exec, a.graph, a.block_size, sizeof(Stored))) {}
  /// The same with the plan for the graph, where it is known; does not wait. Of the values as many
  /// are taken as the graph has.
  SparseOperator(const Graph<Device>& graph, int block_size,
                 const StoredValues<Scalar, Device>& values,
                 const detail::ProductPlan<Device>& plan)
      : rounded_(noValues<Scalar, Device>(static_cast<Storage>(values.index()))),
        matrix_(make(graph, block_size, values)), plan_(plan) {}

  /// The graph, complete, of the values that update() is going to bring. Plans its products and,
  /// but in native precision, makes room for the values; where that takes a new array for `spare`
  /// more of them. Waits for passes over the graph.
  void setGraph(const execution_space& exec, const Graph<Device>& graph, int block_size,
                Offset spare = 0);
  /// Takes the values of the graph's blocks: shares the array in native precision, else rounds
  /// them. Waits, but not in native precision. \throws InvalidArgument as checkRange()
  void update(const execution_space& exec, const Kokkos::View<Scalar*, Device>& values,
              bool full_rows = true);
  /// No matrix, but the array for rounded values is kept.
  void clear();
  /// For values that were written into the arrays of matrixIn(). Waits. \throws InvalidArgument if
  /// one has overflowed in the storage precision or, with `full_rows`, a whole row has fallen below
  /// its smallest normal number. Rows that hold a diagonal are full: the rest of a row may
  /// underflow without harm.
  void checkRange(const execution_space& exec, bool full_rows = true) const;

  /// From now on products with A^T go through the rows of a copy of it, as fast as those with A and
  /// with the same result in every run. Needs the graph; values come by updateTransposed(). Takes
  /// as much memory as A, and as much again for the set-up of the copy. Waits.
  void keepTransposed(const execution_space& exec);
  /// The copy of A^T follows the values of A. Asynchronous; nothing where no copy is kept.
  void updateTransposed(const execution_space& exec) const;
  /// Whether there is such a copy.
  bool keepsTransposed() const { return transposed_ != nullptr; }

  /// y = alpha op(A) x + beta y; beta = 0 overwrites y, NaN included; x and y must not overlap. The
  /// transposed product adds by atomics, so that its rounding depends on the schedule, unless
  /// keepTransposed() was called. \throws InvalidArgument if the shapes do not match.
  void multiply(const execution_space& exec, Trans trans, Scalar alpha, In x, Scalar beta,
                Out y) const;
  /// y = alpha op(A) x + beta u + gamma v in one pass over op(A) where its rows are stored, which
  /// is so for A and after keepTransposed(); else in one over u and v and the product. u and v may
  /// be y itself or uninitialised where their factor is 0; x must not overlap y. \throws
  /// InvalidArgument if the shapes do not match.
  void multiplyAdd(const execution_space& exec, Trans trans, Scalar alpha, In x, Scalar beta, In u,
                   Scalar gamma, In v, Out y) const;
  /// The same and w = delta x + epsilon w, which costs the pass over A one over w: x is at hand
  /// there. For square A.
  void multiplyAdd(const execution_space& exec, Trans trans, Scalar alpha, In x, Scalar beta, In u,
                   Scalar gamma, In v, Out y, const Step& step) const;
  /// y = alpha A x + beta u + gamma v for the long rows only; the other rows of y stay as they are.
  /// y may be x, u and v: a product then reads some rows of y before and others after they are
  /// written.
  void multiplyAddLongRows(const execution_space& exec, Scalar alpha, In x, Scalar beta, In u,
                           Scalar gamma, In v, Out y) const;

  const LongRows<Device>& longRows() const { return plan_.long_rows; }      ///< of the graph
  Storage storage() const { return static_cast<Storage>(matrix_.index()); } ///< precision of A

  /// Block rows.
  Ordinal numRows() const { return graph().num_rows; }
  Offset numPointRows() const { return Offset(graph().num_rows) * blockSize(); } ///< scalar rows
  Offset numPointCols() const { return Offset(graph().num_cols) * blockSize(); } ///< scalar columns
  /// Rows and columns of a block.
  int blockSize() const {
    return visit([](const auto& a) { return a.block_size; });
  }
  /// Stored values.
  Offset numScalars() const {
    return visit([](const auto& a) { return a.numScalars(); });
  }
  /// Bytes a product reads from the matrix.
  Offset bytes() const {
    constexpr Offset saved = sizeof(Ordinal) - sizeof(std::uint16_t);
    return visit([](const auto& a) { return a.bytes(); }) -
           (plan_.near.exist() ? saved * graph().numEntries() : 0);
  }
  /// Of the blocks.
  const Graph<Device>& graph() const {
    return visit([](const auto& a) -> const Graph<Device>& { return a.graph; });
  }
  /// f(matrix), whichever its precision.
  template <class F>
  decltype(auto) visit(const F& f) const {
    return std::visit(f, matrix_);
  }
  /// The matrix, whose values must be stored so.
  template <class Stored>
  const BsrMatrix<Stored, Device>& matrixIn() const {
    return std::get<index(storageOf<Stored, Scalar>())>(matrix_);
  }
  /// The matrix; its storage must be native.
  const BsrMatrix<Scalar, Device>& native() const { return matrixIn<Scalar>(); }

private:
  using Values = StoredValues<Scalar, Device>;
  using Matrix = std::variant<BsrMatrix<Scalar, Device>, BsrMatrix<float, Device>,
                              BsrMatrix<BFloat16, Device>>;

  static constexpr size_t index(Storage storage) { return static_cast<size_t>(storage); }
  static Matrix make(const Graph<Device>& graph, int block_size, const Values& values);

  Values rounded_; ///< room for rounded values, as long as the longest so far
  Matrix matrix_;
  detail::ProductPlan<Device> plan_;
  std::shared_ptr<const SparseOperator> transposed_;      ///< keepTransposed()
  Kokkos::View<const Offset*, Device> transposed_source_; ///< of its blocks in A
};

} // namespace ainvil
