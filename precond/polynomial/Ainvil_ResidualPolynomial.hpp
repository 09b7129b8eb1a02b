// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The residual polynomial of GMRES, for any M^-1 that can be applied.

#include "Ainvil_LinearOperator.hpp"
#include "polynomial/Ainvil_ArnoldiBasis.hpp"
#include "polynomial/Ainvil_PolynomialParameters.hpp"
#include "polynomial/Ainvil_PolynomialRoots.hpp"
#include "product/Ainvil_ForeignPart.hpp"

#include <complex>
#include <memory>
#include <string>
#include <vector>

namespace ainvil {

/// What a ResidualPolynomial has to know of the processes that share the rows of A.
template <class Scalar, class Device>
struct PolynomialProcesses {
  std::shared_ptr<const ForeignPart<Scalar, Device>> foreign; ///< of A; null: nobody needs another
  std::shared_ptr<const Reduction<Device>> reduction; ///< of inner products; null: one process
  Offset first_unknown = 0; ///< number of this process's first, in an order of all
  Offset num_unknowns = 0;  ///< of all
  bool values_stay = false; ///< those of A, in their array, until the next update()
};

/// M^-1 p(A M^-1), see Polynomial, without the interface of a preconditioner: A comes as a matrix,
/// M^-1 with every call. Where processes share the rows of A, each has those of its own unknowns,
/// with the columns of these alone, and M^-1 maps its own unknowns to themselves; the polynomial is
/// that of the whole matrix, the same on all processes. findRoots() and apply() are collective
/// then: they must reach every product, whatever M^-1 does.
template <class Scalar, class Device>
class ResidualPolynomial {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;              ///< A
  using Inner = LinearOperator<Scalar, Device>;          ///< M^-1
  using Processes = PolynomialProcesses<Scalar, Device>; ///< that share A
  using In = MultiVectorArg<const Scalar, Device>;       ///< vectors that are read
  using Out = MultiVectorArg<Scalar, Device>;            ///< vectors that are written

  /// Of degree >= 1.
  explicit ResidualPolynomial(const PolynomialParameters& parameters) : parameters_(parameters) {}

  /// Makes room for matrices with the graph of `a`. Waits. \throws OutOfMemory
  void initialize(const execution_space& exec, const Matrix& a, Processes processes = {});
  /// There are no roots any more.
  void clear();
  /// Copies the values of `a`, unless they stay; there are no roots then. \throws InvalidArgument
  /// as SparseOperator::checkRange()
  void update(const execution_space& exec, const Matrix& a);
  /// Finds the roots, of which there are none if no degree is worth it. Phases "arnoldi" and
  /// "roots". Waits.
  void findRoots(const execution_space& exec, const Inner& m, PhaseTimes& phases);

  /// Makes room for applications to so many columns. \throws OutOfMemory
  void reserve(const execution_space& exec, size_t columns) const;
  /// y = op(M^-1 p(A M^-1)) x, M^-1 x without roots. x and y must not overlap. Asynchronous.
  void apply(const execution_space& exec, const Inner& m, In x, Out y, Trans trans) const;

  /// Applications of M^-1 in one of this object, copies of roots included; 0 without roots.
  int degree() const { return detail::degreeOf(roots_); }
  /// In the order in which they are applied; of a pair the one above the real axis stands for both.
  const std::vector<std::complex<double>>& roots() const { return roots_; }
  /// Makes of the figures of M^-1 those of an application of this object, and adds the degree and
  /// what speaks against it.
  void addTo(Report& report) const;

private:
  using Step = typename SparseOperator<Scalar, Device>::Step;

  bool copiesValues() const {
    return parameters_.storage == Storage::Native && !processes_.values_stay;
  }
  bool isFirst() const;
  Out workspace(const execution_space& exec, int which, size_t columns) const;
  void multiply(const execution_space& exec, Scalar alpha, In x, Out y) const;
  void multiplyAdd(const execution_space& exec, Trans trans, Scalar alpha, In x, Scalar beta, In u,
                   Scalar gamma, In v, Out y, const Step& step) const;
  void scaleBy(const execution_space& exec, double factor, Out v) const;
  bool isSymmetricDefinite(const execution_space& exec, const Inner& m) const;
  double square(const execution_space& exec, const Inner& m, bool symmetric, Out w) const;
  detail::Hessenberg runArnoldi(const execution_space& exec, const Inner& m, bool symmetric);
  detail::Roots applicableRoots(const detail::Hessenberg& h, bool symmetric, int& k,
                                const char*& why) const;
  void takeFirstOnes(const execution_space& exec, int& k);
  void chooseRoots(const execution_space& exec, const Inner& m, const detail::Hessenberg& h,
                   bool symmetric);
  double remainder(const execution_space& exec, const Inner& m, bool symmetric) const;

  PolynomialParameters parameters_;
  Processes processes_;
  SparseOperator<Scalar, Device> a_; ///< its values are a copy, unless they stay
  detail::ArnoldiBasis<Scalar, Device> basis_;
  double scale_ = 1; ///< power of 2 that brings A M^-1 near 1 in size
  detail::Roots roots_;
  std::string note_, objection_;                  ///< of the last findRoots()
  ProcessSums<Device> shared_;                    ///< k, and the roots of the first process
  mutable MultiVector<Scalar, Device> workspace_; ///< r, z, s, q
};

} // namespace ainvil
