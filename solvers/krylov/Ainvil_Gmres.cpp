// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Gmres.hpp"

#include "krylov/Ainvil_ArnoldiKernels.hpp"

#include <algorithm>
#include <limits>

namespace ainvil {

using detail::ArnoldiRecord;
using detail::ArnoldiStep;

template <class Scalar, class Device>
Gmres<Scalar, Device>::Gmres(SolverOptions options, Flexible flexible)
    : Base(std::move(options), flexible == Flexible::Yes ? "FGMRES" : "GMRES",
           flexible == Flexible::Yes ? nullptr : "x = x_0 + M V y holds for one fixed M only"),
      flexible_(flexible == Flexible::Yes) {}

template <class Scalar, class Device>
void Gmres<Scalar, Device>::allocate(const execution_space& exec, Offset n, bool preconditioned) {
  length_ = static_cast<int>(std::max<Offset>(
      1, std::min<Offset>({options_.restart, options_.max_iterations, this->unknowns_})));
  const size_t capacity = this->capacity_;
  basis_ = work_ = z_ = {}; // frees memory first
  single_basis_ = {};
  const auto vectors = [&](auto& to, const char* label, size_t of_column) {
    to = allocateView<std::decay_t<decltype(to)>>(exec, label, size_t(n), capacity * of_column);
  };
  if (options_.basis == Storage::Float)
    vectors(single_basis_, "Ainvil::Gmres::basis", length_);
  else
    vectors(basis_, "Ainvil::Gmres::basis", length_);
  vectors(work_, "Ainvil::Gmres::candidate", 2);
  const int stored = flexible_ ? length_ : 1;
  vectors(z_, "Ainvil::Gmres::preconditioned", preconditioned ? stored : 0);
  const int room = length_ + 2; // of the sums of a record
  // The last step, too, says what would come next.
  const size_t losses = reorthogonalizesByNeed() ? length_ + 1 : 0;
  losses_ =
      ainvil::allocate<double, Device>(exec, "Ainvil::Gmres::losses", capacity * losses * losses);
  sums_ = detail::PartialSums<Device>(exec, 2 * room, shape_, this->reduction(), this->capacity_);
  arnoldi_.resize(capacity);
  // Zeros: records are read as a whole, also where a step has written nothing.
  records_ = allocateZeros<double, Device>(exec, "Ainvil::Gmres::records",
                                           (length_ + 1) *
                                               Offset(ArnoldiStep::sizeFor(room, this->capacity_)));
  coefficients_ =
      ainvil::allocate<double, Device>(exec, "Ainvil::Gmres::coefficients", length_ * capacity);
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

template <class Scalar, class Device>
template <class Body>
void Gmres<Scalar, Device>::withBasis(const Body& body) {
  const Offset of_column = length_ * n_;
  if (options_.basis == Storage::Float)
    body(detail::KernelBases<float>{single_basis_.data(), n_, of_column});
  else
    body(detail::KernelBases<Scalar>{basis_.data(), n_, of_column});
}

template <class Scalar, class Device>
template <class Body>
void Gmres<Scalar, Device>::withOperands(const Columns& columns, VectorArg z,
                                         const ArnoldiStep& step, const Body& body) {
  using Form = detail::ArnoldiForm;
  withBasis([&](const auto& basis) {
    using Stored = std::decay_t<decltype(*basis.data)>;
    const detail::ArnoldiOperands<Stored, Scalar> operands{basis, candidate(), z, columns, step};
    if constexpr (compat::IsGpu<execution_space>::value) {
      constexpr Offset most_rows = std::numeric_limits<int>::max() / 4;
      if (!reorthogonalizesByNeed() && n_ <= most_rows) {
        if (columns.size() == 1)
          body(operands.asColumn0(columns[0]), std::integral_constant<Form, Form::OneColumn>());
        else
          body(operands, std::integral_constant<Form, Form::TwiceBelow512M>());
        return;
      }
    }
    body(operands, std::integral_constant<Form, Form::General>());
  });
}

template <class Scalar, class Device>
bool Gmres<Scalar, Device>::reorthogonalizesByNeed() const {
  if (options_.reorthogonalize == Reorthogonalize::Default)
    return !compat::IsGpu<execution_space>::value;
  return options_.reorthogonalize == Reorthogonalize::IfNeeded;
}

/// What a vector may lose: with V^T V = I + E the residual of least squares and the true minimum
/// differ by a relative ||E||, and sqrt(eps) is far less than iteration counts would show. More is
/// not allowed, because each step multiplies E.
template <class Scalar, class Device>
detail::OrthogonalityLoss Gmres<Scalar, Device>::losses(NextStep next) const {
  const double of_scalar = std::numeric_limits<Scalar>::epsilon();
  const double of_basis =
      options_.basis == Storage::Float ? std::numeric_limits<float>::epsilon() : of_scalar;
  const bool by_need = reorthogonalizesByNeed();
  // 10: rounding of a long inner product.
  return {by_need ? losses_.data() : nullptr, length_ + 1, 10 * of_scalar + of_basis,
          std::sqrt(of_basis), next == NextStep::Follows};
}

/// One cycle, of all columns at the same time.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::run(const System& system, const Columns& columns, SolveResult* results,
                                Stop* stops) {
  if (!system.resumes)
    startCycle(columns, results);
  runCycle(system, results);
  const Counts& vectors = cycle_.vectors;
  Columns sound;
  for (const int c : columns)
    if (arnoldi_[c].failed())
      stops[c] = Base::notFinite();
    else
      sound.add(c);
  const Counts used = correct(system, sound, vectors);
  for (const int c : sound) {
    if (used[c] < vectors[c])
      results[c].rel_residual = arnoldi_[c].residual(used[c]) / system.targets.reference[c];
    if (arnoldi_[c].singular()) // goes on if the residual has become smaller: A M may be nearly
                                // singular only
      stops[c] = {SolveStatus::Breakdown,
                  system.m != nullptr ? "the preconditioned matrix is singular to rounding"
                                      : "the matrix is singular to rounding",
                  singularAdvice(system.m != nullptr, c), true};
  }
}

/// Where M approximates A^-1, a product with A M changes lengths little. Growth by orders of
/// magnitude says that M is to blame, not A.
template <class Scalar, class Device>
std::string Gmres<Scalar, Device>::singularAdvice(bool preconditioned, int column) const {
  if (!preconditioned)
    return "A is singular or close to it, and b not in its range; where A is only badly scaled, "
           "scale it or take a preconditioner";
  constexpr double suspicious = 1e6;
  const double growth = arnoldi_[column].largestColumn();
  if (growth > suspicious)
    return message("the preconditioner and A together make vectors ", growth,
                   " times as long, so the preconditioner is far from an inverse of A; exchange "
                   "rows of A, reorder or scale it (match=product, reorder= and scale= of ilu), or "
                   "take another one (more fill by level=, larger pivots by breakdown=shift and "
                   "pivot-tol=)");
  return "A is singular or close to it, or the preconditioner is; where A is not, reorder or scale "
         "it, or take another preconditioner";
}

/// As many steps as the length of a cycle and max_iterations allow each column.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::startCycle(const Columns& columns, const SolveResult* results) {
  cycle_ = {};
  cycle_.running = columns;
  for (const int c : columns) {
    if (results[c].iterations == 0) // the first of this solve
      arnoldi_[c].start(negligible());
    cycle_.lengths[c] = std::min(length_, options_.max_iterations - results[c].iterations);
    arnoldi_[c].startCycle(cycle_.lengths[c]);
  }
}

