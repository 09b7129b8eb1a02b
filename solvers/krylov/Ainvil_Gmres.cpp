// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Gmres.hpp"

#include "krylov/Ainvil_ArnoldiKernels.hpp"

#include <algorithm>
#include <limits>

namespace ainvil {

using detail::ArnoldiRecord;

template <class Scalar, class Device>
Gmres<Scalar, Device>::Gmres(SolverOptions options, Flexible flexible)
    : Base(std::move(options), flexible == Flexible::Yes ? "FGMRES" : "GMRES",
           flexible == Flexible::Yes ? nullptr : "x = x_0 + M V y holds for one fixed M only"),
      flexible_(flexible == Flexible::Yes) {}

template <class Scalar, class Device>
void Gmres<Scalar, Device>::allocate(const execution_space& exec, Offset n, bool preconditioned) {
  length_ = static_cast<int>(std::max<Offset>(
      1, std::min<Offset>({options_.restart, options_.max_iterations, this->unknowns_})));
  basis_ = work_ = z_ = {}; // frees memory first
  single_basis_ = {};
  const auto vectors = [&](auto& to, const char* label, int count) {
    to = allocateView<std::decay_t<decltype(to)>>(exec, label, size_t(n), size_t(count));
  };
  withBasis([&](auto& basis) { vectors(basis, "Ainvil::Gmres::basis", length_); });
  vectors(work_, "Ainvil::Gmres::candidate", 2);
  const int stored = flexible_ ? length_ : 1;
  vectors(z_, "Ainvil::Gmres::preconditioned", preconditioned ? stored : 0);
  sums_ = detail::PartialSums<Device>(exec, 2 * length_ + 3, shape_);
  // Zeros: records are read as a whole, also where a step has written nothing.
  records_ =
      allocateZeros<double, Device>(exec, "Ainvil::Gmres::records", (length_ + 1) * recordSize());
  coefficients_ = ainvil::allocate<double, Device>(exec, "Ainvil::Gmres::coefficients", length_);
  host_records_ = hostMirror(records_);
  host_coefficients_ = hostMirror(coefficients_);
}

/// The relative size at which a norm is nothing but rounding. A product carries that of its row
/// sums: 100 eps, for rows of up to 100 entries; a basis in float that of its values. Too large an
/// answer ends a cycle early, which costs a restart and no accuracy.
template <class Scalar, class Device>
double Gmres<Scalar, Device>::negligible() const {
  const double of_products = 100.0 * std::numeric_limits<Scalar>::epsilon();
  const double of_basis = std::numeric_limits<float>::epsilon();
  return options_.basis == Storage::Float ? std::max(of_products, of_basis) : of_products;
}

/// One cycle.
template <class Scalar, class Device>
typename Gmres<Scalar, Device>::Stop Gmres<Scalar, Device>::run(const System& system,
                                                                SolveResult& result) {
  if (result.iterations == 0) // the first of this solve
    arnoldi_.start(negligible());
  const int length = std::min(length_, options_.max_iterations - result.iterations);
  const int columns = runCycle(system, length, result);
  if (arnoldi_.failed())
    return {SolveStatus::Diverged, "A or the preconditioner gave NaN or Inf"};
  const int used = correct(system, columns);
  if (used < columns)
    result.rel_residual = arnoldi_.residual(used) / system.reference;
  if (arnoldi_.singular()) // goes on if the residual has become smaller: A M may be nearly singular
                           // only
    return {SolveStatus::Breakdown,
            system.m != nullptr ? "the preconditioned matrix is singular to rounding"
                                : "the matrix is singular to rounding",
            singularAdvice(system.m != nullptr), true};
  return {};
}

/// Where M approximates A^-1, a product with A M changes lengths little. Growth by orders of
/// magnitude says that M is to blame, not A.
template <class Scalar, class Device>
std::string Gmres<Scalar, Device>::singularAdvice(bool preconditioned) const {
  if (!preconditioned)
    return "A is singular or close to it, and b not in its range; where A is only badly scaled, "
           "scale it or take a preconditioner";
  constexpr double suspicious = 1e6;
  const double growth = arnoldi_.largestColumn();
  if (growth > suspicious)
    return message("the preconditioner and A together make vectors ", growth,
                   " times as long, so the preconditioner is far from an inverse of A; exchange "
                   "rows of A, reorder or scale it (match=product, reorder= and scale= of ilu), or "
                   "take another one (more fill by level=, larger pivots by breakdown=shift and "
                   "pivot-tol=)");
  return "A is singular or close to it, or the preconditioner is; where A is not, reorder or scale "
         "it, or take another preconditioner";
}

/// Runs up to `length` steps from the residual in candidate() and appends to the history. Returns
/// the number of basis vectors whose combination is the iterate to be taken. Where the open column
/// ends the cycle, or seems to, one more kernel of inner products makes it final.
template <class Scalar, class Device>
int Gmres<Scalar, Device>::runCycle(const System& system, int length, SolveResult& result) {
  const execution_space& exec = system.exec;
  const int interval = detail::checkInterval<Device>(options_);
  arnoldi_.startCycle(length);
  int columns = 0;
  int seen = 0;
  for (int j = 0; j < length; ++j) {
    multiply(system, j);
    takeInnerProducts(exec, j, product());
    update(exec, j);
    const bool last = j + 1 == length;
    if (!last && (j + 1) % interval != 0)
      continue;

    if (last)
      takeInnerProducts(exec, j + 1, candidate());
    readRecords(exec, seen, last ? j + 2 : j + 1);
    for (; seen <= j; ++seen)
      arnoldi_.add(seen, record(host_records_.data(), seen));
    const bool near =
        !last && arnoldi_.predictedResidual() <= options_.tolerance * system.reference;
    if (near) {
      takeInnerProducts(exec, j + 1, candidate());
      readRecords(exec, j + 1, j + 2);
    }
    if (last || near)
      arnoldi_.close(j + 1, record(host_records_.data(), j + 1));

    while (columns < arnoldi_.columns() && !(columns > 0 && converged(result))) {
      ++columns;
      ++result.iterations;
      result.rel_residual = arnoldi_.residual(columns) / system.reference;
      result.history.push_back(result.rel_residual);
    }
    if (options_.progress)
      options_.progress(result.iterations, result.rel_residual);
    if (arnoldi_.exhausted() || arnoldi_.failed() || (columns > 0 && converged(result)))
      break;
  }
  return columns;
}

/// product = A M candidate
template <class Scalar, class Device>
void Gmres<Scalar, Device>::multiply(const System& system, int j) {
  if (system.m == nullptr) {
    system.a.apply(system.exec, candidate(), product());
    return;
  }
  system.m->apply(system.exec, candidate(), preconditioned(j));
  system.a.apply(system.exec, preconditioned(j), product());
}

/// Inner products of the first `columns` basis vectors with the candidate u and with z, into record
/// `columns`. With z = u what they say of z is worthless.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::takeInnerProducts(const execution_space& exec, int columns,
                                              VectorArg z) {
  const Reduction<Device>* const reduction = this->reduction();
  const ArnoldiRecord of_step = record(records_.data(), columns);
  withBasis([&](const auto& basis) {
    if (n_ == 0) // another process has rows
      return;
    using Stored = typename std::decay_t<decltype(basis)>::value_type;
    using Kernel = detail::ArnoldiDotsKernel<Stored, Scalar, Device>;
    Kokkos::parallel_for("Ainvil::Gmres::innerProducts",
                         shape_.policy(exec, Kernel::scratchBytes(shape_.team_size)),
                         Kernel{basis, candidate().data(), z.data(), columns, sums_, n_,
                                shape_.rows_per_team, shape_.lanes, of_step, reduction == nullptr});
  });
  if (reduction == nullptr)
    return;
  const Offset first = columns * recordSize();
  const auto products = Kokkos::subview(
      records_, std::make_pair(first, first + ArnoldiRecord::numProducts(recordCapacity())));
  if (n_ == 0)
    Kokkos::deep_copy(exec, products, 0.0);
  reduction->sum(exec, products);
  Kokkos::parallel_for("Ainvil::Gmres::concludeRecord",
                       Kokkos::TeamPolicy<execution_space>(exec, 1, 1, shape_.lanes),
                       detail::ArnoldiConcludeKernel<Device>{of_step, columns});
}

