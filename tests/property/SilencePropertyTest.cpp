// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Nothing goes wrong in silence: whatever the matrix, a set-up ends in an error that says what is
/// wrong, in a counted breakdown, or in factors that are finite and may be applied.

#include "property/MethodSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

Wanted anything() {
  Wanted wanted;
  wanted.values = {Values::Dominant, Values::Spd, Values::Symmetric, Values::Any};
  wanted.scales = {Scales::One, Scales::Global, Scales::Diagonal, Scales::RowsColumns};
  wanted.flaws = {Flaw::None,      Flaw::None,       Flaw::None,        Flaw::MissingDiagonals,
                  Flaw::ZeroRow,   Flaw::EmptyRow,   Flaw::EmptyColumn, Flaw::EqualRows,
                  Flaw::TinyPivot, Flaw::NotANumber, Flaw::Infinity};
  wanted.max_points = 150;
  return wanted;
}

std::vector<double> scaledBy(double factor, std::vector<double> x) {
  for (double& value : x)
    value *= factor;
  return x;
}

TEST(SilenceProperty, ErrorsCountsOrFiniteFactors) {
  forSystems(40, anything(), [](const RandomSystem& system) {
    const size_t n = system.size();
    Random random(system.seed + 20);
    std::vector<std::string> methods = generalMethods();
    methods.insert(methods.end(), spdMethods().begin(), spdMethods().end());
    for (const std::string& method : methods) {
      const char* policies[] = {"fail", "shift", "replace"};
      const std::string specification =
          method == "none" ? method
                           : with(method, message("breakdown=", policies[random.below(3)]));
      SCOPED_TRACE(specification);
      try {
        const auto m = built(specification, system.matrix);
        EXPECT_TRUE(allFinite(toHost(system.matrix.values))) << "taken without an error";
        const std::vector<double> x = random.vector(n);
        // Where M^-1 x is too large for a number, that of a tiny x is not.
        EXPECT_TRUE(m->report().breakdowns > 0 || !m->objection().empty() ||
                    allFinite(applied(*m, x)) || allFinite(applied(*m, scaledBy(0x1p-1000, x))))
            << "the application is not finite";
      } catch (const Error& error) {
        // Every sentence tells how many values or which row.
        const std::string text = error.what();
        EXPECT_NE(text.find_first_of("0123456789"), std::string::npos) << text;
      }
    }
  });
}

} // namespace
