// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The equations that define the factors, entry by entry, in dense arithmetic.

#include "Ainvil_Convert.hpp"
#include "Ainvil_Fsai.hpp"
#include "precond/ainv/AinvSupport.hpp"
#include "property/MethodSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Doubles = std::vector<double>;

HostBsr toHostBsr(const DeviceBsr& a) {
  return copyTo<HostDevice>(a);
}

/// The matrix plus the identity: a unit triangular factor is stored without it.
Doubles withUnitDiagonal(Doubles a, size_t n) {
  for (size_t i = 0; i < n; ++i)
    a[i * n + i] += 1;
  return a;
}

/// Diagonal blocks as a dense matrix.
Doubles blockDiagonal(const Doubles& blocks, size_t n, size_t bs) {
  Doubles dense(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t c = 0; c < bs; ++c)
      dense[i * n + i / bs * bs + c] = blocks[i * bs + c];
  return dense;
}

/// What of a dense matrix lies on the blocks of a graph.
Doubles onPattern(const Doubles& dense, const Rows& rows, size_t n, size_t bs) {
  Doubles part(dense.size());
  for (size_t i = 0; i < n; ++i)
    for (const size_t j : rows[i / bs])
      for (size_t c = 0; c < bs; ++c)
        part[i * n + j * bs + c] = dense[i * n + j * bs + c];
  return part;
}

Wanted small(Values values, Ordinal max_points = 130) {
  Wanted wanted;
  wanted.values = {values};
  wanted.max_points = max_points;
  return wanted;
}

/// Rounding of sums of n products, and of the inverses of blocks among them.
double roundingOf(const RandomSystem& system) {
  return roundingBound(4.0 * double(system.size() + 10 * system.matrix.block_size));
}

Doubles scaledBy(Doubles a, double factor) {
  for (double& value : a)
    value *= factor;
  return a;
}

/// L, U and D^-1 of an ILU as dense matrices.
struct DenseIlu {
  size_t n, bs;
  Doubles lower, upper, diagonal, diagonal_inverse;

  DenseIlu(const Method& m, const RandomSystem& system)
      : n(system.size()), bs(system.matrix.block_size) {
    const auto& factors = dynamic_cast<const Ilu<double, Device>&>(m).factors();
    lower = toDense(factors.lower().matrix);
    upper = withUnitDiagonal(toDense(factors.upper().matrix), n);
    diagonal_inverse = blockDiagonal(toHost(factors.lower().diagonal_inverse), n, bs);
    Rows diagonals(n / bs);
    for (size_t i = 0; i < n / bs; ++i)
      diagonals[i] = {Ordinal(i)};
    diagonal = onPattern(lower, diagonals, n, bs);
  }
  /// |L| |D^-1| |D| |U|: the size of what is rounded where blocks are inverted.
  Doubles sizes() const {
    return multiply(multiply(absolute(lower), absolute(diagonal_inverse), n),
                    multiply(absolute(diagonal), absolute(upper), n), n);
  }
};

/// (L U)_ij = A_ij on the pattern of the factors, for every fill level, and D^-1 D = I.
TEST(FactorProperty, IluIsAOnItsPattern) {
  forSystems(40, small(Values::Dominant), [](const RandomSystem& system) {
    const size_t n = system.size(), bs = system.matrix.block_size;
    for (int level = 0; level <= 2; ++level) {
      const auto m = built(message("ilu:level=", level), system.matrix);
      const DenseIlu ilu(*m, system);
      const Rows pattern = rowsOf(fillPattern(Exec(), copyTo<Device>(system.matrix.graph), level));
      expectWithin(onPattern(multiply(ilu.lower, ilu.upper, n), pattern, n, bs),
                   toDense(system.matrix), scaledBy(ilu.sizes(), roundingOf(system)),
                   message("L U, level ", level));
      const Doubles size =
          multiply(multiply(absolute(ilu.diagonal_inverse), absolute(ilu.diagonal), n),
                   multiply(absolute(ilu.diagonal_inverse), absolute(ilu.diagonal), n), n);
      expectWithin(multiply(ilu.diagonal_inverse, ilu.diagonal, n), identity(n),
                   scaledBy(size, roundingOf(system)), "D^-1 D");
    }
  });
}

