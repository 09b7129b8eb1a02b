// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_ResidualPolynomial.hpp"

#include "Ainvil_Preconditioner.hpp"
#include "product/Ainvil_Combine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ainvil {
namespace {

/// Size at which a vector that is left is nothing but rounding, relative to what it was.
template <class Scalar>
constexpr double negligible = 1e3 * std::numeric_limits<Scalar>::epsilon();

/// Vectors that an application works with: r, z, s and q.
constexpr size_t num_work_vectors = 4;

/// Vectors of random numbers: two that test for symmetry, of which the first starts the Arnoldi
/// process, and one that tests the polynomial.
constexpr int start_seed = 1, other_seed = 2, test_seed = 3;

/// Roots with their copies, times those without them, that are too many.
constexpr int most_roots = 2;

/// What a polynomial of degree k may leave of a vector, with what GMRES has left of another one
/// after 0, 1, ... steps: twice what half the degree is good for, and hardly more than there was.
double acceptable(const std::vector<double>& promised, int k) {
  return std::min(1.25, 2 * promised[static_cast<size_t>(k / 2)]);
}

} // namespace

/// One of r, z, s and q.
template <class Scalar, class Device>
typename ResidualPolynomial<Scalar, Device>::Out
ResidualPolynomial<Scalar, Device>::workspace(const execution_space& exec, int which,
                                              size_t columns) const {
  const size_t n = static_cast<size_t>(a_.numPointRows());
  const auto all = detail::workspaceOf(exec, workspace_, n, num_work_vectors * columns);
  return Out(all.data() + size_t(which) * n * columns, n, columns);
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::reserve(const execution_space& exec,
                                                 size_t columns) const {
  workspace(exec, 0, columns);
  if (processes_.foreign != nullptr)
    processes_.foreign->reserve(exec, columns);
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a,
                                                    Processes processes) {
  processes_ = std::move(processes);
  clear();
  basis_ = {}; // frees memory first
  a_ = SparseOperator<Scalar, Device>(parameters_.storage);
  a_.setGraph(exec, a.graph, a.block_size);
  if (copiesValues())
    a_.update(exec, allocate<Scalar, Device>(exec, "Ainvil::values", a.numScalars()));
  if (processes_.reduction == nullptr)
    processes_.num_unknowns = a.numPointRows();
  // The Krylov space of n unknowns ends after n steps; probes take two vectors.
  const Offset steps =
      std::min<Offset>(parameters_.degree, std::max<Offset>(processes_.num_unknowns, 1));
  basis_ = detail::ArnoldiBasis<Scalar, Device>(exec, a.numPointRows(), static_cast<int>(steps) + 1,
                                                processes_.reduction, processes_.first_unknown);
  if (processes_.reduction != nullptr)
    shared_ = allocate<double, typename ProcessSums<Device>::device_type>(
        exec, "Ainvil::shared_roots", 2 + 2 * size_t(most_roots) * size_t(steps));
  reserve(exec, 1);
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::clear() {
  roots_.clear();
  note_.clear();
  objection_.clear();
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::update(const execution_space& exec, const Matrix& a) {
  clear();
  if (copiesValues())
    axpby<Scalar, Device>(exec, Scalar(1), asColumn(a.values), Scalar(0),
                          asColumn(a_.native().values));
  else
    a_.update(exec, a.values);
}

/// y = alpha A x
template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::multiply(const execution_space& exec, Scalar alpha, In x,
                                                  Out y) const {
  if (processes_.foreign != nullptr)
    processes_.foreign->begin(exec, Trans::No, x);
  a_.multiply(exec, Trans::No, alpha, x, Scalar(0), y);
  if (processes_.foreign != nullptr)
    processes_.foreign->add(exec, Trans::No, alpha, y);
}

/// y = alpha op(A) x + beta u + gamma v, and the step of another vector along x.
template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::multiplyAdd(const execution_space& exec, Trans trans,
                                                     Scalar alpha, In x, Scalar beta, In u,
                                                     Scalar gamma, In v, Out y,
                                                     const Step& step) const {
  if (processes_.foreign != nullptr)
    processes_.foreign->begin(exec, trans, x);
  a_.multiplyAdd(exec, trans, alpha, x, beta, u, gamma, v, y, step);
  if (processes_.foreign != nullptr)
    processes_.foreign->add(exec, trans, alpha, y);
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::scaleBy(const execution_space& exec, double factor,
                                                 Out v) const {
  detail::combine<Scalar, Device>(exec, Scalar(factor), v, Scalar(0), v, Scalar(0), v, v);
}

/// For two random vectors |x^T A y - y^T A x| is nothing but rounding beside ||A y||, likewise with
/// M^-1, and x^T M^-1 x and y^T M^-1 y are positive.
template <class Scalar, class Device>
bool ResidualPolynomial<Scalar, Device>::isSymmetricDefinite(const execution_space& exec,
                                                             const Inner& m) const {
  const double tolerance = std::sqrt(double(std::numeric_limits<Scalar>::epsilon()));
  const Out x = basis_.vectors(0), y = basis_.vectors(1);
  const Out of_x = workspace(exec, 1, 1), of_y = workspace(exec, 2, 1);
  basis_.fillRandom(exec, x, start_seed);
  basis_.fillRandom(exec, y, other_seed);
  const auto isSymmetric = [&] {
    const double size = basis_.size(exec, of_y);
    if (!(size > 0) || !std::isfinite(size))
      return false;
    for (const Out& v : {of_x, of_y}) // by a power of 2
      scaleBy(exec, std::ldexp(1.0, -std::ilogb(size)), v);
    const double difference = basis_.dot(exec, x, of_y) - basis_.dot(exec, y, of_x);
    return std::fabs(difference) <= tolerance; // also false for NaN
  };
  multiply(exec, Scalar(1), x, of_x);
  multiply(exec, Scalar(1), y, of_y);
  if (!isSymmetric())
    return false;
  m.apply(exec, x, of_x);
  m.apply(exec, y, of_y);
  return isSymmetric() && basis_.dot(exec, x, of_x) > 0 && basis_.dot(exec, y, of_y) > 0;
}

/// w . w, or with `symmetric` w . M^-1 w, which leaves M^-1 w in z.
template <class Scalar, class Device>
double ResidualPolynomial<Scalar, Device>::square(const execution_space& exec, const Inner& m,
                                                  bool symmetric, Out w) const {
  if (!symmetric)
    return basis_.dot(exec, w, w);
  const Out z = workspace(exec, 1, 1);
  m.apply(exec, w, z);
  return basis_.dot(exec, w, z);
}

/// The Hessenberg matrix of scale_ A M^-1 and a random vector, of fewer columns where the Krylov
/// space ends or a number is not finite. With `symmetric` vectors are orthonormal in the inner
/// product of M^-1; no columns if that is none.
template <class Scalar, class Device>
detail::Hessenberg ResidualPolynomial<Scalar, Device>::runArnoldi(const execution_space& exec,
                                                                  const Inner& m, bool symmetric) {
  const int steps = basis_.capacity() - 1;
  const Out z = workspace(exec, 1, 1); // M^-1 v_j
  detail::Hessenberg h(steps);
  const auto divideBy = [&](double norm, Out v) {
    scaleBy(exec, 1 / norm, v);
    if (symmetric)
      scaleBy(exec, 1 / norm, z);
  };

  basis_.fillRandom(exec, basis_.vectors(0), start_seed);
  const double start = square(exec, m, symmetric, basis_.vectors(0));
  if (!(start > 0) || !std::isfinite(start))
    return detail::Hessenberg(0);
  divideBy(std::sqrt(start), basis_.vectors(0));
  scale_ = 1;
  for (int j = 0; j < steps; ++j) {
    const Out v = basis_.vectors(j), w = basis_.vectors(j + 1);
    if (!symmetric)
      m.apply(exec, v, z);
    multiply(exec, Scalar(scale_), z, w);
    if (j == 0) { // so that no square over- or underflows
      const double growth = basis_.size(exec, w) / basis_.size(exec, v);
      if (!(growth > 0) || !std::isfinite(growth))
        return detail::Hessenberg(0);
      scale_ = std::ldexp(1.0, -std::ilogb(growth));
      scaleBy(exec, scale_, w);
    }
    for (const bool again : {false, true}) {
      if (symmetric)
        m.apply(exec, w, z);
      basis_.project(exec, j + 1, symmetric ? z : w, w, again);
    }
    const double left = square(exec, m, symmetric, w);
    double removed = 0;
    for (int i = 0; i <= j; ++i) {
      h(i, j) = basis_.projection(i);
      removed += h(i, j) * h(i, j);
    }
    const double rounding = negligible<Scalar> * negligible<Scalar> * removed;
    if (!std::isfinite(left + removed) || left < -rounding)
      return h.leading(j);
    if (left <= rounding)
      return h.leading(j + 1); // A M^-1 maps these vectors into themselves
    h(j + 1, j) = std::sqrt(left);
    divideBy(h(j + 1, j), w);
  }
  return h;
}

/// ||g - A M^-1 p(A M^-1) g|| / ||g|| for a random vector g; with `symmetric` in the norm of M^-1.
template <class Scalar, class Device>
double ResidualPolynomial<Scalar, Device>::remainder(const execution_space& exec, const Inner& m,
                                                     bool symmetric) const {
  const Out g = basis_.vectors(0), result = basis_.vectors(1);
  basis_.fillRandom(exec, g, test_seed);
  const double before = square(exec, m, symmetric, g);
  apply(exec, m, g, result, Trans::No);
  multiplyAdd(exec, Trans::No, Scalar(-1), result, Scalar(1), g, Scalar(0), g, g, {});
  const double after = square(exec, m, symmetric, g);
  return std::sqrt((after < 0 ? 0 : after) / before); // NaN stays NaN
}

/// The roots of the highest degree <= k that can be applied, k <- their number without copies, and
/// what has lowered it. No root: k <- 0.
template <class Scalar, class Device>
detail::Roots ResidualPolynomial<Scalar, Device>::applicableRoots(const detail::Hessenberg& h,
                                                                  bool symmetric, int& k,
                                                                  const char*& why) const {
  for (; k > 0; --k) {
    detail::Roots roots = detail::harmonicRitzValues(h.leading(k), symmetric);
    detail::addCopies(roots, std::numeric_limits<Scalar>::digits10 - 1);
    if (roots.empty() || detail::degreeOf(roots) > most_roots * k) {
      why = ", roots of higher degrees cannot be applied";
      continue;
    }
    if (symmetric && detail::arePositive(roots)) {
      if (roots.size() % 2 == 0 && detail::degreeOf(roots) < basis_.capacity() - 1)
        roots.push_back(detail::largestOf(roots));
      if (!detail::isBelowOne(roots)) {
        why = ", higher degrees are not positive definite";
        continue;
      }
    }
    for (std::complex<double>& root : roots)
      root /= scale_;
    return detail::inLejaOrder(std::move(roots));
  }
  return {};
}

/// Whether this process has the first of all unknowns.
template <class Scalar, class Device>
bool ResidualPolynomial<Scalar, Device>::isFirst() const {
  return processes_.first_unknown == 0 && a_.numPointRows() > 0;
}

/// All processes take the roots of the first one, and its k: eigenvalues and logarithms may differ
/// in the last bit on processors of another kind, and so may what follows from them.
template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::takeFirstOnes(const execution_space& exec, int& k) {
  if (processes_.reduction == nullptr)
    return;
  Kokkos::deep_copy(shared_, 0.0);
  if (isFirst()) {
    shared_(0) = k;
    shared_(1) = double(roots_.size());
    for (size_t i = 0; i < roots_.size(); ++i) {
      shared_(2 + 2 * i) = roots_[i].real();
      shared_(3 + 2 * i) = roots_[i].imag();
    }
  }
  processes_.reduction->sum(exec, shared_);
  compat::fence(exec, "Ainvil::ResidualPolynomial");
  roots_.clear();
  if (!(shared_(0) > 0)) { // also where a process has failed, which gives NaN
    k = 0;
    return;
  }
  k = static_cast<int>(shared_(0));
  for (size_t i = 0; i < size_t(shared_(1)); ++i)
    roots_.emplace_back(shared_(2 + 2 * i), shared_(3 + 2 * i));
}

/// The roots of the highest degree that can be applied and is worth it.
template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::chooseRoots(const execution_space& exec, const Inner& m,
                                                     const detail::Hessenberg& h, bool symmetric) {
  const std::vector<double> promised = detail::gmresResiduals(h);
  const char* why = h.columns() < basis_.capacity() - 1 ? ", the Krylov space ends there" : "";
  for (int k = h.columns(); k > 0; k /= 2) {
    roots_ = applicableRoots(h, symmetric, k, why);
    takeFirstOnes(exec, k);
    if (roots_.empty())
      break;
    const double left = remainder(exec, m, symmetric);
    bool is_good = left <= acceptable(promised, k); // false for NaN
    if (processes_.reduction != nullptr)
      is_good = processes_.reduction->total(isFirst() && is_good ? 1 : 0) > 0;
    if (is_good) {
      note_ = message("poly=", degree(), why, ", leaves ", static_cast<float>(left));
      return;
    }
    why = ", higher degrees leave more";
  }
  roots_.clear();
  note_ = "poly=0, no degree leaves less than there was";
  if (h.columns() == 0)
    objection_ =
        "A times the preconditioner inside of the polynomial maps a random vector to zero, "
        "or to numbers that are not finite";
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::findRoots(const execution_space& exec, const Inner& m,
                                                   PhaseTimes& phases) {
  if (processes_.num_unknowns == 0)
    return;
  bool symmetric = false;
  detail::Hessenberg h(0);
  phases.time(exec, "Polynomial", "arnoldi", [&] {
    symmetric = isSymmetricDefinite(exec, m);
    h = runArnoldi(exec, m, symmetric);
    if (symmetric && h.columns() == 0) {
      symmetric = false;
      h = runArnoldi(exec, m, symmetric);
    }
  });
  phases.time(exec, "Polynomial", "roots", [&] { chooseRoots(exec, m, h, symmetric); });
}

/// Root by root: y moves along z and, of a pair, along q, and r becomes what that leaves. The
/// product of such a vector with A takes y's step along it, so that a degree costs an application
/// of M^-1, a product, and five passes over vectors: z, the r before and the r after (of a pair z
/// and s; q, r, s and r), and y twice. The last step of y is a kernel of its own, in the place of
/// the product that nobody needs any more.
template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::apply(const execution_space& exec, const Inner& m, In x,
                                               Out y, Trans trans) const {
  if (roots_.empty()) {
    m.apply(exec, x, y, trans);
    return;
  }
  const size_t columns = x.extent(1);
  const Out r = workspace(exec, 0, columns), z = workspace(exec, 1, columns),
            s = workspace(exec, 2, columns), q = workspace(exec, 3, columns);
  const Scalar zero = 0, one = 1;
  In rest = x; // 1 - t p(t) of the factors so far, applied to x
  for (size_t k = 0; k < roots_.size(); ++k) {
    const Scalar before = k == 0 ? zero : one; // of y
    const bool is_last = k + 1 == roots_.size();
    m.apply(exec, rest, z, trans);
    if (roots_[k].imag() == 0) {
      const auto step = static_cast<Scalar>(1 / roots_[k].real());
      if (is_last)
        detail::combine<Scalar, Device>(exec, step, z, before, y, zero, y, y);
      else
        multiplyAdd(exec, trans, -step, z, one, rest, zero, rest, r, {step, before, y});
    } else {
      // With c = Re theta / |theta|, so that no square overflows, s and q are divided by |theta|.
      const double size = std::abs(roots_[k]);
      const auto step = static_cast<Scalar>(1 / size);
      const auto two_c = static_cast<Scalar>(2 * (roots_[k].real() / size));
      multiplyAdd(exec, trans, step, z, zero, z, zero, z, s, {two_c * step, before, y});
      m.apply(exec, s, q, trans);
      if (is_last)
        detail::combine<Scalar, Device>(exec, -step, q, one, y, zero, y, y);
      else
        multiplyAdd(exec, trans, step, q, one, rest, -two_c, s, r, {-step, one, y});
    }
    rest = r;
  }
}

template <class Scalar, class Device>
void ResidualPolynomial<Scalar, Device>::addTo(Report& report) const {
  const Offset applications = std::max(degree(), 1), products = applications - 1;
  Offset entries = a_.numScalars(), bytes = a_.bytes();
  if (processes_.foreign != nullptr) {
    entries += processes_.foreign->numScalars();
    bytes += processes_.foreign->bytes();
  }
  report.factor_entries = applications * report.factor_entries + products * entries;
  report.factor_bytes = applications * report.factor_bytes + products * bytes;
  if (!note_.empty())
    report.note(note_);
  if (report.objection.empty())
    report.objection = objection_;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class ResidualPolynomial<double, DEVICE>;                                               \
  template class ResidualPolynomial<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
