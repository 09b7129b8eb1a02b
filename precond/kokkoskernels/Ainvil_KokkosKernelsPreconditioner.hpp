// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Methods of Ainvil for the solvers of Kokkos Kernels. Empty where these are too old to have any
/// (before 4.0).

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"

#if __has_include(<KokkosSparse_Preconditioner.hpp>)

#include <KokkosSparse_Preconditioner.hpp>

#include <utility>

namespace ainvil {

/// What KokkosSparse::Experimental::gmres() takes as its preconditioner: a method of Ainvil for a
/// KokkosSparse::CrsMatrix, or BsrMatrix and its blocks. Holds a shallow copy of the matrix, whose
/// ordinals must be int; const values are copied in every initialize() and compute(). The verbs are
/// those of Preconditioner, and throw what they throw.
template <class Matrix>
class KokkosKernelsPreconditioner final
    : public KokkosSparse::Experimental::Preconditioner<Matrix> {
  using Base = KokkosSparse::Experimental::Preconditioner<Matrix>;

public:
  using Scalar = typename Base::ScalarType;
  using Device = typename Matrix::device_type;
  using execution_space = typename Device::execution_space;

  /// Takes over a method; all its work is enqueued on `exec`.
  KokkosKernelsPreconditioner(const Matrix& a, PreconditionerPtr<Scalar, Device> method,
                              const execution_space& exec = {})
      : a_(a), method_(std::move(method)), exec_(exec) {}
  /// The method that createPreconditioner() makes. \throws InvalidArgument for a bad specification
  KokkosKernelsPreconditioner(const Matrix& a, const std::string& specification,
                              const execution_space& exec = {})
      : KokkosKernelsPreconditioner(a, createPreconditioner<Scalar, Device>(specification), exec) {}

  /// Nothing: the constructor has them all.
  void setParameters() override {}

  /// Of the graph. Copies the row map unless its integers are as wide as an Offset.
  void initialize() override {
    graph_ = fromKokkos(exec_, a_).graph;
    method_->initialize(exec_, matrix());
  }
  bool isInitialized() const override { return method_->isInitialized(); } ///< there is a pattern

  /// Of the values that the matrix has now; initializes if need be.
  void compute() override {
    if (!isInitialized())
      initialize();
    method_->compute(exec_, matrix());
  }
  bool isComputed() const override { return method_->isComputed(); } ///< apply() may be called

  /// y = alpha op(M^-1) x + beta y; op is that of BLAS: N, T or C. \throws InvalidArgument for
  /// another
  void apply(const Kokkos::View<const Scalar*, Device>& x, const Kokkos::View<Scalar*, Device>& y,
             const char op[] = "N", Scalar alpha = 1, Scalar beta = 0) const override {
    const char c = op[0];
    const bool plain = c == 'N' || c == 'n';
    if (!plain && c != 'T' && c != 't' && c != 'C' && c != 'c')
      throw InvalidArgument(message("op must be N, T or C, but it is '", op, "'"));
    method_->apply(exec_, Vector<const Scalar, Device>(x), Vector<Scalar, Device>(y),
                   plain ? Trans::No : Trans::Yes, alpha, beta);
  }
  bool hasTransposeApply() const override { return true; } ///< all methods have it

  const Preconditioner<Scalar, Device>& method() const { return *method_; } ///< with its report

private:
  BsrMatrix<Scalar, Device> matrix() const {
    return {graph_, detail::toValues<Device>(exec_, a_.values), detail::blockSizeOf(a_)};
  }

  Matrix a_;
  PreconditionerPtr<Scalar, Device> method_;
  execution_space exec_;
  Graph<Device> graph_; ///< of the last initialize()
};

} // namespace ainvil

#endif
