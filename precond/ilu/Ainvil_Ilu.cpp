// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ilu.hpp"

#include "Ainvil_Registry.hpp"
#include "breakdown/Ainvil_PivotBreakdown.hpp"
#include "ilu/Ainvil_FactorGrowth.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"
#include "product/Ainvil_Probes.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace ainvil {

namespace {

/// Parameters of ilu that are set, or that must not be beside those.
std::vector<std::string> takenBefore(const RearrangementParameters& rearrangement) {
  std::vector<std::string> taken;
  if (rearrangement.match != RowMatching::None)
    taken = {"match", "scale"}; // it scales, too
  if (rearrangement.scale != MatrixScaling::None)
    taken.push_back("scale");
  if (rearrangement.order != Ordering::Natural)
    taken.push_back("reorder");
  return taken;
}

template <class P>
void addRearrangement(ParameterTable<P>& table) {
  const auto match = [](P& p) -> RowMatching& { return p.rearrangement.match; };
  const auto scale = [](P& p) -> MatrixScaling& { return p.rearrangement.scale; };
  const auto order = [](P& p) -> Ordering& { return p.rearrangement.order; };
  table
      .choice("match", "match: type", match,
              {{"none", RowMatching::None}, {"product", RowMatching::Product}},
              "exchange rows for the largest product on the diagonal, and scale")
      .details("For matrices with zeros or small entries on the diagonal. Serial, in the first "
               "`compute` of a graph, which then finds the patterns too; later ones keep it.")
      .choice("scale", "scale: type", scale,
              {{"none", MatrixScaling::None}, {"ruiz", MatrixScaling::Ruiz}},
              "scale rows and columns to largest entries of 1")
      .details("Changes what counts as a small pivot and how far `shift` goes, not the factors "
               "of level k. Eleven passes over the matrix at each `compute`.")
      .onlyIf([](const P& p) { return p.rearrangement.takesScale(); }, "match=none")
      .choice("reorder", "reorder: type", order,
              {{"none", Ordering::Natural},
               {"rcm", Ordering::Rcm},
               {"nd", Ordering::NestedDissection},
               {"colour", Ordering::Multicolour},
               {"block-colour", Ordering::BlockMulticolour}},
              "order of rows and columns that are factored, after the matching")
      .details("Reverse Cuthill-McKee, nested dissection (METIS), or colours of rows or of groups "
               "of 16, for few level sets; serial, once a graph.");
}

} // namespace

