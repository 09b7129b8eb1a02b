// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Incomplete factorisations: what gives the triangular factors that Ilu applies the inverses of.

#include "Ainvil_Preconditioner.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

#include <functional>
#include <type_traits>
#include <utility>

namespace ainvil {

namespace detail {

/// What SetupProgress is told where patterns of factors are found.
constexpr const char* rows_of_pattern = "rows of the pattern";

} // namespace detail

/// A ~ L U with triangular factors in the shapes of TriangularFactor. The verbs as in
/// Preconditioner, which has checked the matrix and sorted its rows. Neither copied nor moved.
template <class Scalar, class Device>
class Factorization {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;        ///< A
  using Factor = TriangularFactor<Scalar, Device>; ///< L or U

  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;
  virtual ~Factorization() = default;

  /// The parameters in one line, for descriptions: "level: 1".
  virtual std::string description() const = 0;

  /// Symbolic phase, on the graph of A: afterwards lower() and upper() have their patterns, unless
  /// these follow the values. Records its phases in `report`.
  virtual void initialize(const execution_space& exec, const Matrix& a, Report& report) = 0;

  /// Whether the patterns of the factors depend on the values of A: before each compute() somebody
  /// then has to call findPattern(). Never changes.
  virtual bool followsValues() const { return false; }
  /// The patterns of the factors for these values. With `may_keep` those of the last call may stay;
  /// without it nothing of earlier calls does. Returns whether lower() and upper() have new arrays:
  /// what applies them is then to be initialized again. Records its phases in `report`.
  virtual bool findPattern(const execution_space& /* exec */, const Matrix& /* a */,
                           bool /* may_keep */, Report& /* report */) {
    return false;
  }

  /// From now on initialize() and findPattern() tell `progress`, if it is not empty then, where
  /// they may take long, as Preconditioner::setProgress() has it. It has to live as long as this
  /// object.
  void followProgress(const SetupProgress& progress) { progress_ = &progress; }

  /// Numeric phase, for a matrix of the same graph: the values of the factors, in the arrays that
  /// initialize() or findPattern() allocated. Counts breakdowns in `report`. \throws BreakdownError
  /// under the policy `fail`, or if the factors overflow.
  virtual void compute(const execution_space& exec, const Matrix& a, Report& report) = 0;

  /// Whether compute() calls detail::requireFiniteMatrix() where it meets NaN or infinity in A, and
  /// looks at every value. Else Preconditioner takes a pass over them before.
  virtual bool refusesNonFinite() const { return false; }

  virtual const Factor& lower() const = 0; ///< L
  virtual const Factor& upper() const = 0; ///< U

  /// Notes in `report` what compute() does without: see Preconditioner::diagnose().
  virtual void diagnose(const execution_space& /* exec */, const Matrix& /* a */,
                        Report& /* report */) const {}

protected:
  Factorization() = default;

  /// For the rows of a pattern of A to call with how many are done; empty if nobody wants to know.
  std::function<void(Offset)> patternProgress(const Matrix& a) const {
    if (progress_ == nullptr)
      return {};
    return detail::progressOf(*progress_, detail::rows_of_pattern, a.numRows());
  }

private:
  const SetupProgress* progress_ = nullptr;
};

/// What holds a factorisation.
template <class Scalar, class Device>
using FactorizationPtr = std::unique_ptr<Factorization<Scalar, Device>>;

/// Makes a factorisation. Parameters convert to it, and so does a function of yours:
///
///     maker = IlutParameters();
///     maker = [] { return std::make_unique<Mine<double, Device>>(); };
template <class Scalar, class Device>
class FactorizationMaker {
  using Ptr = FactorizationPtr<Scalar, Device>;

public:
  FactorizationMaker() = default; ///< makes none
  /// A function that returns what holds a factorisation.
  template <class Function, std::enable_if_t<std::is_invocable_r<Ptr, Function&>::value, int> = 0>
  FactorizationMaker(Function function) : make_(std::move(function)) {}
  /// Parameters with such a function makeFactorization<Scalar, Device>().
  template <class Parameters, class = decltype(std::declval<const Parameters&>()
                                                   .template makeFactorization<Scalar, Device>())>
  FactorizationMaker(const Parameters& parameters)
      : make_([parameters] { return parameters.template makeFactorization<Scalar, Device>(); }) {}

  /// The factorisation, null without a function. \throws InvalidArgument for parameters out of
  /// range.
  Ptr operator()() const { return make_ ? make_() : nullptr; }

private:
  std::function<Ptr()> make_;
};

} // namespace ainvil
