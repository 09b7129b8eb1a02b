// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A method, a factorisation and a triangular strategy as user code would write them, with what
/// users include only.

#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Registry.hpp"

#include <type_traits>

namespace own {

using namespace ainvil;

/// M^-1 = factor I.
struct ScalingParameters {
  double factor = 1;
  bool negative = false;
};

template <class Scalar, class Device>
class Scaling final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  explicit Scaling(const ScalingParameters& parameters) : parameters_(parameters) {
    if (parameters.factor > 100)
      throw InvalidArgument("the factor must be 100 at most");
  }
  std::string description() const override {
    return message("scaling: {factor: ", parameters_.factor, "}");
  }

protected:
  void doInitialize(const execution_space&, const Matrix&) override {}
  void doCompute(const execution_space&, const Matrix&) override {}
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans) const override {
    axpby<Scalar, Device>(exec, Scalar(parameters_.negative ? -1 : 1) * Scalar(parameters_.factor),
                          x, Scalar(0), y);
  }

private:
  ScalingParameters parameters_;
};

inline ParameterTable<ScalingParameters> scalingTable() {
  ParameterTable<ScalingParameters> table;
  return table
      .number("factor", "scaling: factor", &ScalingParameters::factor, NumberRange::Positive,
              "what vectors are multiplied with")
      .flag("negative", "scaling: negative", &ScalingParameters::negative, "with -1, too");
}

/// Gauss-Seidel as a factorisation: L = the lower triangle of A, U = I. For points.
struct GaussSeidelParameters {
  double omega = 1; ///< the diagonal of L is divided by it
};

template <class Scalar, class Device>
class GaussSeidel final : public Factorization<Scalar, Device> {
public:
  using Base = Factorization<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;
  using typename Base::Matrix;

  explicit GaussSeidel(const GaussSeidelParameters& parameters) : parameters_(parameters) {}
  std::string description() const override { return "factorization: gauss-seidel"; }

  void initialize(const execution_space& exec, const Matrix& a, Report&) override {
    if (a.block_size != 1)
      throw InvalidArgument("gauss-seidel takes points");
    const auto lower = triangle(exec, a.graph, Uplo::Lower, Diagonal::Keep);
    lower_.matrix =
        Matrix(lower, allocate<Scalar, Device>(exec, "own::lower", lower.numEntries()), 1);
    lower_.diagonal_inverse = allocate<Scalar, Device>(exec, "own::diagonal", a.numRows());
    upper_.matrix =
        Matrix(Graph<Device>(a.numRows(), a.numRows(),
                             allocateZeros<Offset, Device>(exec, "own::none", a.numRows() + 1),
                             Kokkos::View<Ordinal*, Device>()),
               Kokkos::View<Scalar*, Device>(), 1);
    upper_.uplo = Uplo::Upper;
    upper_.unit = true;
  }

  void compute(const execution_space& exec, const Matrix& a, Report&) override {
    Kokkos::parallel_for(
        "own::GaussSeidel", Kokkos::RangePolicy<execution_space>(exec, 0, a.numRows()),
        Take{a, lower_.matrix, lower_.diagonal_inverse, Scalar(parameters_.omega)});
  }

  const Factor& lower() const override { return lower_; }
  const Factor& upper() const override { return upper_; }

  /// Row i of L: the entries of A up to the diagonal, which come first.
  struct Take {
    Matrix a, lower;
    Kokkos::View<Scalar*, Device> inverse;
    Scalar omega;

    KOKKOS_FUNCTION void operator()(int i) const {
      const Offset begin = lower.graph.row_map(i), end = lower.graph.row_map(i + 1);
      for (Offset e = begin; e < end; ++e)
        lower.values(e) = a.values(a.graph.row_map(i) + (e - begin));
      lower.values(end - 1) /= omega;
      inverse(i) = Scalar(1) / lower.values(end - 1);
    }
  };

private:
  GaussSeidelParameters parameters_;
  Factor lower_, upper_;
};

