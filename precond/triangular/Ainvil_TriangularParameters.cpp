// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The keys of the triangular strategies.

#include "parameters/Ainvil_ParameterTable.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

namespace ainvil {

const ParameterTable<IsaiOptions>& IsaiOptions::table() {
  using P = IsaiOptions;
  const auto isAuto = [](const P& p) { return p.relax == relax_auto; };
  const auto make = [&] {
    ParameterTable<P> table;
    return table
        .integer("power", "isai: pattern power", &P::power, 1, "pattern power p of |L|^p, |U|^p")
        .details("Fewer iterations; set-up, memory and applications grow as that pattern.")
        .choice("side", "isai: side", &P::side,
                {{"rows", IsaiSide::Rows}, {"columns", IsaiSide::Columns}},
                "(M T) = I or (T M) = I on the pattern")
        .details("Columns transpose pattern and values besides.")
        .integer("adaptive", "isai: adaptive steps", &P::adaptive, 0,
                 "times that rows with large residuals grow by a power, 0 for none")
        .details(
            "Rows have powers of their own, from `power` to `power` + `adaptive`, found by the "
            "first `compute` of a graph.")
        .number("eps", "isai: epsilon", &P::eps, NumberRange::NonNegative,
                "rows with a smaller residual stay")
        .onlyIf([](const P& p) { return p.adaptive > 0; }, "adaptive")
        .integer("relax", "isai: relaxation steps", &P::relax, 0,
                 "relaxation steps of one application")
        .word("auto", relax_auto)
        .details("z <- z + M (r - T z), each a product with T and one with M. `auto` finds the "
                 "fewest at each `compute`.")
        .number("relax-threshold", "isai: relaxation threshold", &P::relax_threshold,
                NumberRange::Positive, "accepted residual of random probes")
        .onlyIf(isAuto, "relax=auto")
        .details("Relative to the right-hand side.")
        .integer("relax-limit", "isai: relaxation limit", &P::relax_limit, 0, "most steps")
        .onlyIf(isAuto, "relax=auto")
        .choice("fallback", "isai: fallback", &P::fallback,
                {{"none", IsaiFallback::None}, {"exact", IsaiFallback::Exact}},
                "in place of the inverse where no number of steps serves")
        .onlyIf(isAuto, "relax=auto")
        .details("Substitution; or none: where the best step leaves 1 or more and no more steps "
                 "would help, solvers stop with status `diverged`.")
        .number("fallback-threshold", "isai: fallback threshold", &P::fallback_threshold,
                NumberRange::Positive, "residual of random probes from which on none serves")
        .onlyIf([=](const P& p) { return isAuto(p) && p.fallback != IsaiFallback::None; },
                "fallback=exact")
        .describedBy({"power", "side", "adaptive?", "eps", "relax"});
  };
  static const ParameterTable<P> table = make();
  return table;
}

const ParameterTable<SweepParameters>& SweepParameters::table(SweepMode mode) {
  using P = SweepParameters;
  const auto make = [](SweepMode of) {
    P defaults;
    defaults.mode = of;
    ParameterTable<P> table(defaults);
    return table.integer("sweeps", "sweep: iterations", &P::sweeps, 0, "sweeps of one application")
        .atLeastIf([](const P& p) { return p.start == SweepStart::Zero; }, 1, "start=zero")
        .details("A product each.")
        .number("damping", "sweep: damping factor", &P::damping, NumberRange::Positive,
                "damping factor omega")
        .below(2)
        .details("Other values than 1 lose the exactness after as many sweeps as there are level "
                 "sets.")
        .choice("start", "sweep: start", &P::start,
                {{"diagonal", SweepStart::Diagonal}, {"zero", SweepStart::Zero}},
                "from D^-1 b or from 0")
        .details("From 0 the first sweep makes D^-1 b.")
        .choice("order", "sweep: order", &P::order,
                {{"along", SweepOrder::Along}, {"against", SweepOrder::Against}},
                "rows started along the dependencies or against")
        .onlyIf([](const P& p) { return p.mode == SweepMode::Async; }, "async")
        .details("Against them is for comparison.")
        .number("divergence-limit", "sweep: divergence limit", &P::divergence_limit,
                NumberRange::Positive, "residual of random probes not accepted")
        .details("Above it solvers stop with status `diverged`.")
        .describedBy({"sweeps", "damping?", "start?", "order?"});
  };
  static const ParameterTable<P> jacobi = make(SweepMode::Jacobi), async = make(SweepMode::Async);
  return mode == SweepMode::Jacobi ? jacobi : async;
}

} // namespace ainvil
