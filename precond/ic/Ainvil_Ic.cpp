// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ic.hpp"

#include "Ainvil_Registry.hpp"
#include "graph/Ainvil_Symmetry.hpp"
#include "ic/Ainvil_BlockIc.hpp"
#include "ilu/Ainvil_FactorGrowth.hpp"
#include "ilu/Ainvil_ThresholdParameters.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"
#include "product/Ainvil_Probes.hpp"

#include <any>
#include <utility>

namespace ainvil {
namespace {

template <class Struct>
void addOptions(ParameterTable<Struct>& table) {
  table
      .choice("factorization", "fact: type", &Struct::pattern,
              {{"ick", IcPattern::Level}, {"ict", IcPattern::Threshold}},
              "pattern of the factor, by level of fill or by threshold")
      .integer("level", "fact: ic level-of-fill", &Struct::level, 0, "fill level k of IC(k)")
      .details("Entries, factorisation and applications grow with it.")
      .onlyIf([](const Struct& p) { return p.pattern == IcPattern::Level; }, "factorization=ick");
  detail::addThreshold(
      table, "fact: ict ", [](const Struct& p) { return p.pattern == IcPattern::Threshold; },
      "factorization=ict");
  detail::addModified(table, "In blocks: row sums of dropped blocks, from the diagonal of the "
                             "diagonal block.");
  detail::addDiagonalThresholds(table);
  table
      .choice("signs", "fact: ic pivot signs", &Struct::signs,
              {{"positive", PivotSigns::Positive},
               {"keep", PivotSigns::Keep},
               {"absolute", PivotSigns::Absolute}},
              "which pivots there may be: positive ones, or of any sign")
      .details("For symmetric indefinite matrices: `keep` applies L D L^T with D of any sign, "
               "for GMRES; `absolute` takes |D| in place of D, which is positive definite.");
  detail::addBreakdown(table,
                       "For pivots that are not positive, with `signs=keep` or `absolute` those "
                       "that are zero: throw; factor A + alpha diag(A), alpha "
                       "doubled until none is left; or take a multiple of I instead. The last two "
                       "are counted and reported.",
                       "The first alpha. A larger one takes fewer attempts and more iterations.");
  detail::addPivotTolerance(table, "A pivot counts as not positive, or zero, up to so many eps "
                                   "times the largest entry of its row of the matrix.");
}

/// Why a strategy cannot be one of ic.
std::string refusalOf(const std::string& strategy) {
  return message("ic is symmetric, but the strategy '", strategy,
                 "' varies from one application to the next: take solve=jacobi, solve=isai or "
                 "solve=exact");
}

/// Those of the triangular strategies whose applications are all the same.
template <class Scalar, class Device>
struct FixedStrategies {
  const detail::NamedMakers& all;

