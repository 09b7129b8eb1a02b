// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveSystem.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Ordering.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "graph/Ainvil_WeakDiagonals.hpp"
#include "io/Ainvil_MatrixMarket.hpp"
#include "io/Ainvil_VectorFiles.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace ainvil {
namespace perf {
namespace {

using Exec = HostDevice::execution_space;
using Matrix = BsrMatrix<double, HostDevice>;
using HostVector = Vector<double, HostDevice>;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Offset>>;

/// The smallest i < n for which isBad(i), or n.
template <class Predicate>
Offset findFirst(Offset n, const Predicate& isBad) {
  Offset found = n;
  Kokkos::parallel_reduce(
      "Ainvil::solve[check]", Range(0, n),
      [&](const Offset i, Offset& first) {
        if (i < first && isBad(i))
          first = i;
      },
      Kokkos::Min<Offset>(found));
  return std::min(found, n);
}

void checkRows(const CommandLine& command, const Matrix& a) {
  const auto refuse = [&](const auto&... reason) {
    throw InvalidArgument(message("the matrix of '", command.problemName(), "' ", reason...));
  };
  if (a.numRows() != a.numCols())
    refuse("has ", a.numPointRows(), " rows and ", a.numPointCols(),
           " columns, but only square matrices can be solved with");
  const int bs = a.block_size;
  const Offset empty = findFirst(a.numPointRows(), [&](Offset point_row) {
    const Offset row = point_row / bs, r = point_row % bs;
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
      for (int c = 0; c < bs; ++c)
        if (a.values((e * bs + r) * bs + c) != 0)
          return false;
    return true;
  });
  if (empty < a.numPointRows())
    refuse("is singular: ", counted("row", empty), " has no nonzero entry");
}

/// ||v|| = largest * root, without squares that over- or underflow.
struct ScaledNorm {
  double largest = 1; ///< largest |v_i|; NaN or Inf if one is
  double root = 1;    ///< (sum of (v_i / largest)^2)^(1/2)

  ScaledNorm() = default; ///< of a unit vector
  explicit ScaledNorm(const HostVector& v) : largest(0), root(0) {
    for (size_t i = 0; i < v.extent(0); ++i) {
      const double size = std::fabs(v(i));
      if (!std::isfinite(size)) {
        largest = size;
        root = 1;
        return;
      }
      largest = std::max(largest, size);
    }
    if (largest == 0)
      return;
    double sum = 0;
    for (size_t i = 0; i < v.extent(0); ++i)
      sum += (v(i) / largest) * (v(i) / largest);
    root = std::sqrt(sum);
  }

