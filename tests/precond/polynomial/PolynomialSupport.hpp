// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of polynomials share.
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "backend/Ainvil_Hash.hpp"
#include "polynomial/Ainvil_Polynomial.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace test {

using Dense = std::vector<double>; ///< row-major
using Poly = Polynomial<double, Device>;

/// A polynomial around what a specification makes.
inline std::unique_ptr<Poly> around(const std::string& inner, int degree,
                                    Storage storage = Storage::Native) {
  return std::make_unique<Poly>(createPreconditioner<double, Device>(inner),
                                PolynomialParameters{degree, storage});
}

inline std::unique_ptr<Poly> around(const std::string& inner, int degree, const HostBsr& a,
                                    Storage storage = Storage::Native) {
  auto m = around(inner, degree, storage);
  setUp(*m, a);
  return m;
}

/// M^-1 of the specification alone.
inline Dense innerInverse(const std::string& inner, const HostBsr& a) {
  const auto m = createPreconditioner<double, Device>(inner);
  setUp(*m, a);
  return denseInverse(*m);
}

inline HostBsr ofDense(const Dense& values, Ordinal n) {
  const HostBsr a = matrixOn(fullPattern(n), 1, 1);
  std::copy(values.begin(), values.end(), a.values.data());
  return a;
}

inline HostBsr diagonal(const Dense& values) {
  const HostBsr a = matrixOn(diagonalPattern(static_cast<Ordinal>(values.size())), 1, 1);
  std::copy(values.begin(), values.end(), a.values.data());
  return a;
}

inline Dense combined(double alpha, const Dense& a, double beta, const Dense& b) {
  Dense sum(a.size());
  for (size_t k = 0; k < a.size(); ++k)
    sum[k] = alpha * a[k] + beta * b[k];
  return sum;
}

inline double dot(const Dense& x, const Dense& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// prod over i of (I - C / theta_i) X.
inline Dense residualPolynomial(const Dense& c, const Poly& m, Dense x, size_t n) {
  for (const std::complex<double>& root : m.roots()) {
    const Dense cx = multiply(c, x, n);
    if (root.imag() == 0)
      x = combined(1, x, -1 / root.real(), cx);
    else
      x = combined(1, combined(1, x, -2 * root.real() / std::norm(root), cx), 1 / std::norm(root),
                   multiply(c, cx, n));
  }
  return x;
}

/// M^-1 p(A M^-1) = A^-1 (I - prod (I - A M^-1 / theta_i)): another way than that of the method.
inline Dense reference(const HostBsr& a, const std::string& inner, const Poly& m) {
  const size_t n = a.numPointRows();
  const Dense dense = toDense(a), c = multiply(dense, innerInverse(inner, a), n);
  const Dense left = residualPolynomial(c, m, identity(n), n);
  return multiply(inverse(dense, n), combined(1, identity(n), -1, left), n);
}

/// The vector that the Arnoldi process starts from, or with seed 2 the one beside it that tests for
/// symmetry.
inline Dense startVector(size_t n, std::uint64_t seed = 1) {
  Dense v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = double(detail::hash((seed << 40) + i) >> 11) * 0x1p-52 - 1;
  return v;
}

inline bool hasPairs(const Poly& m) {
  return std::any_of(m.roots().begin(), m.roots().end(),
                     [](const auto& root) { return root.imag() != 0; });
}

/// ||x - A M^-1 x|| / ||x|| for a random x.
inline double remainder(const Poly& m, const HostBsr& a, std::uint64_t seed) {
  const size_t n = a.numPointRows();
  const Dense x = Random(seed).vector(n);
  const auto y = poisoned(n, 1);
  m.apply(Exec(), toDevice(x, n, 1), y);
  const Dense left = combined(1, x, -1, multiply(toDense(a), toHost(y), n));
  return std::sqrt(dot(left, left) / dot(x, x));
}

} // namespace test
} // namespace ainvil