/// Runs the steps of a cycle, from the residuals in candidate() or behind a look, and appends to
/// the histories. Where the open column of a least-squares problem ends the cycle, or seems to, one
/// more kernel of inner products makes it final.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::runCycle(const System& system, SolveResult* results) {
  const execution_space& exec = system.exec;
  const int interval = detail::checkInterval<Device>(options_);
  auto& [running, lengths, vectors, steps, seen] = cycle_;
  while (!running.empty()) {
    const int j = steps++;
    multiply(system, running, j);
    takeInnerProducts(exec, running, j, product(), NextStep::Follows);
    update(exec, running, j);
    Columns closing;
    for (const int c : running)
      if (steps == lengths[c])
        closing.add(c);
    if (closing.empty() && steps % interval != 0)
      continue;

    if (!closing.empty())
      takeInnerProducts(exec, closing, steps, candidate(), NextStep::None);
    readRecords(exec, seen, closing.empty() ? steps : steps + 1);
    Columns near;
    for (const int c : running) {
      for (int i = seen; i < steps; ++i)
        arnoldi_[c].add(i, hostRecord(i, c));
      if (steps == lengths[c])
        arnoldi_[c].close(steps, hostRecord(steps, c));
      else if (arnoldi_[c].predictedResidual() <= system.targets.norm(c))
        near.add(c);
    }
    seen = steps;
    if (!near.empty()) {
      takeInnerProducts(exec, near, steps, candidate(), NextStep::None);
      readRecords(exec, steps, steps + 1);
      for (const int c : near)
        arnoldi_[c].close(steps, hostRecord(steps, c));
    }
    const Columns looked = running;
    look(system, results);
    if (!this->goesOn(system, looked, results))
      return;
  }
}