template <class Scalar, class Device>
const ParameterTable<IluParameters<Scalar, Device>>& Ilu<Scalar, Device>::parameterTable() {
  using P = IluParameters<Scalar, Device>;
  const auto make = [] {
    // Its entry is among those that the library adds: asking for all would not end.
    auto& known = detail::bareRegistry<Scalar, Device>();
    ParameterTable<P> table;
    table
        .component("factorization", "fact: type", known.factorizations, &P::factorization, "iluk",
                   "incomplete factorisation of A")
        .component("solve", "trisolver: type", known.triangular_solvers, &P::solve, "exact",
                   "substitution, products with approximate inverses, or sweeps")
        .details("How L^-1 and U^-1 are applied.");
    detail::addStorage(table, precisionOf<Scalar>(),
                       "precision in which the applied factors are stored")
        .details("Arithmetic stays in that of the vectors. `float` halves the bytes of its values, "
                 "`bfloat16` quarters them.");
    addRearrangement(table);
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
Ilu<Scalar, Device>::Ilu(const Parameters& parameters)
    : parameters_(parameterTable().checked(parameters)),
      factorization_(parameters_.factorization()), lower_(parameters_.solve(parameters_.storage)),
      upper_(parameters_.solve(parameters_.storage)), rearrangement_(parameters_.rearrangement) {
  if (factorization_ == nullptr || lower_ == nullptr || upper_ == nullptr)
    throw InvalidArgument("ilu needs a factorisation and a triangular strategy for each factor");
  if (!parameters_.rearrangement.takesScale() &&
      parameters_.rearrangement.scale != MatrixScaling::None)
    throw InvalidArgument("'scale' has no effect with 'match', which brings scalings of its own");
  factorization_->followProgress(this->progress());
}

template <class Scalar, class Device>
std::string Ilu<Scalar, Device>::description() const {
  return message("ilu: {", factors().description(), ", solve: ", lowerSolver().description(),
                 ", storage: ", nameOf<Scalar>(parameters_.storage),
                 parameters_.rearrangement.description(), "}");
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::initializeParts(const execution_space& exec, const Matrix& b) {
  amplified_ = {};
  factorization_->initialize(exec, b, report_);
  if (!factors().followsValues())
    initializeSolvers(exec);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::initializeSolvers(const execution_space& exec) {
  lower_->initialize(exec, factors().lower(), "lower_", report_);
  upper_->initialize(exec, factors().upper(), "upper_", report_);
  if (upperSolver().takesProbes())
    probed_ = SparseOperator<Scalar, Device>(exec, factors().lower().matrix);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  detail::workspaceOf(exec, intermediate_, a.numPointRows(), 2);
  knows_pattern_ = false;
  if (!isRearranged()) {
    initializeParts(exec, a);
    return;
  }
  detail::workspaceOf(exec, rearranged_, a.numPointRows(), 1);
  rearrangement_.initialize(exec, a, report_);
  if (!rearrangement_.followsValues())
    initializeParts(exec, rearrangement_.matrix());
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::computeParts(const execution_space& exec, const Matrix& b,
                                       bool may_keep) {
  if (factors().followsValues() && factorization_->findPattern(exec, b, may_keep, report_))
    initializeSolvers(exec);
  factorization_->compute(exec, b, report_);
  lower_->compute(exec, factors().lower(), "lower_", report_);
  upper_->compute(exec, factors().upper(), "upper_", report_);
  fitSolvers(exec);
  report_.phases.time(exec, "Ilu", "ilu_judge", [&] {
    noteGrowth(exec, "lower_", factors().lower(), b);
    noteGrowth(exec, "upper_", factors().upper(), b);
    if (report_.objection.empty())
      judgeFactors(exec, b);
  });
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::fitSolvers(const execution_space& exec) {
  if (!lowerSolver().takesProbes() && !upperSolver().takesProbes())
    return;
  const Offset n = factors().lower().matrix.numPointRows();
  const int k = detail::num_probes;
  const auto work = detail::workspaceOf(exec, intermediate_, n, 2 * k);
  const MultiVectorArg<Scalar, Device> r(work.data(), n, k), y(work.data() + n * k, n, k);
  detail::fillProbes<Scalar, Device>(exec, r);
  lower_->fit(exec, factors().lower(), {r}, "lower_", report_);
  lowerSolver().apply(exec, r, y, Trans::No);
  upper_->fit(exec, factors().upper(), {y, &probed_, factors().lower().unit}, "upper_", report_);
}

template <class Scalar, class Device>
double Ilu<Scalar, Device>::amplification(const execution_space& exec, const Matrix& b) {
  if (amplified_.numRows() == 0)
    amplified_.setGraph(exec, b.graph, b.block_size);
  amplified_.update(exec, b.values);
  const Offset n = b.numPointRows();
  const auto work = detail::workspaceOf(exec, intermediate_, n, 2);
  const MultiVectorArg<Scalar, Device> s(work.data(), n, 1), t(work.data() + n, n, 1);
  detail::fillProbes<Scalar, Device>(exec, s);
  amplified_.multiply(exec, Trans::No, Scalar(1), s, Scalar(0), t);
  const double before = detail::norm<Scalar, Device>(exec, t);
  lowerSolver().apply(exec, t, s, Trans::No);
  upperSolver().apply(exec, s, t, Trans::No);
  amplified_.multiply(exec, Trans::No, Scalar(1), t, Scalar(0), s);
  return before > 0 ? detail::norm<Scalar, Device>(exec, s) / before : 0.0;
}

template <class Scalar, class Device>
double Ilu<Scalar, Device>::inverseOfOnes(const execution_space& exec) const {
  const Offset n = factors().lower().matrix.numPointRows();
  const auto work = detail::workspaceOf(exec, intermediate_, n, 2);
  const MultiVectorArg<Scalar, Device> s(work.data(), n, 1), t(work.data() + n, n, 1);
  Kokkos::deep_copy(exec, s, Scalar(1));
  lowerSolver().apply(exec, s, t, Trans::No);
  upperSolver().apply(exec, t, s, Trans::No);
  return detail::largestModulus<Scalar, Device>(exec, s);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::judgeFactors(const execution_space& exec, const Matrix& b) {
  // Solvers have converged with 2e-3 / eps: a few directions that grow so far are soon found.
  constexpr double suspicious = 1e6, most = 1e4 / std::numeric_limits<Scalar>::epsilon();
  const TriangularFactor<Scalar, Device>& u = factors().upper();
  const double largest =
      u.growth >= 0 ? u.growth
                    : detail::largestModulus<Scalar, Device>(exec, asColumn(u.matrix.values));
  if (largest <= suspicious)
    return;
  const double grows = amplification(exec, b);
  report_.note(message("amplification=", grows));
  report_.note(message("condition=", inverseOfOnes(exec)));
  if (!(grows <= most))
    report_.objection =
        detail::Remedies{{"exchange rows (match=product)", "match"},
                         {factors().followsValues()
                              ? "keep more entries (a smaller drop, a larger max-fill)"
                              : "take more fill (a higher level, or factorization=ilut)"},
                         {"take an order with less fill (reorder=nd)", "reorder"},
                         {"raise rel-threshold (1.1, say)"}}
            .without(takenBefore(parameters_.rearrangement))
            .after(message("the factors of ilu are no approximation of the matrix: with them its ",
                           "product with random vectors grows ",
                           std::isfinite(grows) ? message("by ", grows) : "without bound"));
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::computeRearranged(const execution_space& exec, const Matrix& a,
                                            bool may_keep) {
  if (rearrangement_.followsValues() && !may_keep) {
    rearrangement_.find(exec, a, report_, this->progressOf("rows matched", a.numRows()));
    initializeParts(exec, rearrangement_.matrix());
  }
  report_.phases.time(exec, "Ilu", "ilu_rearrange", [&] { rearrangement_.update(exec, a); });
  try {
    computeParts(exec, rearrangement_.matrix(), may_keep);
  } catch (const detail::PivotBreakdown& error) {
    throw detail::PivotBreakdown(error.fact() + rearrangement_.remark(),
                                 error.remedies().without(takenBefore(parameters_.rearrangement)));
  } catch (const BreakdownError& error) {
    throw BreakdownError(error.what() + rearrangement_.remark());
  }
  if (report_.first_breakdown >= 0)
    report_.first_breakdown = rearrangement_.originalRow(exec, report_.first_breakdown);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  const bool may_keep = std::exchange(knows_pattern_, false); // nor is it known after a breakdown
  if (isRearranged())
    computeRearranged(exec, a, may_keep);
  else
    computeParts(exec, a, may_keep);
  knows_pattern_ = true;
  report_.factor_entries = lowerSolver().entries() + upperSolver().entries();
  report_.factor_bytes = lowerSolver().bytes() + upperSolver().bytes();
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doDiagnose(const execution_space& exec, const Matrix& a) {
  const Matrix& b = isRearranged() ? rearrangement_.matrix() : a;
  factors().diagnose(exec, b, report_);
  lowerSolver().diagnose(exec, factors().lower(), "lower_", report_);
  upperSolver().diagnose(exec, factors().upper(), "upper_", report_);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::noteGrowth(const execution_space& exec, const std::string& prefix,
                                     const TriangularFactor<Scalar, Device>& factor,
                                     const Matrix& b) {
  detail::Growth growth = detail::growthOf(exec, factor, b);
  if (!growth.isLarge())
    return;
  if (isRearranged())
    growth.row = rearrangement_.originalRow(exec, growth.row);
  report_.note(prefix + growth.note());
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doApply(const execution_space& exec,
                                  MultiVectorArg<const Scalar, Device> x,
                                  MultiVectorArg<Scalar, Device> y, Trans trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  const auto& first = trans == Trans::No ? lowerSolver() : upperSolver();
  const auto& second = trans == Trans::No ? upperSolver() : lowerSolver();
  if (!isRearranged()) {
    first.apply(exec, x, t, trans);
    second.apply(exec, t, y, trans);
    return;
  }
  const auto b = detail::workspaceOf(exec, rearranged_, x.extent(0), x.extent(1));
  rearrangement_.enter(exec, trans, x, b);
  first.apply(exec, b, t, trans);
  second.apply(exec, t, b, trans);
  rearrangement_.leave(exec, trans, b, y);
}

AINVIL_INSTANTIATE_CLASS(Ilu)

} // namespace ainvil
