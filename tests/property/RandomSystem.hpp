// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Random matrices of all kinds, and the loop that runs a property on many of them. A seed makes
/// the whole case, so that a failure is replayed by its seed alone.

#include "precond/PrecondSupport.hpp"

namespace ainvil {
namespace test {

enum class Values {
  Dominant,  ///< nonsymmetric, strictly dominant by point rows, diagonal of either sign
  Spd,       ///< symmetric, strictly dominant, diagonal positive
  Symmetric, ///< symmetric, indefinite as a rule
  Any        ///< nonsymmetric, diagonal as small as the rest
};

enum class Scales {
  One,         ///< values of about 1
  Global,      ///< all times one power of two between 1e-150 and 1e150
  Diagonal,    ///< D A D, D = powers of two between 1e-75 and 1e75
  RowsColumns, ///< D A E with different such D and E
};

enum class Flaw {
  None,
  MissingDiagonals, ///< of a third of the block rows
  ZeroRow,          ///< a block row of zeros
  EmptyRow,         ///< a block row without entries
  EmptyColumn,      ///< a block column without entries
  EqualRows,        ///< two point rows that are the same, where their patterns are
  TinyPivot,        ///< a diagonal entry of 1e-300
  NotANumber,       ///< a value that is NaN
  Infinity          ///< a value that is infinite
};

/// What a case may be: one of each list is drawn.
struct Wanted {
  std::vector<Values> values = {Values::Dominant};
  std::vector<Scales> scales = {Scales::One};
  std::vector<Flaw> flaws = {Flaw::None};
  /// Sizes are drawn from 0, 1, 2, 3, 7, 31, 32, 33, 64, 65, 150, 300 block rows and cut to this.
  Ordinal max_points = 300;
  bool larger_blocks = true; ///< of 16, 17 and 33 besides 1 to 8
};

struct RandomSystem {
  std::uint64_t seed = 0;
  HostBsr matrix; ///< rows sorted
  Values values = Values::Dominant;
  Scales scales = Scales::One;
  Flaw flaw = Flaw::None;
  std::string pattern; ///< in words

  Offset size() const { return matrix.numPointRows(); }
  std::string describe() const;
};

RandomSystem randomSystem(std::uint64_t seed, const Wanted& wanted);

/// A pattern in one of many shapes, from diagonal only to full, and what it is called. With
/// `diagonal` every row has its diagonal, where there is one.
Rows randomPatternOf(Random& random, Ordinal num_rows, Ordinal num_cols, bool diagonal,
                     std::string& name);

/// Sizes of 0, 1, 2, ... up to 300, such that n * block_size <= max_points.
Ordinal randomSize(Random& random, int block_size, Ordinal max_points);
int randomBlockSize(Random& random, bool larger);

/// The same matrix with the columns of every row in random order.
HostBsr shuffled(const HostBsr& a, std::uint64_t seed);

/// Every value times factor.
HostBsr times(const HostBsr& a, double factor);

/// The same graph with values of another seed, as dominant and as symmetric.
HostBsr withOtherValues(const RandomSystem& system);

/// How many cases a property runs: AINVIL_PROPERTY_CASES, or the default.
int numCases(int fallback);

/// Runs property(seed) for seeds 1, 2, ...; AINVIL_PROPERTY_SEED runs one alone. Stops at the first
/// seed that fails, whose number is part of the message.
template <class Property>
void forSeeds(int fallback, const Property& property) {
  const char* only = std::getenv("AINVIL_PROPERTY_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t count = only != nullptr ? 1 : std::uint64_t(numCases(fallback));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(message("replay alone with AINVIL_PROPERTY_SEED=", seed));
    property(seed);
    if (testing::Test::HasFailure())
      return;
  }
}

/// Runs property(system) on systems of the wanted kind.
template <class Property>
void forSystems(int fallback, const Wanted& wanted, const Property& property) {
  forSeeds(fallback, [&](std::uint64_t seed) {
    const RandomSystem system = randomSystem(seed, wanted);
    SCOPED_TRACE(system.describe());
    property(system);
  });
}

/// The bound m eps / (1 - m eps) on the relative error of m roundings in sequence (Higham, Accuracy
/// and Stability of Numerical Algorithms (2002), lemma 3.1).
inline double roundingBound(double m, double epsilon = std::numeric_limits<double>::epsilon()) {
  return m * epsilon / (1 - m * epsilon);
}

/// |actual_i - expected_i| <= bound_i, NaN never.
void expectWithin(const std::vector<double>& actual, const std::vector<double>& expected,
                  const std::vector<double>& bound, const std::string& what);

/// The largest |x_i|.
double largest(const std::vector<double>& x);

bool allFinite(const std::vector<double>& x);

/// |x| entry by entry.
std::vector<double> absolute(std::vector<double> x);

} // namespace test
} // namespace ainvil
