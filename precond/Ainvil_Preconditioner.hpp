// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The interface of every method of the library.

#include "Ainvil_LinearOperator.hpp"
#include "backend/Ainvil_Profiling.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ainvil {

/// The keys of a method, see parameters/Ainvil_ParameterTable.hpp.
template <class Struct>
class ParameterTable;

/// What to do with a pivot block that cannot be inverted.
enum class BreakdownPolicy {
  Fail,    ///< throw BreakdownError
  Shift,   ///< add a small multiple of the block's largest entry to its diagonal
  Replace, ///< take a multiple of the identity instead
  ShiftAll ///< of `ilu`: factor A + alpha diag(A) in place of A, with a growing alpha
};

/// What a set-up cost and what came out of it.
struct Report {
  PhaseTimes phases;         ///< seconds of the last initialize and compute, by phase
  Offset factor_entries = 0; ///< scalar entries of the factors that are applied, diagonals included
  Offset factor_bytes = 0;   ///< bytes one application reads from them
  Offset breakdowns = 0;     ///< pivots shifted or replaced in the last compute
  Ordinal first_breakdown = -1; ///< index, from 0, of the first of their block rows
  std::string notes;            ///< anything else worth telling, one line
  std::string objection;        ///< why the last compute must not be applied; empty: nothing

  /// Appends to the notes.
  void note(const std::string& text) { notes += (notes.empty() ? "" : ", ") + text; }
};

/// Is told how far a phase of a set-up has come: what its steps are, "columns" for example, how
/// many are done, and how many there are.
using SetupProgress = std::function<void(const char* phase, Offset done, Offset total)>;

namespace detail {

/// For the steps of a phase to call with how many are done; empty if nobody wants to know. Keeps a
/// reference to `progress`.
inline std::function<void(Offset)> progressOf(const SetupProgress& progress, const char* phase,
                                              Offset total) {
  if (!progress)
    return {};
  return [&progress, phase, total](Offset done) { progress(phase, done, total); };
}

} // namespace detail

/// A preconditioner: apply() is a product with M^-1, an approximation of A^-1.
///
/// The verbs are those of Ifpack2. `initialize` looks at the pattern of A only and may be
/// expensive; `compute` looks at the values, may be called again and again for matrices of the same
/// pattern, and allocates nothing from its second call on; `apply` is asynchronous and allocates
/// nothing but, the first time it sees more columns than before, its workspace. Rows of A need not
/// be sorted: the permutation is found once and applied to the values at each compute. An object
/// has one workspace: no two threads or instances may apply it at the same time, const as apply()
/// is. It is neither copied nor moved.
///
/// Where a verb throws, OutOfMemory included, the object stays usable: after initialize it is not
/// initialized, after compute it is initialized and not computed, after apply it is as before, and
/// y holds anything. The verb may then be called again, for a smaller matrix or with more memory,
/// and gives what a new object gives. What an initialize had allocated when it failed is freed by
/// the next one or with the object.
template <class Scalar, class Device>
class Preconditioner : public LinearOperator<Scalar, Device> {
public:
  using typename LinearOperator<Scalar, Device>::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>; ///< A

  /// One line that names the method and its parameters.
  virtual std::string description() const = 0;

  /// Symbolic phase. \throws InvalidArgument if A is not square, has indices out of range, a column
  /// twice in a row, or breaks what the method asks of the pattern; OutOfMemory.
  void initialize(const execution_space& exec, const Matrix& a);
  /// The same on the default instance.
  void initialize(const Matrix& a) { initialize(execution_space(), a); }

  /// Numeric phase for a matrix of the pattern last initialized. Comparing the patterns takes a
  /// pass over them, unless the arrays are those that initialize saw. \throws InvalidArgument if
  /// the pattern differs or a value is not finite; BreakdownError under the policy `fail`, and
  /// under every policy if factors overflow; OutOfMemory.
  void compute(const execution_space& exec, const Matrix& a);
  /// The same on the default instance.
  void compute(const Matrix& a) { compute(execution_space(), a); }

