// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Spai.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

const ParameterTable<SpaiOptions>& SpaiOptions::table(VectorPrecision vectors) {
  using P = SpaiOptions;
  const auto grows = [](const P& p) { return p.adaptive.steps > 0; };
  const auto make = [&](VectorPrecision of) {
    ParameterTable<P> table;
    table
        .integer("power", "spai: pattern power", &P::power, 0,
                 "pattern: that of this power of A, sparsified; adaptive: it grows from that")
        .insteadIf(grows, "adaptive", [](P& p) -> int& { return p.adaptive.power; })
        .details("A block row with m blocks, over k columns of A, costs up to 4 k (m b)^2 b "
                 "operations.")
        .number("tau", "spai: threshold", &P::tau, NumberRange::NonNegative,
                "pattern: entries of A above tau sqrt(a_ii a_jj)")
        .below(1)
        .details("0: all of them. Larger: fewer entries.")
        .integer(
            "adaptive", "spai: adaptive steps", [](P& p) -> int& { return p.adaptive.steps; }, 0,
            "steps in which rows take the blocks that gain most, 0 for none")
        .details("0: static pattern. Every step solves all growing rows again.")
        .integer(
            "per-step", "spai: entries per step", [](P& p) -> int& { return p.adaptive.per_step; },
            1, "blocks a row takes in a step")
        .onlyIf(grows, "adaptive")
        .number(
            "eps", "spai: epsilon", [](P& p) -> double& { return p.adaptive.eps; },
            NumberRange::NonNegative, "rows with a smaller residual ||e_i - m_i A|| stop")
        .onlyIf(grows, "adaptive")
        .number("max-work", "spai: max work", &P::max_work, NumberRange::NonNegative,
                "give up beyond so many operations a row of A, 0 for never")
        .details(
            "The set-up fails before it solves least squares problems with more, or one with "
            "1000 times as many. Of a matrix of 10,000 rows that is about a quarter of an hour "
            "on two cores.");
    detail::addStorage(table, of, "precision in which M is stored");
    detail::addBreakdown(table,
                         "For rows whose least squares problem is rank deficient: throw, try again "
                         "with a shifted diagonal, take a multiple of I.",
                         "Part of its largest entry that is added to the diagonal of each row of A "
                         "in the problem.");
    return table.describedBy(
        {"power", "tau?", "adaptive?", "per-step", "eps", "max-work?", "storage"});
  };
  return detail::forPrecision(vectors, make);
}

} // namespace ainvil
