// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ainv.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

DropRule dropRule(const AinvParameters& parameters) {
  if (parameters.drop_rule != DropRule::Auto)
    return parameters.drop_rule;
  return parameters.symmetric ? DropRule::Relative : DropRule::Absolute;
}

template <class Scalar, class Device>
const ParameterTable<AinvParameters>& Ainv<Scalar, Device>::parameterTable() {
  using P = AinvParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table
        .choice("variant", "ainv: variant", &P::stabilized,
                std::vector<std::pair<std::string, bool>>{
                    {"ainv", false}, {"sainv", true}, {"bainv", true}},
                "stabilised; plain; stabilised, without the entries between parts")
        .details("`sainv` does not break down on SPD matrices.")
        .needs("variant", "bainv", "parts", "the number of parts")
        .number("drop", "ainv: drop tolerance", &P::drop, NumberRange::NonNegative,
                "drop tolerance for the entries of Z, 0 for none")
        .details("Smaller: fewer iterations, more entries, a set-up that grows faster than they "
                 "do. 0: the exact inverse factors.")
        .choice("drop-rule", "ainv: drop rule", &P::drop_rule,
                std::vector<std::pair<std::string, DropRule>>{{"auto", DropRule::Auto},
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
                std::vector<std::pair<std::string, Ordering>>{{"natural", Ordering::Natural},
                                                              {"rcm", Ordering::Rcm},
                                                              {"nd", Ordering::NestedDissection}},
                "elimination order")
        .details("`nd` (METIS, serial) makes short chains and less fill, and takes longer than the "
                 "factors.")
        .flag("symmetric", "ainv: symmetric", &P::symmetric,
              "one factor Z, or Z and W for any matrix")
        .details("Both take twice the work and memory.");
    detail::addStorage<Scalar>(table, "precision in which the factors are stored");
    detail::addBreakdown(table,
                         "For a pivot that is not positive (zero, if not symmetric): throw, take "
                         "shift |a_jj|, take |a_jj|.",
                         "See there.");
    return table.describedBy("variant", [](const P& p) { return p.stabilized ? "sainv" : "ainv"; })
        .describedBy("drop",
                     [](const P& p) {
                       return message(p.drop, dropRule(p) == DropRule::Relative ? " relative"
                                                                                : " absolute");
                     })
        .describedBy({"max-col?", "max-fill?", "parts?", "symmetric?", "order", "storage"});
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
std::string Ainv<Scalar, Device>::description() const {
  return message("ainv: {", parameterTable().describe(parameters_), "}");
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template const ParameterTable<AinvParameters>& Ainv<double, DEVICE>::parameterTable();           \
  template const ParameterTable<AinvParameters>& Ainv<float, DEVICE>::parameterTable();            \
  template std::string Ainv<double, DEVICE>::description() const;                                  \
  template std::string Ainv<float, DEVICE>::description() const;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
