// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ainv.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

DropRule dropRule(const AinvParameters& parameters) {
  if (parameters.drop_rule != DropRule::Auto)
    return parameters.drop_rule;
  return parameters.symmetric ? DropRule::Relative : DropRule::Absolute;
}

const ParameterTable<AinvParameters>& AinvParameters::table(VectorPrecision vectors) {
  using P = AinvParameters;
  const auto make = [](VectorPrecision of) {
    ParameterTable<P> table;
    table
        .choice("variant", "ainv: variant", &P::stabilized,
                {{"ainv", false}, {"sainv", true}, {"bainv", true}},
                "stabilised; plain; stabilised, without the entries between parts")
        .details("`sainv` does not break down on SPD matrices.")
        .needs("variant", "bainv", "parts", "the number of parts")
        .number("drop", "ainv: drop tolerance", &P::drop, NumberRange::NonNegative,
                "drop tolerance for the entries of Z, 0 for none")
        .details("Smaller: fewer iterations, more entries, a set-up that grows faster than they "
                 "do. 0: the exact inverse factors.")
        .choice("drop-rule", "ainv: drop rule", &P::drop_rule,
                {{"auto", DropRule::Auto},
                 {"absolute", DropRule::Absolute},
                 {"relative", DropRule::Relative}},
                "of Z; of Z for A scaled to a unit diagonal; auto: this if symmetric=yes")
        .details("`auto`: `relative` with `symmetric=yes`, `absolute` with `no`.")
        .integer("max-col", "ainv: max entries per column", &P::max_column, 0,
                 "most entries a column of Z, 0 for any number")
        .number("max-fill", "ainv: max fill", &P::max_fill, NumberRange::NonNegative,
                "give up beyond so many times the entries of A, 0 for never")
        .details("The set-up fails once Z and W have more of them, and more than a million. "
                 "Useful factors have 0.05 to 13 times as many.")
        .integer("parts", "ainv: parts", &P::parts, 1,
                 "leave out the entries of A between n parts; bainv needs it")
        .details("METIS makes the parts; it is serial.")
        .choice("order", "ainv: order", &P::order,
                {{"natural", Ordering::Natural},
                 {"rcm", Ordering::Rcm},
                 {"nd", Ordering::NestedDissection}},
                "elimination order")
        .details("`nd` (METIS, serial) makes short chains and less fill, and takes longer than the "
                 "factors.")
        .flag("symmetric", "ainv: symmetric", &P::symmetric,
              "one factor Z, or Z and W for any matrix")
        .details("Both take twice the work and memory.");
    table
        .flag("blocks", "ainv: blocks", &P::blocks,
              "block columns for a matrix in blocks, which is taken apart without")
        .details("Computed by one thread of the host. `drop` is compared with ||Z_kj||_F / "
                 "sqrt(b), `max-col` counts blocks, pivots break down as those of `ilu`.");
    detail::addStorage(table, of, "precision in which the factors are stored");
    detail::addBreakdown(table,
                         "For a pivot that is not positive (zero, if not symmetric): throw, take "
                         "shift |a_jj|, take |a_jj|.",
                         "See there.");
    table
        .number("pivot-tol", "breakdown: pivot tolerance", &P::pivot_tolerance,
                NumberRange::NonNegative,
                "a pivot counts as zero at so many eps times its row's largest entry")
        .details(
            "The row is that of the matrix. With `symmetric=yes` every positive pivot will do.")
        .onlyIf([](const P& p) { return !p.symmetric; }, "symmetric=no");
    return table.describedBy("variant", [](const P& p) { return p.stabilized ? "sainv" : "ainv"; })
        .describedBy("drop",
                     [](const P& p) {
                       return message(p.drop, dropRule(p) == DropRule::Relative ? " relative"
                                                                                : " absolute");
                     })
        .describedBy(
            {"max-col?", "max-fill?", "parts?", "symmetric?", "blocks?", "order", "storage"});
  };
  return detail::forPrecision(vectors, make);
}

} // namespace ainvil