  std::vector<MethodHelp> help() const {
    std::vector<MethodHelp> fixed;
    for (const MethodHelp& strategy : all.help()) {
      if (varies(strategy.name))
        continue;
      fixed.push_back({strategy.name, strategy.meaning, {}});
      for (const ParameterHelp& parameter : strategy.parameters)
        if (!varies(parameter.condition)) // else it has an effect with that strategy alone
          fixed.back().parameters.push_back(parameter);
    }
    return fixed;
  }
  std::any read(const std::string& name, detail::Specification& specification) const {
    return all.read(name, specification);
  }
  /// With the defaults of its parameters.
  bool varies(const std::string& name) const {
    using Maker = TriangularSolverMaker<Scalar, Device>;
    const auto strategy = all.find(name);
    if (strategy == nullptr)
      return false;
    try {
      detail::Specification defaults(name);
      return !std::any_cast<Maker>(strategy->read(defaults))(Storage::Native)->isFixed();
    } catch (const Error&) { // it has to be told more: the constructor of Ic asks again
      return false;
    }
  }
};

} // namespace

const ParameterTable<IcOptions>& IcOptions::table() {
  const auto make = [] {
    ParameterTable<IcOptions> table;
    addOptions(table);
    return table.describedBy({"factorization?", "level", "drop", "max-fill", "repattern?",
                              "search?", "steps?", "modified?", "signs?", "abs-threshold?",
                              "rel-threshold?"});
  };
  static const ParameterTable<IcOptions> table = make();
  return table;
}

template <class Scalar, class Device>
const ParameterTable<IcParameters<Scalar, Device>>& Ic<Scalar, Device>::parameterTable() {
  using P = IcParameters<Scalar, Device>;
  const auto make = [] {
    // Its entry is among those that the library adds: asking for all would not end.
    static const FixedStrategies<Scalar, Device> known{
        detail::bareRegistry<Scalar, Device>().triangular_solvers};
    ParameterTable<P> table;
    addOptions(table);
    table
        .component("solve", "trisolver: type", known, &P::solve, "exact",
                   "substitution, products with an approximate inverse, or sweeps")
        .details("How L^-1 and L^-T are applied. A strategy that varies between applications, as "
                 "`async`, is refused: it cannot be symmetric.")
        .refusing([](const std::string& name) {
          return known.varies(name) ? refusalOf(name) : std::string();
        });
    detail::addStorage(table, precisionOf<Scalar>(),
                       "precision in which the applied factor is stored")
        .details("Pivots keep the precision of the vectors, in which arithmetic stays.");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
Ic<Scalar, Device>::Ic(const Parameters& parameters)
    : parameters_(parameterTable().checked(parameters)),
      solver_(parameters_.solve(parameters_.storage)),
      factorization_(std::make_unique<detail::BlockIc<Scalar, Device>>(parameters_)) {
  if (solver_ == nullptr)
    throw InvalidArgument("ic needs a triangular strategy");
  if (!solver_->isFixed())
    throw InvalidArgument(refusalOf(solver_->description()));
  solver_->keepTransposed();
}

template <class Scalar, class Device>
Ic<Scalar, Device>::~Ic() = default;

template <class Scalar, class Device>
std::string Ic<Scalar, Device>::description() const {
  return message("ic: {", IcOptions::table().describe(parameters_),
                 ", solve: ", solver().description(),
                 ", storage: ", nameOf<Scalar>(parameters_.storage), "}");
}

template <class Scalar, class Device>
const TriangularFactor<Scalar, Device>& Ic<Scalar, Device>::factor() const {
  return factorization_->factor();
}

template <class Scalar, class Device>
const Kokkos::View<Scalar*, Device>& Ic<Scalar, Device>::pivotInverses() const {
  return factorization_->pivotInverses();
}

template <class Scalar, class Device>
double Ic<Scalar, Device>::shift() const {
  return factorization_->shift();
}

template <class Scalar, class Device>
std::function<void(Offset)> Ic<Scalar, Device>::patternProgress(const Matrix& a) const {
  return this->progressOf(detail::rows_of_pattern, a.numRows());
}

template <class Scalar, class Device>
void Ic<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  knows_pattern_ = false;
  factorization_->initialize(exec, a, report_, patternProgress(a));
  if (!factorization_->followsValues())
    initializeSolver(exec);
  detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
  symmetry_room_ = detail::symmetryRoom<Device>(exec, a.numRows());
}

template <class Scalar, class Device>
void Ic<Scalar, Device>::initializeSolver(const execution_space& exec) {
  solver_->initialize(exec, factor(), "lower_", report_);
}

template <class Scalar, class Device>
bool Ic<Scalar, Device>::refusesNonFinite() const {
  return factorization_->refusesNonFinite();
}

template <class Scalar, class Device>
void Ic<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  const bool may_keep = std::exchange(knows_pattern_, false); // nor is it known after a breakdown
  report_.phases.time(exec, "Ic", "check",
                      [&] { detail::requireSymmetric(exec, a, "ic", "use ilu", symmetry_room_); });
  if (factorization_->followsValues() &&
      factorization_->findPattern(exec, a, may_keep, report_, patternProgress(a)))
    initializeSolver(exec);
  factorization_->compute(exec, a, report_);
  solver_->compute(exec, factor(), "lower_", report_);
  if (solver().takesProbes()) {
    const auto r = detail::workspaceOf(exec, intermediate_, a.numPointRows(), detail::num_probes);
    detail::fillProbes<Scalar, Device>(exec, r);
    solver_->fit(exec, factor(), {r}, "lower_", report_);
  }
  knows_pattern_ = true;
  report_.factor_entries = solver().entries();
  report_.factor_bytes =
      2 * solver().bytes() + static_cast<Offset>(pivotInverses().extent(0) * sizeof(Scalar));
}

template <class Scalar, class Device>
void Ic<Scalar, Device>::doDiagnose(const execution_space& exec, const Matrix& a) {
  solver().diagnose(exec, factor(), "lower_", report_);
  const detail::Growth growth = detail::growthOf(exec, factor(), a);
  if (growth.isLarge())
    report_.note("lower_" + growth.note());
}

template <class Scalar, class Device>
void Ic<Scalar, Device>::doApply(const execution_space& exec,
                                 MultiVectorArg<const Scalar, Device> x,
                                 MultiVectorArg<Scalar, Device> y, Trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  solver().applySymmetric(exec, pivotInverses(), factor().matrix.block_size, x, t, y);
}

AINVIL_INSTANTIATE_CLASS(Ic)

} // namespace ainvil
