// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Triangular solves by substitution.

#include "graph/Ainvil_OrderedRows.hpp"
#include "triangular/Ainvil_TriangularOptions.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

namespace ainvil {

/// y = op(T)^-1 x by substitution. On CUDA one launch, in which rows wait for the numbers that
/// others write; in the transposed solve, which adds by atomics, for counters. On HIP a launch a
/// level set. On hosts threads share groups of rows and wait for each other, or one thread takes
/// the rows in the order of memory where more promise no gain, and always in the transposed solve.
/// With keepTransposed() a unit factor that is not solved by one thread has a transposed copy,
/// which takes its memory again and is solved as T is. Any number of columns. `Stored` is the
/// precision of the values, arithmetic is in Scalar. Source: Anderson and Saad (1989); one launch:
/// Liu, Li, Hogg, Duff, Vinter (2016); the threads: Park, Smelyanskiy, Sundaram, Dubey (2014).
template <class Stored, class Scalar, class Device>
class ExactTriangularSolver final : public TriangularSolver<Scalar, Device> {
public:
  using Base = TriangularSolver<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;

  /// The parameters only choose the strategy.
  explicit ExactTriangularSolver(const ExactParameters& = {}) {}

  std::string description() const override { return "exact"; }
  void keepTransposed() override { keep_transposed_ = true; }
  void initialize(const execution_space& exec, const Factor& factor, const std::string& prefix,
                  Report& report) override;
  void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
               Report& report) override;
  void diagnose(const execution_space& exec, const Factor& factor, const std::string& prefix,
                Report& report) const override;
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans) const override;
  /// One thread goes down T and up again, D^-1 is applied on the way.
  void applySymmetric(const execution_space& exec, const Kokkos::View<Scalar*, Device>& d_inverse,
                      int block_size, MultiVectorArg<const Scalar, Device> x,
                      MultiVectorArg<Scalar, Device> work,
                      MultiVectorArg<Scalar, Device> y) const override;
  Offset entries() const override;
  Offset bytes() const override;

private:
  /// What is solved with, T or T^T.
  struct Solve {
    TriangularFactor<Stored, Device> factor;
    OrderedRows<Device> order;
    Ordinal longest_row = 0;
  };
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  /// `known` and `signals` as in OrderedRows.
  static void findOrder(const execution_space& exec, Solve& solve,
                        const typename OrderedRows<Device>::OrderPtr& known, RowSignals signals);
  bool hasTransposed() const { return transposed_.factor.matrix.graph.row_map.extent(0) > 0; }
  void solve(const execution_space& exec, const Solve& solve,
             MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y) const;

  bool keep_transposed_ = false;
  Solve plain_;                                           ///< T as given, or its rounded values
  Solve transposed_;                                      ///< a copy of T^T, or nothing
  Kokkos::View<const Offset*, Device> transposed_source_; ///< of its blocks in T
};

} // namespace ainvil
