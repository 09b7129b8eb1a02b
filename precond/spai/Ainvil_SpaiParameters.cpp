// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Spai.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

const ParameterTable<SpaiOptions>& SpaiOptions::table(bool float_vectors) {
  using P = SpaiOptions;
  const auto make = [](bool in_float) {
    ParameterTable<P> table;
    table
        .integer("power", "spai: pattern power", &P::power, 1,
                 "pattern: that of this power of A, sparsified")
        .details("A block row with m blocks, over k columns of A, costs up to 4 k (m b)^2 b "
                 "operations.")
        .number("tau", "spai: threshold", &P::tau, NumberRange::NonNegative,
                "pattern: entries of A above tau sqrt(a_ii a_jj)")
        .below(1)
        .details("0: all of them. Larger: fewer entries.");
    detail::addStorage(table, in_float, "precision in which M is stored");
    detail::addBreakdown(table,
                         "For rows whose least squares problem is rank deficient: throw, try again "
                         "with a shifted diagonal, take a multiple of I.",
                         "Part of its largest entry that is added to the diagonal of each row of A "
                         "in the problem.");
    return table.describedBy({"power", "tau?", "storage"});
  };
  static const ParameterTable<P> of_double = make(false), of_float = make(true);
  return float_vectors ? of_float : of_double;
}

} // namespace ainvil
