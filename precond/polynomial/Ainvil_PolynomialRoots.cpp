// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_PolynomialRoots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Names of its own: an application may have another version of Eigen, or compile it with other
// flags, and a linker takes one of two functions of the same name.
#define Eigen AinvilEigen
#define EIGEN_NO_CUDA
#define EIGEN_NO_HIP
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace ainvil {
namespace detail {
namespace {

using Dense = Eigen::MatrixXd;

Dense denseOf(const Hessenberg& h) {
  return Eigen::Map<const Dense>(h.data(), h.columns() + 1, h.columns());
}

bool isPair(const std::complex<double>& root) {
  return root.imag() != 0;
}

/// sum over all roots theta_j but roots[without] of log f(theta_j), both of each pair.
template <class Factor>
double sumOfLogs(const Roots& roots, std::size_t without, const Factor& f) {
  double sum = 0;
  for (std::size_t j = 0; j < roots.size(); ++j) {
    if (j != without)
      sum += std::log(f(roots[j]));
    if (isPair(roots[j]))
      sum += std::log(f(std::conj(roots[j])));
  }
  return sum;
}

} // namespace

Hessenberg Hessenberg::leading(int columns) const {
  Hessenberg part(columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i <= columns; ++i)
      part(i, j) = (*this)(i, j);
  return part;
}

std::vector<double> gmresResiduals(const Hessenberg& h) {
  std::vector<double> residuals = {1.0};
  // Givens rotations make H triangular; the residual is what their sines leave of e_1.
  std::vector<double> cosines, sines, column(static_cast<std::size_t>(h.columns()) + 1);
  for (int j = 0; j < h.columns(); ++j) {
    for (int i = 0; i <= j + 1; ++i)
      column[i] = h(i, j);
    for (int i = 0; i < j; ++i) {
      const double upper = column[i];
      column[i] = cosines[i] * upper + sines[i] * column[i + 1];
      column[i + 1] = cosines[i] * column[i + 1] - sines[i] * upper;
    }
    const double size = std::hypot(column[j], column[j + 1]);
    cosines.push_back(size > 0 ? column[j] / size : 1.0);
    sines.push_back(size > 0 ? column[j + 1] / size : 1.0); // a zero column helps nothing
    residuals.push_back(residuals.back() * std::fabs(sines.back()));
  }
  return residuals;
}

int degreeOf(const Roots& roots) {
  return static_cast<int>(roots.size() + std::count_if(roots.begin(), roots.end(), isPair));
}

Roots harmonicRitzValues(const Hessenberg& h, bool real) {
  const int k = h.columns();
  const Dense dense = denseOf(h);
  if (k == 0 || !dense.allFinite())
    return {};
  const Eigen::HouseholderQR<Dense> qr(dense);
  const Dense r = qr.matrixQR().topRows(k).triangularView<Eigen::Upper>();
  const Dense q = qr.householderQ() * Dense::Identity(k + 1, k);
  const Eigen::GeneralizedEigenSolver<Dense> solver(r, q.topRows(k).transpose(), false);
  if (solver.info() != Eigen::Success)
    return {};
  const double size = r.norm();
  Roots roots;
  for (int i = 0; i < k; ++i) {
    const std::complex<double> alpha = solver.alphas()(i);
    const double beta = solver.betas()(i);
    if (std::abs(alpha) >= 1e10 * size * std::fabs(beta)) // not told from infinity
      continue;
    const std::complex<double> root = alpha / beta;
    if (!(std::abs(root) > 10 * k * std::numeric_limits<double>::epsilon() * size))
      return {};
    if (real || std::fabs(root.imag()) <= 1e-13 * std::abs(root))
      roots.emplace_back(root.real(), 0.0);
    else if (root.imag() > 0)
      roots.push_back(root);
  }
  return roots;
}

double productOfOthers(const Roots& roots, std::size_t k) {
  const std::complex<double> root = roots[k];
  return sumOfLogs(roots, k, [&](auto other) { return std::abs(1.0 - root / other); }) /
         std::log(10.0);
}

void addCopies(Roots& roots, int digits) {
  constexpr double harmless = 4;
  Roots copies;
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const double product = productOfOthers(roots, k);
    if (product > harmless)
      copies.insert(copies.end(),
                    static_cast<std::size_t>(std::ceil((product - harmless) / digits)), roots[k]);
  }
  roots.insert(roots.end(), copies.begin(), copies.end());
}

Roots inLejaOrder(Roots roots) {
  constexpr double nearest = 1e-8;
  const auto distance = [](std::complex<double> a, std::complex<double> b) {
    return std::log(std::max(std::abs(a - b), nearest * std::abs(a)));
  };
  std::vector<double> sums(roots.size());
  for (std::size_t k = 0; k < roots.size(); ++k)
    sums[k] = std::abs(roots[k]);
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const auto next = std::max_element(sums.begin() + k, sums.end()) - sums.begin();
    std::swap(roots[k], roots[next]);
    std::swap(sums[k], sums[next]);
    for (std::size_t i = k + 1; i < roots.size(); ++i) {
      if (k == 0)
        sums[i] = 0;
      sums[i] += distance(roots[i], roots[k]);
      if (isPair(roots[k]))
        sums[i] += distance(roots[i], std::conj(roots[k]));
    }
  }
  return roots;
}

bool arePositive(const Roots& roots) {
  return std::all_of(roots.begin(), roots.end(),
                     [](auto root) { return !isPair(root) && root.real() > 0; });
}

std::complex<double> largestOf(const Roots& roots) {
  return *std::max_element(roots.begin(), roots.end(),
                           [](auto a, auto b) { return std::abs(a) < std::abs(b); });
}

bool isBelowOne(const Roots& roots) {
  if (roots.size() % 2 == 0 || !arePositive(roots))
    return false;
  std::vector<double> sorted;
  for (const std::complex<double>& root : roots)
    sorted.push_back(root.real());
  std::sort(sorted.begin(), sorted.end());
  constexpr int points = 32;
  for (std::size_t k = 1; k < sorted.size(); ++k)
    for (int p = 0; p < points; ++p) {
      const double part = (p + 0.5) / points;
      const double t = sorted[k - 1] + part * (sorted[k] - sorted[k - 1]);
      double product = 1;
      for (const double root : sorted)
        product *= 1 - t / root;
      if (product >= 1)
        return false;
    }
  return true;
}

} // namespace detail
} // namespace ainvil
