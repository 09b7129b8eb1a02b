// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters that all factorisations by threshold have.

#include "ilu/Ainvil_ThresholdOptions.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"

namespace ainvil {
namespace detail {

/// The keys of ThresholdOptions, from which `Struct` derives, for where applies(struct) holds;
/// `words` tell the user when. In Trilinos the names of all but the first begin with `name`:
/// "fact: ilut ".
template <class Struct, class Applies>
void addThreshold(ParameterTable<Struct>& table, const std::string& name, const Applies& applies,
                  const std::string& words) {
  table
      .number("drop", "fact: drop tolerance", &Struct::drop, NumberRange::NonNegative,
              "drop entries below so many times the norm of their row of A")
      .details("Frobenius norms, of blocks where the matrix has them. 0 keeps all fill that "
               "`max-fill` allows.")
      .onlyIf(applies, words)
      .number("max-fill", name + "level-of-fill", &Struct::max_fill, NumberRange::Positive,
              "most entries of both factors, in entries of A")
      .details("The largest are kept, and all diagonal blocks. Bounds memory and work where "
               "`drop` alone would let them grow.")
      .onlyIf(applies, words)
      .integer("repattern", name + "repattern", &Struct::repattern, 0,
               "find a new pattern each n computes")
      .details("0: keep that of the first `compute` of a graph; later ones are then numeric "
               "factorisations alone.")
      .onlyIf(applies, words);
  table
      .choice("search", name + "search", &Struct::search,
              {{"auto", PatternSearch::Auto},
               {"sequential", PatternSearch::Sequential},
               {"parallel", PatternSearch::Parallel}},
              "how a pattern is found")
      .details("Row after row on one thread of the host, or all rows at a time on the device in "
               "`steps` that add candidates and drop again; `auto`: in parallel on GPUs only.")
      .onlyIf(applies, words)
      .integer("steps", name + "steps", &Struct::steps, 1, "steps of a parallel search")
      .details("Fill of a step comes from that of the one before.")
      .onlyIf(
          [applies](const Struct& p) { return applies(p) && p.search == PatternSearch::Parallel; },
          "search=parallel");
}
/// The same where they always apply.
template <class Struct>
void addThreshold(ParameterTable<Struct>& table, const std::string& name) {
  addThreshold(
      table, name, [](const Struct&) { return true; }, "");
}

} // namespace detail
} // namespace ainvil