/// As many sweeps as there are rows give the factors of the level by level factorisation.
TEST(FactorProperty, SweepsEndAtTheFactors) {
  forSystems(20, small(Values::Dominant), [](const RandomSystem& system) {
    const int sweeps = std::max(1, system.matrix.numRows());
    const auto exact = built("ilu:level=1", system.matrix);
    const auto swept = built(message("ilu:level=1,iterative=", sweeps), system.matrix);
    const DenseIlu a(*exact, system), b(*swept, system);
    EXPECT_EQ(a.lower, b.lower);
    EXPECT_EQ(a.upper, b.upper);
    const auto& ilu = dynamic_cast<const Ilu<double, Device>&>(*swept);
    const auto& factors = dynamic_cast<const BlockIlu<double, Device>&>(ilu.factors());
    EXPECT_LE(factors.residual(Exec(), copyTo<Device>(system.matrix)), roundingOf(system));
  });
}

/// (M T)_S = I_S by rows, (T M)_S = I_S by columns, S the pattern of the power.
template <class Factor>
void checkIsai(const RandomSystem& system, const TriangularSolver<double, Device>& solver,
               const Factor& factor, IsaiSide side, int power) {
  const size_t n = system.size(), bs = system.matrix.block_size;
  const auto& isai = dynamic_cast<const IsaiTriangularSolver<double, double, Device>&>(solver);
  const bool unit = factor.unit;
  const Rows pattern = rowsOf(patternPower(Exec(), factor.matrix.graph, power));
  EXPECT_EQ(rowsOf(isai.inverse().graph), pattern);
  Doubles t = toDense(factor.matrix), m = toDense(isai.inverse());
  Rows with_diagonal = pattern;
  if (unit) {
    t = withUnitDiagonal(t, n);
    m = withUnitDiagonal(m, n);
    for (Ordinal i = 0; i < Ordinal(pattern.size()); ++i)
      with_diagonal[i].push_back(i);
  }
  const Doubles& left = side == IsaiSide::Rows ? m : t;
  const Doubles& right = side == IsaiSide::Rows ? t : m;
  // Blocks are inverted on the way: |M| |T| once more, which is about |D^-1| |D| on the diagonal.
  const Doubles size = multiply(absolute(left), absolute(right), n);
  expectWithin(onPattern(multiply(left, right, n), with_diagonal, n, bs), identity(n),
               scaledBy(multiply(size, size, n), roundingOf(system)), unit ? "U" : "L");
}

TEST(FactorProperty, IsaiInvertsOnItsPattern) {
  forSystems(20, small(Values::Dominant), [](const RandomSystem& system) {
    for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns})
      for (int power = 1; power <= 3; ++power) {
        SCOPED_TRACE(message(side == IsaiSide::Rows ? "rows" : "columns", ", power ", power));
        Ilu<double, Device> m(isaiIlu(power, side));
        setUp(m, system.matrix);
        checkIsai(system, m.lowerSolver(), m.factors().lower(), side, power);
        checkIsai(system, m.upperSolver(), m.factors().upper(), side, power);
      }
  });
}

