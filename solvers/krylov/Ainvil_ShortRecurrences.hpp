// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The iteration of the methods whose vectors follow from few before them: CG and BiCGStab.

#include "krylov/Ainvil_DeviceRecurrence.hpp"
#include "krylov/Ainvil_KrylovSolver.hpp"

namespace ainvil {

/// What CG and BiCGStab share: scalars and stopping test on the device, and an iteration in two
/// parts. open() multiplies with A and M and takes inner products, close() updates all vectors. The
/// residual norm that ends an iteration is summed up in close(), or with SolverOptions::reductions
/// = Fewest or Pipelined together with the inner products of the next open():
///     Usual:   open, close + norm,  open, close + norm,  ...
///     Fewest:  open,  close, norm + open,  close, norm + open,  ...
/// A method has these two, what comes before the first, and the meaning of its breakdowns.
template <class Scalar, class Device>
class ShortRecurrences : public KrylovSolver<Scalar, Device> {
  using Base = KrylovSolver<Scalar, Device>;

public:
  using typename Base::execution_space;

protected:
  using typename Base::Columns;
  using typename Base::Stop;
  using typename Base::System;
  using Vectors = MultiVector<Scalar, Device>; ///< as many as there may be columns

  /// Whether a part of an iteration takes the residual norm.
  enum class TakesNorm { No, Yes };
  /// Calls f(is_taken) with std::true_type or std::false_type.
  template <class F>
  static void choose(TakesNorm norm, const F& f) {
    if (norm == TakesNorm::Yes)
      f(std::true_type());
    else
      f(std::false_type());
  }

  /// `label` begins those of kernels and vectors; `num_sums` is the most that a kernel takes of a
  /// column; the others are those of KrylovSolver. \throws InvalidArgument if an option is out of
  /// range.
  ShortRecurrences(SolverOptions options, const char* name, const char* label, int num_sums,
                   const char* why_fixed = nullptr);

  /// Allocates the vectors of the method by vectors().
  virtual void allocateVectors(const execution_space& exec, Offset n, bool preconditioned) = 0;
  /// Of n rows, for as many columns as the workspace is for.
  Vectors vectors(const execution_space& exec, const char* name, Offset n) const;

  /// Before the first iteration, with all scalars 0.
  virtual void begin(const System&, const Columns&) {}
  /// The products of an iteration and its first inner products. With the norm: ends the iteration
  /// before, whose number since the host's last look is `slot`; a negative one is of none.
  virtual void open(const System& system, const Columns& columns, int slot, TakesNorm norm) = 0;
  /// The rest of the iteration. With the norm: ends it.
  virtual void close(const System& system, const Columns& columns, int slot, TakesNorm norm) = 0;
  /// What is the matter where the device has stopped by itself; `stop` is one of FirstBreakdown and
  /// up. No reason if the method may start again.
  virtual Stop breakdown(int stop) const = 0;

  detail::PartialSums<Device> sums_;            ///< of the kernels that take sums
  detail::DeviceRecurrence<Device> recurrence_; ///< scalars of the columns, on the device

private:
  void allocate(const execution_space& exec, Offset n, bool preconditioned) final;
  void run(const System& system, const Columns& columns, SolveResult* results, Stop* stops) final;

  std::string label_;
  int num_sums_;
};

} // namespace ainvil
