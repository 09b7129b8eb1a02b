// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_PolynomialParameters.hpp"

#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

const ParameterTable<PolynomialParameters>& PolynomialParameters::table(VectorPrecision vectors) {
  using P = PolynomialParameters;
  const auto make = [](VectorPrecision of) {
    ParameterTable<P> table;
    table
        .integer("poly", "poly: degree", &P::degree, 0,
                 "degree of a polynomial around the method, 0 for none")
        .word("auto", P::automatic)
        .details("An application takes so many of the method's, one product with the matrix less, "
                 "and no inner product; `compute` about as much again, and so many vectors of "
                 "memory. The Krylov solver takes fewer steps, and about as many products in all. "
                 "For SPD matrices the degree is made odd. auto: the first `compute` races several "
                 "degrees and none, with cg where the matrix looks SPD, else with gmres, on random "
                 "numbers, within ten times the time of the fastest, which stays for later ones.");
    detail::addStorage(table, of, "precision of the matrix in the polynomial", "poly-storage",
                       "poly: storage precision")
        .onlyIf([](const P& p) { return p.degree != 0; }, "poly > 0 or auto");
    return table.describedBy({"poly", "poly-storage?"});
  };
  return detail::forPrecision(vectors, make);
}

} // namespace ainvil