  /// The ratio of two norms.
  double over(const ScaledNorm& other) const {
    return (largest / other.largest) * (root / other.root);
  }
};

HostVector newVector(Offset n) {
  return allocateView<HostVector>(Exec(), "Ainvil::vector", size_t(n));
}

HostVector constantVector(Offset n, double value) {
  const HostVector x = newVector(n);
  Kokkos::deep_copy(x, value);
  return x;
}

/// Uniform in (-1, 1), the same numbers with every standard library.
HostVector randomVector(Offset n, std::uint64_t seed) {
  const HostVector x = newVector(n);
  std::mt19937_64 generator(seed);
  for (Offset i = 0; i < n; ++i)
    x(i) = std::ldexp(static_cast<double>(generator() >> 11) + 0.5, -52) - 1;
  return x;
}

HostVector rowSums(const Matrix& a) {
  const HostVector b = newVector(a.numPointRows());
  const Exec exec;
  spmv<double, double, HostDevice>(exec, Trans::No, 1.0, a, constantVector(a.numPointCols(), 1.0),
                                   0.0, b);
  compat::fence(exec, "Ainvil::solve[rowsum]");
  return b;
}

/// The columns of a file, for a matrix of n rows; `what` they are.
MultiVector<double, HostDevice> readColumnsFor(Offset n, const std::string& path,
                                               const char* what) {
  const MultiVector<double, HostDevice> x = readColumns(path);
  if (Offset(x.extent(0)) != n)
    throw InvalidArgument(message("the ", what, " in '", path, "' has ", x.extent(0),
                                  " values, but the matrix has ", n, " rows"));
  if (x.extent(1) == 0)
    throw InvalidArgument(message("the ", what, " in '", path, "' has no column"));
  return x;
}

std::vector<HostVector> readRhs(const CommandLine& command, Offset n) {
  const std::string& path = command.rhs_file;
  const MultiVector<double, HostDevice> b = readColumnsFor(n, path, "right-hand side");
  if (b.extent(1) > 1 && (command.program == Program::Peers || command.recommend))
    throw InvalidArgument(message("the right-hand side in '", path, "' has ", b.extent(1),
                                  " columns, but ", nameOf(command.program),
                                  command.recommend ? " --recommend" : "", " solves for one"));
  std::vector<HostVector> columns;
  for (size_t c = 0; c < b.extent(1); ++c)
    columns.push_back(Kokkos::subview(b, Kokkos::ALL(), c));
  return columns;
}

/// The right-hand sides of the system as given; empty for the row sums of the scaled one.
std::vector<HostVector> makeRhs(const CommandLine& command, const Matrix& a,
                                const HostVector& own) {
  const Offset n = a.numPointRows();
  switch (command.rhs) {
  case RhsKind::Default:
    return {own.extent(0) > 0 ? own : rowSums(a)};
  case RhsKind::Ones:
    return {constantVector(n, 1)};
  case RhsKind::RowSum:
    return {rowSums(a)};
  case RhsKind::ScaledRowSum:
    return {HostVector()};
  case RhsKind::Random: {
    std::vector<HostVector> columns;
    for (int c = 0; c < command.rhs_count; ++c)
      columns.push_back(randomVector(n, command.rhs_seed + static_cast<std::uint64_t>(c)));
    return columns;
  }
  case RhsKind::File:
    return readRhs(command, n);
  }
  return {};
}

RowColumnScaling<double, HostDevice> scalingOf(const std::string& rule, const Matrix& a) {
  if (rule == "ruiz")
    return ruizScaling(Exec(), a);
  const auto s =
      scalingFactors(Exec(), a, rule == "norm" ? ScalingRule::ColumnNorm : ScalingRule::Diagonal);
  return {s, s};
}

/// One factor a block row as one a point row.
HostVector inPoints(const Kokkos::View<const double*, HostDevice>& factors, int block_size) {
  const HostVector points = newVector(Offset(factors.extent(0)) * block_size);
  for (size_t i = 0; i < points.extent(0); ++i)
    points(i) = factors(i / block_size);
  return points;
}

HostVector permutedVector(const Permutation<HostDevice>& perm, int block_size,
                          const HostVector& x) {
  const HostVector result = newVector(x.extent(0));
  permute<double, HostDevice>(Exec(), Trans::No, perm, block_size, asColumn(x), asColumn(result));
  return result;
}

/// A becomes R A C, b becomes R b, or R A C times ones where there is no b yet.
void scaleSystem(const RowColumnScaling<double, HostDevice>& scaling, LinearSystem& system) {
  const Exec exec;
  system.scaling = scaling;
  system.matrix = scaled(exec, scaling, system.matrix);
  if (system.rhs.extent(0) == 0) {
    system.rhs = rowSums(system.matrix);
    system.original_rhs = newVector(system.rhs.extent(0));
    for (size_t i = 0; i < system.rhs.extent(0); ++i)
      system.original_rhs(i) = system.rhs(i) / scaling.rows(i);
  } else {
    system.rhs = newVector(system.original_rhs.extent(0));
    Kokkos::deep_copy(exec, system.rhs, system.original_rhs);
    scale(exec, scaling.rows, system.rhs);
  }
  compat::fence(exec, "Ainvil::solve[scale]");
}

/// A becomes Q R A C and b becomes Q R b with the rows and scalings of the matching.
void matchRows(const CommandLine& command, LinearSystem& system, ProgressLine* progress) {
  const Exec exec;
  std::function<void(Offset)> show;
  if (progress != nullptr && progress->isActive())
    show = [&, shown = false](Offset rows) mutable {
      if (shown && !progress->isDue())
        return;
      shown = true;
      progress->show(message("preparing ", command.problemName(), ": ", rows, " of ",
                             system.matrix.numRows(), " rows matched"));
    };
  const Matching found = maximumProductMatching(system.matrix, show);
  if (found.num_matched < found.numRows())
    throw InvalidArgument(message(
        "the matrix of '", command.problemName(),
        "' is singular whatever its nonzero values: only ", found.num_matched, " of ",
        found.numRows(),
        " block rows can be matched with a block column of their own, the first that cannot is ",
        counted("block row", found.first_unmatched)));
  const int bs = system.matrix.block_size;
  scaleSystem({inPoints(found.row_scaling, bs), inPoints(found.column_scaling, bs)}, system);
  const Matrix a = system.matrix;
  system.matching = makePermutation<HostDevice>(exec, found.row_of);
  const auto same = identityPermutation<HostDevice>(exec, a.numRows());
  const auto pattern = permuted(exec, system.matching, same, a.graph);
  const Kokkos::View<double*, HostDevice> values =
      allocate<double, HostDevice>(exec, "Ainvil::values", a.values.extent(0));
  gatherBlocks<double, HostDevice>(exec, Trans::No, pattern.source, bs, a.values, values);
  system.rhs = permutedVector(system.matching, bs, system.rhs);
  compat::fence(exec, "Ainvil::solve[match]");
  system.matrix = Matrix(pattern.graph, values, bs);
}

/// Scaling and reordering commute. Being last, the latter leaves the row numbers of all checks as
/// the user knows them.
void reorder(Ordering method, LinearSystem& system) {
  const Exec exec;
  Kokkos::Timer timer;
  system.order = ordering(method, system.matrix.graph);
  system.matrix = permuted(exec, system.order, system.matrix);
  system.rhs = permutedVector(system.order, system.matrix.block_size, system.rhs);
  compat::fence(exec, "Ainvil::solve[reorder]");
  system.reorder_seconds = timer.seconds();
}

/// Solvers refuse a b whose norm over- or underflows, and float has no numbers of its size.
/// Division by a power of 2 rounds nothing.
void keepSquaresFinite(HostVector& b, double& scale) {
  const double largest = ScaledNorm(b).largest;
  if (!std::isfinite(largest) || largest == 0 || std::abs(std::ilogb(largest)) < 40) // 1e12
    return;
  const HostVector rhs = newVector(b.extent(0));
  scale = std::ldexp(1.0, std::max(std::ilogb(largest), -1000));
  for (size_t i = 0; i < rhs.extent(0); ++i)
    rhs(i) = b(i) / scale;
  b = rhs;
}

/// Another right-hand side of the system, scaled and in the order of the first.
void addColumn(const HostVector& given, LinearSystem& system) {
  const Exec exec;
  const int bs = system.matrix.block_size;
  RightHandSide column;
  column.original_rhs = column.rhs = given;
  if (system.scaling.rows.extent(0) > 0) {
    column.rhs = newVector(given.extent(0));
    Kokkos::deep_copy(exec, column.rhs, given);
    scale(exec, system.scaling.rows, column.rhs);
    compat::fence(exec, "Ainvil::solve[scale]");
  }
  for (const Permutation<HostDevice>& order : {system.matching, system.order})
    if (order.numRows() > 0) {
      column.rhs = permutedVector(order, bs, column.rhs);
      compat::fence(exec, "Ainvil::solve[reorder]");
    }
  keepSquaresFinite(column.rhs, column.rhs_scale);
  system.more.push_back(column);
}

/// P C^-1 x / rhs_scale: x as the solvers see it.
HostVector seenBySolvers(const LinearSystem& system, const HostVector& x, double rhs_scale) {
  HostVector seen = newVector(x.extent(0));
  const bool is_scaled = system.scaling.columns.extent(0) > 0;
  for (size_t i = 0; i < x.extent(0); ++i)
    seen(i) = x(i) / rhs_scale / (is_scaled ? system.scaling.columns(i) : 1);
  if (system.order.numRows() == 0)
    return seen;
  seen = permutedVector(system.order, system.matrix.block_size, seen);
  compat::fence(Exec(), "Ainvil::solve[reorder]");
  return seen;
}

/// The guess of the command line, with its residuals, for the right-hand sides of the system.
void addGuess(const CommandLine& command, LinearSystem& system) {
  const std::string& path = command.guess_file;
  const auto x = readColumnsFor(system.matrix.numPointRows(), path, "initial guess");
  if (int(x.extent(1)) != system.numColumns())
    throw InvalidArgument(
        message("the initial guess in '", path, "' has ", x.extent(1),
                x.extent(1) == 1 ? " column" : " columns", ", but there ",
                system.numColumns() == 1 ? "is " : "are ", system.numColumns(),
                system.numColumns() == 1 ? " right-hand side" : " right-hand sides"));
  for (int c = 0; c < system.numColumns(); ++c) {
    RightHandSide& column = system.column(c);
    const HostVector given = Kokkos::subview(x, Kokkos::ALL(), c);
    column.guess = seenBySolvers(system, given, column.rhs_scale);
    column.guess_residual = relativeResidual(system.original_matrix, column.original_rhs, given);
    column.scaled_guess_residual = relativeResidual(system.matrix, column.rhs, column.guess);
  }
}

} // namespace

LinearSystem makeSystem(const CommandLine& command, ProgressLine* progress) {
  const Exec exec;
  LinearSystem system;
  HostVector own_rhs;
  if (command.matrix.empty()) {
    const Problem problem = makeProblem(command.problem);
    system.matrix = problem.matrix;
    own_rhs = problem.rhs;
  } else {
    system.matrix = readMatrixMarket(command.matrix);
  }
  checkRows(command, system.matrix);
  if (command.block_size > 0)
    system.matrix = toBlocks(exec, system.matrix, command.block_size);
  const std::vector<HostVector> columns = makeRhs(command, system.matrix, own_rhs);
  system.rhs = columns[0];
  system.original_matrix = system.matrix;
  system.original_rhs = system.rhs;
  system.num_weak_diagonals = detail::countWeakDiagonals(system.matrix);
  if (command.match != "none")
    matchRows(command, system, progress);
  else if (command.scale != "none")
    scaleSystem(scalingOf(command.scale, system.matrix), system);
  else if (system.rhs.extent(0) == 0)
    system.original_rhs = system.rhs = rowSums(system.matrix);
  if (command.reorder != "none")
    reorder(orderingNamed(command.reorder), system);
  keepSquaresFinite(system.rhs, system.rhs_scale);
  for (size_t c = 1; c < columns.size(); ++c)
    addColumn(columns[c], system);
  if (!command.guess_file.empty())
    addGuess(command, system);
  return system;
}

LinearSystem LinearSystem::withColumn(int column) const {
  LinearSystem system = *this;
  system.more.clear();
  system.column(0) = this->column(column);
  return system;
}

double relativeResidual(const Matrix& a, const HostVector& b, const HostVector& x) {
  const int bs = a.block_size;
  const HostVector r = newVector(a.numPointRows());
  Kokkos::parallel_for(
      "Ainvil::solve[residual]", Range(0, a.numPointRows()), [&](const Offset point_row) {
        const Offset row = point_row / bs, i = point_row % bs;
        double sum = b(point_row);
        for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
          for (int c = 0; c < bs; ++c)
            sum -= a.values((e * bs + i) * bs + c) * x(Offset(a.graph.entries(e)) * bs + c);
        r(point_row) = sum;
      });
  const ScaledNorm r_norm(r), b_norm(b), x_norm(x);
  if (!std::isfinite(x_norm.largest)) // be it where A has no entries
    return x_norm.largest;
  return b_norm.largest > 0 ? r_norm.over(b_norm) : r_norm.over({});
}

double normOf(const HostVector& v) {
  return ScaledNorm(v).over({});
}

Vector<double, HostDevice> originalSolution(const LinearSystem& system,
                                            const Vector<double, HostDevice>& x) {
  const Exec exec;
  const HostVector result = newVector(x.extent(0));
  if (system.order.numRows() > 0)
    permute<double, HostDevice>(exec, Trans::Yes, system.order, system.matrix.block_size,
                                asColumn(x), asColumn(result));
  else
    Kokkos::deep_copy(exec, result, x);
  if (system.scaling.columns.extent(0) > 0)
    scale(exec, system.scaling.columns, result);
  compat::fence(exec, "Ainvil::solve[original]");
  for (size_t i = 0; system.rhs_scale != 1 && i < result.extent(0); ++i)
    result(i) *= system.rhs_scale;
  return result;
}

} // namespace perf
} // namespace ainvil