/// Makes the candidate basis vector j and what is left of the product the next candidate.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::update(const execution_space& exec, int j) {
  withBasis([&](const auto& basis) {
    using Stored = typename std::decay_t<decltype(basis)>::value_type;
    using Kernel = detail::ArnoldiUpdateKernel<Stored, Scalar, Device>;
    const Offset items = (n_ + Kernel::block - 1) / Kernel::block;
    Kokkos::parallel_for(
        "Ainvil::Gmres::update", detail::Range<execution_space>(exec, 0, items),
        Kernel{basis, candidate().data(), product().data(), n_, j, record(records_.data(), j)});
  });
}

/// Brings the records [first, last) to the host in one transfer.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::readRecords(const execution_space& exec, int first, int last) {
  const auto range = std::make_pair(first * recordSize(), last * recordSize());
  Kokkos::deep_copy(exec, Kokkos::subview(host_records_, range), Kokkos::subview(records_, range));
  compat::fence(exec, "Ainvil::Gmres::readRecords");
}

/// x += M V y, or if flexible x += Z R^-1 y. Returns the number of columns that took part.
template <class Scalar, class Device>
int Gmres<Scalar, Device>::correct(const System& system, int columns) {
  const execution_space& exec = system.exec;
  columns = arnoldi_.solve(columns, host_coefficients_.data());
  if (columns == 0)
    return 0;
  const bool from_z = flexible_ && system.m != nullptr;
  if (from_z)
    toCandidates(host_coefficients_.data(), columns);
  Kokkos::deep_copy(exec, coefficients_, host_coefficients_);
  const auto combine = [&](const auto& v, int beta, VectorArg y) {
    using Stored = typename std::decay_t<decltype(v)>::value_type;
    detail::combineColumns<Stored, Scalar, Device>(exec, v, coefficients_, columns, beta, y);
  };
  if (from_z) {
    combine(z_, 1, system.x);
  } else if (system.m == nullptr) {
    withBasis([&](const auto& basis) { combine(basis, 1, system.x); });
  } else {
    withBasis([&](const auto& basis) { combine(basis, 0, preconditioned(0)); });
    system.m->apply(exec, preconditioned(0), system.x, Trans::No, Scalar(1), Scalar(1));
  }
  return columns;
}

/// y = R^-1 y: from coefficients of the z~_j to those of the M_j u_j. Column j of R is in record j.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::toCandidates(double* y, int columns) const {
  for (int j = columns - 1; j >= 0; --j) {
    const ArnoldiRecord step = record(host_records_.data(), j);
    y[j] *= step.inverseNorm();
    for (int k = 0; k < j; ++k)
      y[k] -= step.dotU(k) * y[j];
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Gmres<double, DEVICE>;                                                            \
  template class Gmres<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