/// diag(G A G^T) = I with and without filter, static and adaptive; (G A)_ij = 0 on the pattern, the
/// diagonal excepted, where nothing was filtered.
TEST(FactorProperty, Fsai) {
  const std::vector<std::string> methods = {
      "fsai:tau=0,power=1,filter=0", "fsai:power=2,filter=0",
      "fsai:power=2,filter=0.2",     "fsai:power=3,max-row=4,filter=0.1",
      "fsai:adaptive=3,filter=0",    "fsai:adaptive=4,per-step=2,filter=0.05"};
  forSystems(20, small(Values::Spd), [&](const RandomSystem& system) {
    const size_t n = system.size(), bs = system.matrix.block_size;
    const Doubles a = toDense(system.matrix);
    for (const std::string& specification : methods) {
      SCOPED_TRACE(specification);
      const auto m = built(specification, system.matrix);
      const HostBsr factor =
          toHostBsr(dynamic_cast<const Fsai<double, Device>&>(*m).factor().native());
      const Doubles g = toDense(factor);
      const Doubles size = multiply(absolute(g), absolute(a), n);
      const Doubles ga = multiply(g, a, n);
      const Doubles unit = multiply(ga, transposed(g, n), n);
      const Doubles unit_size = multiply(size, absolute(transposed(g, n)), n);
      Rows diagonals(n / bs);
      for (size_t i = 0; i < n / bs; ++i)
        diagonals[i] = {Ordinal(i)};
      // Rows of a block are combined, so that the largest of it counts for all its entries.
      const double rounded = roundingOf(system) * largest(onPattern(unit_size, diagonals, n, bs));
      expectWithin(onPattern(unit, diagonals, n, bs), identity(n), Doubles(n * n, rounded),
                   "diag(G A G^T)");
      if (!contains(specification, "filter=0") || contains(specification, "filter=0."))
        continue;
      Rows off_diagonal = rowsOf(factor.graph);
      for (auto& row : off_diagonal)
        row.pop_back(); // the diagonal is last
      // The residual of a Cholesky solve is small relative to |A| |C^-T| |C^-1| e, at most the row.
      Doubles bound(n * n);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          bound[i * n + j] = roundingOf(system) * size[i * n + j];
      expectWithin(onPattern(ga, off_diagonal, n, bs), Doubles(n * n, 0.0), bound, "G A");
    }
  });
}

/// Dense columns of an inverse factor in the elimination order.
Doubles denseColumns(const std::vector<SparseColumn>& columns) {
  const size_t n = columns.size();
  Doubles dense(n * n);
  for (size_t j = 0; j < n; ++j)
    for (const auto& [row, value] : columns[j])
      dense[row * n + j] = value;
  return dense;
}

/// W^T A Z = D where nothing is dropped, Z and W unit upper triangular, in any elimination order.
TEST(FactorProperty, AinvDiagonalisesWithoutDropping) {
  forSystems(20, small(Values::Spd, 70), [](const RandomSystem& system) {
    const size_t n = system.size();
    for (const Ordering order : orders)
      for (const bool stabilized : {true, false})
        for (const bool symmetric : {true, false}) {
          const AinvParameters parameters = ainv(0, order, stabilized, symmetric);
          SCOPED_TRACE(nameOf(parameters));
          AinvMethod m(parameters);
          setUp(m, system.matrix);
          const DeviceBsr points = toPoints(Exec(), copyTo<Device>(system.matrix));
          const Doubles a = toDense(permuted(Exec(), m.order(), points));
          const Doubles z = denseColumns(zOf(m)), w = denseColumns(wOf(m)), d = pivotsOf(m);
          const Doubles wt = transposed(w, n);
          Doubles expected(n * n);
          for (size_t j = 0; j < n; ++j) {
            expected[j * n + j] = d[j];
            EXPECT_EQ(z[j * n + j], 1) << "column " << j;
            for (size_t i = j + 1; i < n; ++i)
              EXPECT_EQ(z[i * n + j], 0) << "below the diagonal";
          }
          // Errors of earlier columns go into later ones, at most once more |Z|.
          const Doubles size = multiply(multiply(absolute(wt), absolute(a), n),
                                        multiply(absolute(z), absolute(z), n), n);
          const Doubles other = multiply(multiply(absolute(wt), absolute(wt), n),
                                         multiply(absolute(a), absolute(z), n), n);
          Doubles bound(n * n);
          for (size_t k = 0; k < n * n; ++k)
            bound[k] = roundingOf(system) * (size[k] + other[k]);
          expectWithin(multiply(wt, multiply(a, z, n), n), expected, bound, "W^T A Z");
        }
  });
}

} // namespace
