// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The triangular strategies: ways to apply the inverse of a triangular factor.

#include "Ainvil_Preconditioner.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"
#include "triangular/Ainvil_TriangularProbes.hpp"

#include <functional>
#include <type_traits>
#include <utility>

namespace ainvil {

/// y = op(T)^-1 x, exactly or approximately, for a triangular factor T. The three verbs as in
/// Preconditioner; shapes have been checked by the caller. Neither copied nor moved, as these.
template <class Scalar, class Device>
class TriangularSolver {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;
  using Factor = TriangularFactor<Scalar, Device>; ///< T

  TriangularSolver(const TriangularSolver&) = delete;
  TriangularSolver& operator=(const TriangularSolver&) = delete;
  virtual ~TriangularSolver() = default;

  /// Name and parameters in one line, for descriptions: "isai, power: 2".
  virtual std::string description() const = 0;

  /// To be called before initialize() by who asks for op(T)^-1 as often as for T^-1. A strategy
  /// that would need atomics for it, or more launches or time than the other takes, may keep a
  /// transposed copy of what it applies. Does nothing by default.
  virtual void keepTransposed() {}

  /// Symbolic phase: the graph of T. `prefix` ("lower_", "upper_") names its phases in the report.
  /// \throws InvalidArgument if a pattern of the user does not fit T; OutOfMemory.
  virtual void initialize(const execution_space& exec, const Factor& factor,
                          const std::string& prefix, Report& report) = 0;
  /// Numeric phase: the values of T. \throws BreakdownError, under every policy, if what is to be
  /// applied overflows; InvalidArgument if it does in the precision that it is stored in.
  virtual void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
                       Report& report) = 0;
  /// Whether fit() is to be called after each compute(): until then apply() must not be.
  virtual bool takesProbes() const { return false; }
  /// Chooses by these right-hand sides how T^-1 is applied from now on. Waits. \throws as compute()
  virtual void fit(const execution_space& /* exec */, const Factor& /* factor */,
                   const TriangularProbes<Scalar, Device>& /* probes */,
                   const std::string& /* prefix */, Report& /* report */) {}
  /// Notes in the report what compute() does without: see Preconditioner::diagnose().
  virtual void diagnose(const execution_space& /* exec */, const Factor& /* factor */,
                        const std::string& /* prefix */, Report& /* report */) const {}
  /// y = op(T)^-1 x; x and y must not overlap. Asynchronous.
  virtual void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                     MultiVectorArg<Scalar, Device> y, Trans trans) const = 0;

  /// y = T^-T D^-1 T^-1 x, where `d_inverse` has the diagonal blocks of D^-1 one after the other;
  /// `work` has the shape of x, and none of the three overlap. Asynchronous. By default that is two
  /// calls of apply() and a product.
  virtual void applySymmetric(const execution_space& exec,
                              const Kokkos::View<Scalar*, Device>& d_inverse, int block_size,
                              MultiVectorArg<const Scalar, Device> x,
                              MultiVectorArg<Scalar, Device> work,
                              MultiVectorArg<Scalar, Device> y) const {
    apply(exec, x, y, Trans::No);
    blockDiagonalProduct<Scalar, Scalar, Device>(exec, Trans::No, Scalar(1), d_inverse, block_size,
                                                 y, Scalar(0), work);
    apply(exec, work, y, Trans::Yes);
  }

  /// As in LinearOperator.
  virtual bool isFixed() const { return true; }
  virtual Offset entries() const = 0; ///< scalar entries applied, diagonal included
  virtual Offset bytes() const = 0;   ///< bytes read by one application

protected:
  TriangularSolver() = default;
};

/// What holds a strategy.
template <class Scalar, class Device>
using TriangularSolverPtr = std::unique_ptr<TriangularSolver<Scalar, Device>>;

/// Makes a strategy that stores what it applies in a given precision. Parameters convert to it, and
/// so does a function of yours:
///
///     maker = IsaiParameters<Device>();
///     maker = [](Storage) { return std::make_unique<Mine<double, Device>>(); };
template <class Scalar, class Device>
class TriangularSolverMaker {
  using Ptr = TriangularSolverPtr<Scalar, Device>;

public:
  TriangularSolverMaker() = default; ///< makes none
  /// A function that returns what holds a strategy.
  template <class Function,
            std::enable_if_t<std::is_invocable_r<Ptr, Function&, Storage>::value, int> = 0>
  TriangularSolverMaker(Function function) : make_(std::move(function)) {}
  /// Parameters with such a function makeSolver<Scalar, Device>(storage).
  template <class Parameters, class = decltype(std::declval<const Parameters&>()
                                                   .template makeSolver<Scalar, Device>(Storage()))>
  TriangularSolverMaker(const Parameters& parameters)
      : make_([parameters](Storage storage) {
          return parameters.template makeSolver<Scalar, Device>(storage);
        }) {}

  /// The strategy, null without a function. \throws InvalidArgument for parameters out of range.
  Ptr operator()(Storage storage) const { return make_ ? make_(storage) : nullptr; }

private:
  std::function<Ptr(Storage)> make_;
};

namespace detail {

/// The strategy with what it applies in that precision.
template <template <class, class, class> class Class, class Scalar, class Device, class Struct>
TriangularSolverPtr<Scalar, Device> makeStored(const Struct& parameters, Storage storage) {
  switch (storage) {
  case Storage::Float:
    return std::make_unique<Class<float, Scalar, Device>>(parameters);
  case Storage::BFloat16:
    return std::make_unique<Class<BFloat16, Scalar, Device>>(parameters);
  default:
    return std::make_unique<Class<Scalar, Scalar, Device>>(parameters);
  }
}

} // namespace detail
} // namespace ainvil