inline ParameterTable<GaussSeidelParameters> gaussSeidelTable() {
  ParameterTable<GaussSeidelParameters> table;
  return table.number("omega", "fact: omega", &GaussSeidelParameters::omega, NumberRange::Positive,
                      "relaxation factor");
}

/// T^-1 ~ sum over k < terms of (I - D^-1 T)^k D^-1, D the diagonal of T: the Neumann series, by
/// y <- y + D^-1 (x - T y) from 0.
struct NeumannParameters {
  int terms = 3;
};

template <class Stored, class Scalar, class Device>
class Neumann final : public TriangularSolver<Scalar, Device> {
public:
  using Base = TriangularSolver<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;

  explicit Neumann(const NeumannParameters& parameters) : parameters_(parameters) {}
  std::string description() const override {
    return message("neumann, terms: ", parameters_.terms);
  }

  void initialize(const execution_space& exec, const Factor& factor, const std::string&,
                  Report&) override {
    unit_ = factor.unit;
    values_ = factor.matrix.values;
    inverse_ = factor.diagonal_inverse;
    if constexpr (!std::is_same<Stored, Scalar>::value)
      stored_ = allocate<Stored, Device>(exec, "own::stored", values_.extent(0));
    else
      stored_ = values_;
    matrix_ = BsrMatrix<Stored, Device>(factor.matrix.graph, stored_, factor.matrix.block_size);
  }

  void compute(const execution_space& exec, const Factor&, const std::string&, Report&) override {
    if constexpr (!std::is_same<Stored, Scalar>::value)
      convert<Scalar, Stored, Device>(exec, values_, stored_);
  }

  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans) const override {
    const auto r = detail::workspaceOf(exec, workspace_, x.extent(0), x.extent(1));
    byDiagonal(exec, trans, x, 0, y);
    for (int k = 1; k < parameters_.terms; ++k) {
      axpby<Scalar, Device>(exec, 1, x, 0, r);
      spmv<Stored, Scalar, Device>(exec, trans, -1, matrix_, y, 1, r);
      if (unit_)
        axpby<Scalar, Device>(exec, -1, y, 1, r);
      byDiagonal(exec, trans, r, 1, y);
    }
  }

  Offset entries() const override { return matrix_.numScalars() + Offset(inverse_.extent(0)); }
  Offset bytes() const override {
    return matrix_.bytes() + Offset(inverse_.extent(0) * sizeof(Scalar));
  }

private:
  /// y = D^-1 x + beta y
  void byDiagonal(const execution_space& exec, Trans trans, MultiVectorArg<const Scalar, Device> x,
                  Scalar beta, MultiVectorArg<Scalar, Device> y) const {
    if (unit_)
      axpby<Scalar, Device>(exec, 1, x, beta, y);
    else
      blockDiagonalProduct<Scalar, Scalar, Device>(exec, trans, 1, inverse_, matrix_.block_size, x,
                                                   beta, y);
  }

  NeumannParameters parameters_;
  bool unit_ = false;
  Kokkos::View<Scalar*, Device> values_, inverse_;
  Kokkos::View<Stored*, Device> stored_;
  BsrMatrix<Stored, Device> matrix_;
  mutable MultiVector<Scalar, Device> workspace_;
};

inline ParameterTable<NeumannParameters> neumannTable() {
  ParameterTable<NeumannParameters> table;
  return table.integer("terms", "neumann: terms", &NeumannParameters::terms, 1,
                       "terms of the Neumann series");
}

/// All three, as long as it lives.
struct Registered {
  Registered() {
    registerMethod<Scaling>("scaling", "a multiple of the vector", scalingTable());
    registerFactorization<GaussSeidel>("gauss-seidel", "the lower triangle", gaussSeidelTable());
    registerTriangularSolver<Neumann>("neumann", "Neumann series", neumannTable());
  }
  ~Registered() {
    unregisterMethod("scaling");
    unregisterFactorization("gauss-seidel");
    unregisterTriangularSolver("neumann");
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
};

} // namespace own
