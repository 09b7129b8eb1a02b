// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Matrices with more than 2^31 entries, whose inverse is known in closed form. AINVIL_TEST_LARGE
/// sets how many entries there are (scalars, as 2300000000; a GPU of 140 GB has the memory);
/// without it they are few, so that the tests themselves are tested.

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "precond/PrecondSupport.hpp"

#include <cstdlib>

namespace {

using namespace ainvil;
using namespace ainvil::test;

Offset wantedEntries() {
  const char* text = std::getenv("AINVIL_TEST_LARGE");
  return text != nullptr ? std::strtoll(text, nullptr, 10) : 60000;
}

/// alpha I + beta 1 1^T of n rows, and its inverse by Sherman and Morrison:
///   1 / alpha I - beta / (alpha (alpha + n beta)) 1 1^T.
struct Shifted {
  double alpha, beta;

  Shifted inverse(double n) const { return {1 / alpha, -beta / (alpha * (alpha + n * beta))}; }
};

/// A = C (x) B. The block rows i, i + stride, i + 2 stride, ... make up a class of `members`, each
/// coupled to all of them: every class has the matrix C = 5 I + 1 1^T in its rows, so that there
/// are neighbours in the matrix all over the arrays, and factors without fill have all entries of
/// exact ones. The blocks have B = 2 I + 0.1 1 1^T.
struct System {
  Ordinal stride;
  int members, block_size;
  Shifted c{5, 1}, b{2, 0.1};

  System(Offset entries, int members_in, int block_size_in)
      : stride(static_cast<Ordinal>(
            entries / (Offset(members_in) * members_in * block_size_in * block_size_in) + 1)),
        members(members_in), block_size(block_size_in) {}

  Ordinal numRows() const { return stride * members; }
  Offset numPoints() const { return Offset(numRows()) * block_size; }
  Offset numEntries() const { return Offset(numRows()) * members; }
  Offset numScalars() const { return numEntries() * block_size * block_size; }

  /// x_i of the point row i.
  KOKKOS_FUNCTION static double x(Offset i, Offset column) {
    return double((i * 7 + column * 3) % 11) - 4.5;
  }

  /// (C' (x) B') x for the column, in closed form: with the sums over a class, over a block, both.
  std::vector<double> product(Shifted c_like, Shifted b_like, Offset column) const {
    std::vector<double> of_class(size_t(stride) * block_size), y(numPoints());
    for (Ordinal row = 0; row < numRows(); ++row)
      for (int r = 0; r < block_size; ++r)
        of_class[size_t(row % stride) * block_size + r] += x(Offset(row) * block_size + r, column);
    for (Ordinal row = 0; row < numRows(); ++row) {
      const double* sums = &of_class[size_t(row % stride) * block_size];
      double block = 0, block_of_class = 0;
      for (int r = 0; r < block_size; ++r) {
        block += x(Offset(row) * block_size + r, column);
        block_of_class += sums[r];
      }
      for (int r = 0; r < block_size; ++r)
        y[Offset(row) * block_size + r] =
            c_like.alpha *
                (b_like.alpha * x(Offset(row) * block_size + r, column) + b_like.beta * block) +
            c_like.beta * (b_like.alpha * sums[r] + b_like.beta * block_of_class);
    }
    return y;
  }
};

struct WriteSystem {
  System system;
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<double*, Device> values;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    const int bs = system.block_size;
    row_map(row) = row * system.members;
    if (row == system.stride * system.members)
      return;
    for (int k = 0; k < system.members; ++k) {
      const Offset e = row * system.members + k;
      const Offset column = row % system.stride + Offset(k) * system.stride;
      entries(e) = static_cast<Ordinal>(column);
      const double factor = system.c.beta + (column == row ? system.c.alpha : 0);
      for (int r = 0; r < bs; ++r)
        for (int s = 0; s < bs; ++s)
          values((e * bs + r) * bs + s) = factor * (system.b.beta + (r == s ? system.b.alpha : 0));
    }
  }
};

struct WriteVector {
  MultiVector<double, Device> x;
  Offset columns;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    for (Offset j = 0; j < columns; ++j)
      x(i, j) = System::x(i, j);
  }
};

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Offset>>;

DeviceBsr matrixOf(const System& system) {
  const WriteSystem write{
      system, allocate<Offset, Device>(Exec(), "Ainvil::test", size_t(system.numRows()) + 1),
      allocate<Ordinal, Device>(Exec(), "Ainvil::test", system.numEntries()),
      allocate<double, Device>(Exec(), "Ainvil::test", system.numScalars())};
  Kokkos::parallel_for("Ainvil::test", Range(Exec(), 0, Offset(system.numRows()) + 1), write);
  return {Graph<Device>(system.numRows(), system.numRows(), write.row_map, write.entries),
          write.values, system.block_size};
}