/// Takes the final columns of the least-squares problems as iterations, up to the one that meets
/// the tolerance, and the columns out of the cycle that are through.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::look(const System& system, SolveResult* results) {
  auto& [running, lengths, vectors, steps, seen] = cycle_;
  Columns going;
  for (const int c : running) {
    SolveResult& result = results[c];
    const auto isThrough = [&, c = c] { return cycle_.vectors[c] > 0 && isMet(system, c, result); };
    while (vectors[c] < arnoldi_[c].columns() && !isThrough()) {
      ++vectors[c];
      ++result.iterations;
      result.rel_residual = arnoldi_[c].residual(vectors[c]) / system.targets.reference[c];
      result.history.push_back(result.rel_residual);
    }
    if (!arnoldi_[c].exhausted() && !arnoldi_[c].failed() && steps < lengths[c] && !isThrough())
      going.add(c);
  }
  running = going;
}

/// product = A M candidate
template <class Scalar, class Device>
void Gmres<Scalar, Device>::multiply(const System& system, const Columns& columns, int j) {
  const VectorArg z = system.m != nullptr ? preconditioned(j) : VectorArg();
  Base::multiply(system, columns, candidate(), z, product());
}

/// Inner products of the first `vectors` basis vectors with the candidate u and with z, into the
/// records of step `vectors`. With z = u, the candidate that a cycle ends with, what they say of z
/// is worthless and no step `follows`.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::takeInnerProducts(const execution_space& exec, const Columns& columns,
                                              int vectors, VectorArg z, NextStep next) {
  const Reduction<Device>* const reduction = this->reduction();
  const ArnoldiStep to = step(records_.data(), vectors);
  const ArnoldiStep from = reduction == nullptr ? to : to.withSumsAt(sums_.of_process.data());
  withOperands(columns, z, from, [&](const auto& on, const auto form) {
    if (n_ == 0) // another process has rows
      return;
    using Stored = std::decay_t<decltype(*on.v.data)>;
    using Kernel = detail::ArnoldiDotsKernel<Stored, Scalar, Device, decltype(form)::value>;
    const detail::ChunkShares shares = shape_.shares(exec, on.sides.size());
    Kokkos::parallel_for(
        "Ainvil::Gmres::innerProducts",
        shape_.template policy<Kernel::gpu_threads>(
            exec,
            Kernel::scratchBytes(shape_.template teamSize<Kernel::gpu_threads>(), shares.per_team),
            shares),
        detail::withinArguments(Kernel{on.toRead(), vectors, sums_.inKernel(), n_,
                                       shape_.rows_per_chunk, shape_.lanes, shares,
                                       reduction == nullptr, losses(next)}));
  });
  if (reduction == nullptr)
    return;
  const auto of_process = Kokkos::subview(sums_.of_process, std::make_pair(0, from.numProducts()));
  if (n_ == 0)
    Kokkos::deep_copy(exec, of_process, 0.0);
  reduction->sum(exec, of_process);
  Kokkos::parallel_for("Ainvil::Gmres::concludeRecord",
                       Kokkos::TeamPolicy<execution_space>(exec, columns.size(), 1, shape_.lanes),
                       detail::withinArguments(detail::ArnoldiConcludeKernel<Device>{
                           from, to, columns, vectors, losses(next)}));
}

