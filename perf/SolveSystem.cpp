// SPDX-License-Identifier: BSD-3-Clause
#include "SolveSystem.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Gallery.hpp"
#include "Ainvil_MatrixMarket.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Scaling.hpp"
#include "Ainvil_Spmv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
    refuse("is singular: row ", empty + 1, " (counted from 1) has no nonzero entry");
}

/// A method that divides by pivots, with the policy to give up at a zero one.
bool needsDiagonal(const std::string& precond) {
  return precond != "none" && precond.find("breakdown=shift") == std::string::npos &&
         precond.find("breakdown=replace") == std::string::npos;
}

void checkDiagonal(const CommandLine& command, const Matrix& a) {
  const auto precond =
      std::find_if(command.preconds.begin(), command.preconds.end(), needsDiagonal);
  if (precond == command.preconds.end())
    return;
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  const Offset bad = findFirst(a.numRows(), [&](Offset row) {
    for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
      if (a.graph.entries(e) == row)
        return std::all_of(a.values.data() + e * bs2, a.values.data() + (e + 1) * bs2,
                           [](double value) { return value == 0; });
    return true;
  });
  if (bad < a.numRows())
    throw InvalidArgument(
        message("the matrix of '", command.problemName(), "' has a zero diagonal ",
                a.block_size > 1 ? "block in block row " : "entry in row ", bad + 1,
                " (counted from 1), which --precond ", *precond,
                " with its breakdown policy 'fail' cannot divide by: exchange rows, or add "
                "breakdown=shift or breakdown=replace"));
}

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

HostVector readRhs(const std::string& path, Offset n) {
  const HostVector b = readMatrixMarketVector(path);
  if (Offset(b.extent(0)) != n)
    throw InvalidArgument(message("the right-hand side in '", path, "' has ", b.extent(0),
                                  " values, but the matrix has ", n, " rows"));
  return b;
}

/// The right-hand side of the unscaled system; empty for the row sums of the scaled one.
HostVector makeRhs(const CommandLine& command, const Matrix& a, const HostVector& own) {
  const Offset n = a.numPointRows();
  switch (command.rhs) {
  case RhsKind::Default:
    return own.extent(0) > 0 ? own : rowSums(a);
  case RhsKind::Ones:
    return constantVector(n, 1);
  case RhsKind::RowSum:
    return rowSums(a);
  case RhsKind::ScaledRowSum:
    return {};
  case RhsKind::Random:
    return randomVector(n, command.rhs_seed);
  case RhsKind::File:
    return readRhs(command.rhs_file, n);
  }
  return {};
}

/// Scaling and reordering commute. Being last, the latter leaves the row numbers of all checks as
/// the user knows them.
void reorder(Ordering method, LinearSystem& system) {
  const Exec exec;
  Kokkos::Timer timer;
  system.order = ordering(method, system.matrix.graph);
  system.matrix = permuted(exec, system.order, system.matrix);
  const HostVector rhs = newVector(system.rhs.extent(0));
  permute<double, HostDevice>(exec, Trans::No, system.order, system.matrix.block_size,
                              asColumn(system.rhs), asColumn(rhs));
  compat::fence(exec, "Ainvil::solve[reorder]");
  system.rhs = rhs;
  system.reorder_seconds = timer.seconds();
}

} // namespace

LinearSystem makeSystem(const CommandLine& command) {
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
  system.rhs = makeRhs(command, system.matrix, own_rhs);

  if (command.scale != "none") {
    system.scaling =
        scalingFactors(exec, system.matrix,
                       command.scale == "norm" ? ScalingRule::ColumnNorm : ScalingRule::Diagonal);
    system.matrix = scaled(exec, system.scaling, system.matrix);
    if (system.rhs.extent(0) > 0)
      scale(exec, system.scaling, system.rhs);
    compat::fence(exec, "Ainvil::solve[scale]");
  }
  checkDiagonal(command, system.matrix);
  if (system.rhs.extent(0) == 0)
    system.rhs = rowSums(system.matrix);
  if (command.reorder != "none")
    reorder(command.reorder == "rcm" ? Ordering::Rcm : Ordering::NestedDissection, system);
  return system;
}

double relativeResidual(const LinearSystem& system, const Vector<double, HostDevice>& x) {
  // Independent of the kernels that the solver used.
  const Matrix& a = system.matrix;
  const int bs = a.block_size;
  double r_squared = 0, b_squared = 0;
  Kokkos::parallel_reduce(
      "Ainvil::solve[residual]", Range(0, a.numPointRows()),
      [&](const Offset point_row, double& r_sum, double& b_sum) {
        const Offset row = point_row / bs, r = point_row % bs;
        double residual = system.rhs(point_row);
        for (Offset e = a.graph.row_map(row); e < a.graph.row_map(row + 1); ++e)
          for (int c = 0; c < bs; ++c)
            residual -= a.values((e * bs + r) * bs + c) * x(Offset(a.graph.entries(e)) * bs + c);
        r_sum += residual * residual;
        b_sum += system.rhs(point_row) * system.rhs(point_row);
      },
      r_squared, b_squared);
  return std::sqrt(b_squared > 0 ? r_squared / b_squared : r_squared);
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
  if (system.scaling.extent(0) > 0)
    scale(exec, system.scaling, result);
  compat::fence(exec, "Ainvil::solve[original]");
  return result;
}

} // namespace perf
} // namespace ainvil