MultiVector<double, Device> vectorsOf(const System& system, Offset columns) {
  const auto x = allocateView<MultiVector<double, Device>>(
      Exec(), "Ainvil::test", size_t(system.numPoints()), size_t(columns));
  Kokkos::parallel_for("Ainvil::test", Range(Exec(), 0, system.numPoints()),
                       WriteVector{x, columns});
  return x;
}

MultiVector<double, Device> resultsFor(const System& system, Offset columns) {
  return allocateView<MultiVector<double, Device>>(Exec(), "Ainvil::test",
                                                   size_t(system.numPoints()), size_t(columns));
}

/// All rows of a column.
void expectColumn(const MultiVector<double, Device>& y, Offset column,
                  const std::vector<double>& expected) {
  const auto actual = toHost(Kokkos::subview(y, Kokkos::ALL, column));
  ASSERT_EQ(actual.size(), expected.size());
  Offset wrong = 0, first = -1;
  for (size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= 1e-10)) {
      first = wrong == 0 ? Offset(i) : first;
      ++wrong;
    }
  EXPECT_EQ(wrong, 0) << "the first is row " << first << " of column " << column << ": "
                      << actual[first < 0 ? 0 : first] << ", not "
                      << expected[first < 0 ? 0 : first];
}

/// A x, M^-1 x and a solve with A, M an exact inverse of A or, for jacobi, of its diagonal blocks.
void checkSystem(const System& system, const std::vector<std::string>& methods) {
  const DeviceBsr a = matrixOf(system);
  const auto x = vectorsOf(system, 1), y = resultsFor(system, 1);
  const Shifted c_inverse = system.c.inverse(system.members);
  const Shifted b_inverse = system.b.inverse(system.block_size);
  const MatrixOperator<double, Device> operator_a(a);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    SCOPED_TRACE(trans == Trans::No ? "A x" : "A^T x");
    operator_a.apply(Exec(), x, y, trans);
    expectColumn(y, 0, system.product(system.c, system.b, 0));
  }
  for (const std::string& method : methods) {
    SCOPED_TRACE(method);
    const Kokkos::Timer timer;
    const auto m = createPreconditioner<double, Device>(method);
    m->initialize(a);
    m->compute(a);
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      m->apply(Exec(), x, y, trans);
      expectColumn(y, 0,
                   method == "jacobi"
                       ? system.product({1 / (system.c.alpha + system.c.beta), 0}, b_inverse, 0)
                       : system.product(c_inverse, b_inverse, 0));
    }
    Cg<double, Device> cg(SolverOptions{});
    Kokkos::deep_copy(y, 0.0);
    const SolveResult result = cg.solve(operator_a, m.get(), Kokkos::subview(x, Kokkos::ALL, 0),
                                        Kokkos::subview(y, Kokkos::ALL, 0));
    EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
    EXPECT_LE(result.iterations, method == "jacobi" ? 8 : 2);
    std::printf("%s, block size %d, %lld entries: %.1f s\n", method.c_str(), system.block_size,
                static_cast<long long>(system.numScalars()), timer.seconds());
  }
}

TEST(LargeMatrix, OfScalars) {
  checkSystem(System(wantedEntries(), 64, 1),
              {"jacobi", "ilu", "ilu:solve=isai", "fsai:power=1,tau=0,filter=0"});
}

TEST(LargeMatrix, OfBlocks) {
  checkSystem(System(wantedEntries(), 8, 8),
              {"jacobi", "ilu", "ilu:solve=isai", "fsai:power=1,tau=0,filter=0"});
}

/// x and y have that many entries, the matrix two a row.
TEST(LargeMatrix, TimesManyVectors) {
  constexpr Offset columns = 100;
  const System system(2 * wantedEntries() / columns, 2, 1);
  const DeviceBsr a = matrixOf(system);
  const auto x = vectorsOf(system, columns), y = resultsFor(system, columns);
  const auto m = createPreconditioner<double, Device>("jacobi");
  m->initialize(a);
  m->compute(a);
  MatrixOperator<double, Device>(a).apply(Exec(), x, y);
  for (const Offset column : {Offset(0), columns - 1})
    expectColumn(y, column, system.product(system.c, system.b, column));
  m->apply(Exec(), x, y);
  for (const Offset column : {Offset(0), columns - 1})
    expectColumn(y, column, system.product({1 / 6.0, 0}, system.b.inverse(1), column));
  axpby<double, Device>(Exec(), 6.0 * 2.1, y, -1.0, x);
  expectColumn(x, columns - 1, std::vector<double>(size_t(system.numPoints()), 0.0));
}

} // namespace