/// Makes the candidate basis vector j and what is left of the product the next candidate.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::update(const execution_space& exec, const Columns& columns, int j) {
  withOperands(columns, product(), step(records_.data(), j), [&](const auto& on, const auto form) {
    using Stored = std::decay_t<decltype(*on.v.data)>;
    using Kernel = detail::ArnoldiUpdateKernel<Stored, Scalar, Device, decltype(form)::value>;
    const auto runs = detail::runsOf<execution_space>(on.sides, n_);
    Kokkos::parallel_for(
        "Ainvil::Gmres::update", detail::Range<execution_space>(exec, 0, runs.numItems()),
        detail::withinArguments(Kernel{on, runs, n_, j, losses(NextStep::Follows)}));
  });
}

/// Brings the records of steps [first, last) to the host in one transfer.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::readRecords(const execution_space& exec, int first, int last) {
  double* const data = records_.data();
  const auto range = std::make_pair(step(data, first).data - data, step(data, last).data - data);
  Kokkos::deep_copy(exec, Kokkos::subview(host_records_, range), Kokkos::subview(records_, range));
  compat::fence(exec, "Ainvil::Gmres::readRecords");
}

/// x += M V y, or if flexible x += Z R^-1 y. Returns the numbers of basis vectors that took part.
template <class Scalar, class Device>
typename Gmres<Scalar, Device>::Counts Gmres<Scalar, Device>::correct(const System& system,
                                                                      const Columns& columns,
                                                                      const Counts& vectors) {
  const execution_space& exec = system.exec;
  const bool from_z = flexible_ && system.m != nullptr;
  Counts used = {};
  Columns moved;
  detail::NumberOfColumn counts;
  for (const int c : columns) {
    double* const y = host_coefficients_.data() + c * Offset(length_);
    used[c] = counts.numbers[c] = arnoldi_[c].solve(vectors[c], y);
    if (used[c] > 0)
      moved.add(c);
    if (from_z)
      toCandidates(y, c, used[c]);
  }
  if (moved.empty())
    return used;
  Kokkos::deep_copy(exec, coefficients_, host_coefficients_);
  const detail::KernelBases<const double> y{coefficients_.data(), 1, length_};
  const auto combine = [&](const auto& v, int beta, VectorArg to) {
    using Stored = std::decay_t<decltype(*v.data)>;
    detail::combineColumns<Stored, Scalar, Device>(
        exec, moved, {v.data, v.vector_stride, v.column_stride}, y, counts, beta, to);
  };
  if (from_z) {
    combine(detail::KernelBases<Scalar>{z_.data(), columns_ * n_, n_}, 1, system.x);
  } else if (system.m == nullptr) {
    withBasis([&](const auto& basis) { combine(basis, 1, system.x); });
  } else {
    withBasis([&](const auto& basis) { combine(basis, 0, preconditioned(0)); });
    detail::applyToColumns<Scalar, Device>(exec, *system.m, moved, preconditioned(0), system.x, 0,
                                           Scalar(1), Scalar(1));
  }
  return used;
}

/// y = R^-1 y: from coefficients of the z~_j to those of the M_j u_j. Column j of R is in record j.
template <class Scalar, class Device>
void Gmres<Scalar, Device>::toCandidates(double* y, int column, int vectors) const {
  for (int j = vectors - 1; j >= 0; --j) {
    const ArnoldiRecord record = hostRecord(j, column);
    y[j] *= record.inverseNorm();
    for (int k = 0; k < j; ++k)
      y[k] -= record.dotU(k) * y[j];
  }
}

AINVIL_INSTANTIATE_CLASS(Gmres)

} // namespace ainvil