  /// y = alpha op(M^-1) x + beta y; beta = 0 overwrites y, NaN included; x and y must not overlap.
  /// \throws InvalidArgument before compute, or if the shapes do not match; OutOfMemory if there is
  /// none for the workspace of more columns than before.
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans = Trans::No, Scalar alpha = 1,
             Scalar beta = 0) const final;
  /// The same for single vectors.
  void apply(const execution_space& exec, const Vector<const Scalar, Device>& x,
             const Vector<Scalar, Device>& y, Trans trans = Trans::No, Scalar alpha = 1,
             Scalar beta = 0) const {
    apply(exec, asColumn(x), asColumn(y), trans, alpha, beta);
  }
  /// Does not compile: multivectors are column-major.
  template <class... Arguments>
  detail::EnableIfRowMajor<Arguments...> apply(const execution_space&, const Arguments&...) const {
    static_assert(detail::RequireColumnMajor<Arguments...>::value, "");
  }

  /// Adds to the notes of the report what a set-up does without, because finding it takes passes of
  /// its own: level sets of exact solves, what sweeps of a factorisation leave. `a` is the matrix
  /// of the last compute(). Waits. \throws InvalidArgument before compute() or if the pattern
  /// differs; OutOfMemory.
  void diagnose(const execution_space& exec, const Matrix& a);
  /// The same on the default instance.
  void diagnose(const Matrix& a) { diagnose(execution_space(), a); }

  /// From now on initialize() and compute() call `progress` where they may take long: about a
  /// hundred times or more in large matrices, from the thread that called them, between two
  /// launches or two rows of the host. That is in
  ///  * "columns" of Ainv;
  ///  * "rows" of Spai and Fsai, on GPUs of Fsai seldom;
  ///  * "rows matched" of Ilu, before its patterns;
  ///  * "rows of the pattern" of Ilu and Ic: thresholds by either search, and fill of level 1 and
  ///    more, on GPUs in its end; of Fsai, where that grows in steps.
  /// `done` may fall where steps have to be done again. What `progress` throws ends the set-up, as
  /// any error does. A call between launches takes a wait, of Ainv also a pass over the columns; an
  /// empty function, the default, takes nothing.
  void setProgress(SetupProgress progress) { progress_ = std::move(progress); }

  bool isInitialized() const { return initialized_; } ///< there is a pattern
  bool isComputed() const { return computed_; }       ///< apply() may be called
  Offset numPointRows() const final { return Offset(num_rows_) * block_size_; }
  Offset numPointCols() const final { return numPointRows(); }
  const Report& report() const { return report_; } ///< of the last set-up
  std::string objection() const final { return report_.objection; }

protected:
  /// initialize() on a valid matrix with sorted rows.
  virtual void doInitialize(const execution_space& exec, const Matrix& a) = 0;
  /// Whether doCompute() calls detail::requireFiniteMatrix() where it meets NaN or infinity, and
  /// looks at every value of A. Else compute() takes a pass over them before.
  virtual bool refusesNonFinite() const { return false; }
  /// compute() on a matrix of the graph that doInitialize() had, with sorted rows.
  virtual void doCompute(const execution_space& exec, const Matrix& a) = 0;
  /// diagnose(), on the matrix of the last doCompute().
  virtual void doDiagnose(const execution_space& /* exec */, const Matrix& /* a */) {}
  /// y = op(M^-1) x, of matching shapes.
  virtual void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                       MultiVectorArg<Scalar, Device> y, Trans trans) const = 0;

  /// For the steps of a phase to call with how many are done; empty if nobody wants to know.
  std::function<void(Offset)> progressOf(const char* phase, Offset total) const {
    return detail::progressOf(progress_, phase, total);
  }
  /// What setProgress() was given, for the parts that a method consists of.
  const SetupProgress& progress() const { return progress_; }

  Report report_; ///< for the methods to write

private:
  /// Throws InvalidArgument unless initialize() saw the pattern of `a`; `verb` is what is called.
  void requireInitialized(const execution_space& exec, const char* verb, const Matrix& a) const;
  Matrix sorted(const execution_space& exec, const Matrix& a);

  SetupProgress progress_;
  bool initialized_ = false;
  bool computed_ = false;
  Ordinal num_rows_ = 0;
  int block_size_ = 1;
  Graph<Device> graph_; ///< as initialize saw it
  // Only where the rows of A are not sorted: its sorted graph, where the entries come from, values.
  Graph<Device> sorted_graph_;
  Kokkos::View<const Offset*, Device> sorted_source_;
  Kokkos::View<Scalar*, Device> sorted_values_;
  mutable MultiVector<Scalar, Device> workspace_;
};

/// What createPreconditioner() returns.
template <class Scalar, class Device>
using PreconditionerPtr = std::unique_ptr<Preconditioner<Scalar, Device>>;

namespace detail {

/// Columns of a multivector that is only ever enlarged: the workspace of apply functions.
template <class Scalar, class Device>
MultiVectorArg<Scalar, Device> workspaceOf(const typename Device::execution_space& exec,
                                           MultiVector<Scalar, Device>& storage, size_t rows,
                                           size_t columns) {
  if (storage.extent(0) != rows || storage.extent(1) < columns) {
    storage = {}; // frees memory first
    storage = allocateView<MultiVector<Scalar, Device>>(exec, "Ainvil::workspace", rows, columns);
  }
  return MultiVectorArg<Scalar, Device>(storage.data(), rows, columns);
}

} // namespace detail
} // namespace ainvil
