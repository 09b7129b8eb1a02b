// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Fsai.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

const ParameterTable<FsaiOptions>& FsaiOptions::table(VectorPrecision vectors) {
  using P = FsaiOptions;
  const auto grows = [](const P& p) { return p.adaptive.steps > 0; };
  const auto make = [&](VectorPrecision of) {
    ParameterTable<P> table;
    table
        .number("tau", "fsai: threshold", &P::tau, NumberRange::NonNegative,
                "pattern: entries of A above tau sqrt(a_ii a_jj)")
        .below(1)
        .details("Smaller: more entries.")
        .integer("power", "fsai: levels", &P::power, 0,
                 "pattern: steps of B <- Low(B A); adaptive: those it grows from")
        .insteadIf(grows, "adaptive", [](P& p) -> int& { return p.adaptive.power; })
        .details("A row of m blocks costs (m b)^3 / 3 operations.")
        .integer("max-row", "fsai: max entries per row", &P::max_row, 0,
                 "pattern: most blocks a row, 0 for any number")
        .details("Those of the largest products of couplings are kept. Bounds the cost of a row; "
                 "choosing takes time at `initialize`.")
        .integer(
            "adaptive", "fsai: adaptive steps", [](P& p) -> int& { return p.adaptive.steps; }, 0,
            "steps in which rows take the blocks that gain most, 0 for none")
        .details("0: static pattern. Every step solves all growing rows again.")
        .integer(
            "per-step", "fsai: entries per step", [](P& p) -> int& { return p.adaptive.per_step; },
            1, "blocks a row takes in a step")
        .onlyIf(grows, "adaptive")
        .number(
            "tolerance", "fsai: adaptive tolerance",
            [](P& p) -> double& { return p.adaptive.tolerance; }, NumberRange::NonNegative,
            "rows whose psi falls by a smaller part in a step stop")
        .onlyIf(grows, "adaptive")
        .below(1)
        .number("filter", "fsai: filter", &P::filter, NumberRange::NonNegative,
                "drop blocks of G below this part of their row's norm")
        .below(1)
        .details("0: none, and no pass for it. Cheaper applications, more iterations.");
    detail::addStorage(table, of, "precision in which G is stored")
        .details("`fsai` over ranks takes `double` only.")
        .integer("chunk-mib", "fsai: chunk size", &P::chunk_bytes, 1,
                 "memory for local systems that do not fit fast memory, MiB")
        .inUnitsOf(1 << 20)
        .details("GPUs work on them in chunks of this size, hosts with as many threads as it has "
                 "room for.");
    detail::addBreakdown(table,
                         "For local systems that are not SPD: throw, try (1 + shift) times its "
                         "diagonal, keep the diagonal block alone.",
                         "See there.");
    return table.describedBy(
        {"tau", "power", "adaptive?", "per-step", "tolerance", "max-row?", "filter", "storage"});
  };
  return detail::forPrecision(vectors, make);
}

} // namespace ainvil
