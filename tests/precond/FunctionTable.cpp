// SPDX-License-Identifier: BSD-3-Clause
#include "precond/FunctionTable.hpp"

#include "Ainvil_BatchedCholesky.hpp"
#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Convert.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "Ainvil_Scaling.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "gallery/Ainvil_CavityNewton.hpp"
#include "graph/Ainvil_LevelSets.hpp"
#include "graph/Ainvil_Symmetry.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {
namespace test {
namespace {

constexpr Ordinal num_rows = 61;
constexpr int bs = 3;
constexpr size_t n = size_t(num_rows) * bs, columns = 3;

/// The arguments: SPD, with a row that is long.
struct Arguments {
  HostBsr host_a = spdMatrixOn(symmetricPattern(num_rows, 5, 71), bs, 71);
  DeviceBsr a = copyTo<Device>(host_a);
  DeviceBsr shuffled_a = copyTo<Device>(shuffled(host_a, 72));
  DeviceBsr points = toPoints(Exec(), a);
  DeviceBsr skewed = copyTo<Device>(matrixOn(longRowsPattern(536), 2, 73));
  SparseOperator<double, Device> skewed_operator{Exec(), skewed};
  Graph<Device> lower = triangle(Exec(), a.graph, Uplo::Lower, Diagonal::Keep);
  MultiVector<double, Device> x = toDevice(Random(74).vector(n * columns), n, columns);
  MultiVector<double, Device> y = toDevice(Random(75).vector(n * columns), n, columns);
  MultiVector<double, Device> u = toDevice(Random(76).vector(1072), 1072, 1), v = poisoned(1072, 1);
  MultiVector<double, Device> moved = poisoned(1072, 1);
  Vector<double, Device> scales = scalingFactors(Exec(), a, ScalingRule::Diagonal);
  Vector<double, Device> scaled_x = toDevice(Random(77).vector(n));
  Kokkos::View<double*, Device> blocks = viewOf<double, Device>(Random(78).vector(n * bs));
  Kokkos::View<double*, Device> out = viewOf<double, Device>(Random(79).vector(n * bs));
  Kokkos::View<float*, Device> rounded = viewOf<float, Device>(std::vector<float>(n * bs));
  Kokkos::View<Offset*, Device> source = viewOf<Offset, Device>(std::vector<Offset>(num_rows, 3));
  Kokkos::View<Ordinal*, Device> order, part_of, cholesky_sizes;
  Permutation<Device> perm;
  BatchedCholesky<double, Device> cholesky;
  Kokkos::View<Offset*, Device> cholesky_begins;
  Kokkos::View<double*, Device> cholesky_values;
  Kokkos::View<int*, Device> info;
  CavityNewton<Device> cavity{5};
  Vector<double, Device> state = poisoned(75), jacobian = poisoned(9 * 105), f = poisoned(75);

  Arguments() {
    std::vector<Ordinal> rows(num_rows), parts(num_rows), sizes(40);
    std::iota(rows.begin(), rows.end(), 0);
    Random(80).shuffle(rows);
    for (Ordinal i = 0; i < num_rows; ++i)
      parts[i] = i % 4;
    order = viewOf<Ordinal, Device>(rows);
    part_of = viewOf<Ordinal, Device>(parts);
    perm = makePermutation<Device>(Exec(), order);
    // Identity matrices, lower triangles by rows.
    std::vector<Offset> begins;
    std::vector<double> values;
    for (Ordinal k = 0; k < 40; ++k) {
      sizes[k] = 2 * k;
      begins.push_back(Offset(values.size()));
      for (Ordinal i = 0; i < 2 * k; ++i)
        for (Ordinal j = 0; j <= i; ++j)
          values.push_back(i == j ? 1 : 0);
    }
    cholesky_sizes = viewOf<Ordinal, Device>(sizes);
    cholesky_begins = viewOf<Offset, Device>(begins);
    cholesky_values = viewOf<double, Device>(values);
    info = viewOf<int, Device>(std::vector<int>(40));
    cholesky = BatchedCholesky<double, Device>(Exec(), cholesky_sizes);
  }
};

} // namespace

std::vector<Function> functionTable() {
  const auto arguments = std::make_shared<const Arguments>();
  const Arguments& t = *arguments;
  std::vector<Function> table;
  const auto add = [&](const char* name, End end, auto run) {
    // The arguments live as long as the table.
    table.push_back({name, [arguments, run](const Exec& exec) { run(exec); }, end});
  };
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    add("spmv", End::Asynchronous, [&t, trans](const Exec& exec) {
      spmv<double, double, Device>(exec, trans, 1.0, t.a, t.x, 0.5, t.y);
    });
    add("spmv of long rows", End::Asynchronous, [&t, trans](const Exec& exec) {
      t.skewed_operator.multiply(exec, trans, 1.0, t.u, 0.0, t.v);
    });
    add("multiplyAdd with a step", End::Asynchronous, [&t, trans](const Exec& exec) {
      t.skewed_operator.multiplyAdd(exec, trans, 1.0, t.u, 0.0, t.v, 0.0, t.v, t.v,
                                    {2.0, 0.5, t.moved});
    });
    add("blockDiagonalProduct", End::Asynchronous, [&t, trans](const Exec& exec) {
      blockDiagonalProduct<double, double, Device>(exec, trans, 1.0, t.blocks, bs, t.x, 0.5, t.y);
    });
    add("permute", End::Asynchronous, [&t, trans](const Exec& exec) {
      permute<double, Device>(exec, trans, t.perm, bs, t.x, t.y);
    });
  }
  add("spmvAdd", End::Asynchronous, [&t](const Exec& exec) {
    t.skewed_operator.multiplyAdd(exec, Trans::No, 1.0, t.u, 0.5, t.v, 0.0, t.v, t.v);
  });
  add("axpby", End::Asynchronous,
      [&t](const Exec& exec) { axpby<double, Device>(exec, 1.0, t.x, 0.5, t.y); });
  add("gatherBlocks", End::Asynchronous, [&t](const Exec& exec) {
    gatherBlocks<double, Device>(exec, Trans::Yes, t.source, bs, t.blocks, t.out);
  });
  add("transposeBlocks", End::Asynchronous,
      [&t](const Exec& exec) { transposeBlocks<double, Device>(exec, bs, t.blocks, t.out); });
  add("convert", End::Asynchronous,
      [&t](const Exec& exec) { convert<double, float, Device>(exec, t.blocks, t.rounded); });
  add("scale", End::Asynchronous, [&t](const Exec& exec) { scale(exec, t.scales, t.scaled_x); });
  add("fillProbes", End::Asynchronous,
      [&t](const Exec& exec) { detail::fillProbes<double, Device>(exec, t.y); });
  add("BatchedCholesky::factor", End::Asynchronous, [&t](const Exec& exec) {
    t.cholesky.factor(exec, {t.cholesky_begins, t.cholesky_values}, t.info);
  });
  add("CavityNewton", End::Waits,
      [&t](const Exec& exec) { t.cavity.assemble(exec, t.state, t.jacobian, t.f); });
  add("MatrixOperator", End::Waits,
      [&t](const Exec& exec) { MatrixOperator<double, Device>(t.skewed, exec); });
  add("norm", End::Unsaid, [&t](const Exec& exec) { detail::norm<double, Device>(exec, t.x); });
  add("countNonFinite", End::Waits,
      [&t](const Exec& exec) { countNonFinite<double, Device>(exec, t.blocks); });
  add("requireSymmetric", End::Waits,
      [&t](const Exec& exec) { detail::requireSymmetric(exec, t.a, "a", "b"); });
  add("validate", End::Waits, [&t](const Exec& exec) { validate(exec, t.a.graph); });
  add("isSorted", End::Waits, [&t](const Exec& exec) { isSorted(exec, t.a.graph); });
  add("samePattern", End::Waits,
      [&t](const Exec& exec) { samePattern(exec, t.a.graph, t.shuffled_a.graph); });
  add("sortRows", End::Unsaid, [&t](const Exec& exec) { sortRows(exec, t.shuffled_a.graph); });
  add("transpose", End::Unsaid, [&t](const Exec& exec) { transpose(exec, t.skewed.graph); });
  add("triangle", End::Unsaid,
      [&t](const Exec& exec) { triangle(exec, t.a.graph, Uplo::Upper, Diagonal::Drop); });
  add("triangularPattern", End::Unsaid, [&t](const Exec& exec) {
    triangularPattern(exec, "L", t.lower, num_rows, Uplo::Lower, Diagonal::Keep);
  });
  add("countMissingDiagonals", End::Unsaid, [&t](const Exec& exec) {
    Ordinal first = 0;
    countMissingDiagonals(exec, t.a.graph, first);
  });
  add("patternPower", End::Unsaid, [&t](const Exec& exec) { patternPower(exec, t.lower, 3); });
  add("fillPattern", End::Unsaid, [&t](const Exec& exec) { fillPattern(exec, t.a.graph, 2); });
  add("levelSets", End::Waits, [&t](const Exec& exec) { levelSets(exec, t.lower, Uplo::Lower); });
  add("toPoints", End::Waits, [&t](const Exec& exec) { toPoints(exec, t.a); });
  add("toBlocks", End::Waits, [&t](const Exec& exec) { toBlocks(exec, t.points, bs); });
  add("toBlocks of a graph", End::Waits,
      [&t](const Exec& exec) { toBlocks(exec, t.points.graph, bs); });
  // Blocks of other points do not fill.
  add("toBlocks that fills up", End::Waits,
      [&t](const Exec& exec) { toBlocks(exec, t.points, num_rows); });
  add("Kokkos Kernels", End::Waits,
      [&t](const Exec& exec) { fromKokkos(exec, toKokkos(exec, t.points)); });
  for (const ScalingRule rule : {ScalingRule::Diagonal, ScalingRule::ColumnNorm})
    add("scaled", End::Unsaid,
        [&t, rule](const Exec& exec) { scaled(exec, scalingFactors(exec, t.a, rule), t.a); });
  add("ruizScaling", End::Waits, [&t](const Exec& exec) { ruizScaling(exec, t.a); });
  add("makePermutation", End::Waits,
      [&t](const Exec& exec) { makePermutation<Device>(exec, t.order); });
  add("identityPermutation", End::Unsaid,
      [](const Exec& exec) { identityPermutation<Device>(exec, num_rows); });
  add("permuted", End::Waits, [&t](const Exec& exec) { permuted(exec, t.perm, t.a); });
  add("entriesWithinParts", End::Waits,
      [&t](const Exec& exec) { entriesWithinParts<Device>(exec, t.a.graph, t.part_of); });
  add("BatchedCholesky", End::Waits,
      [&t](const Exec& exec) { BatchedCholesky<double, Device>(exec, t.cholesky_sizes); });
  return table;
}

std::vector<NamedSolver> solverTable(const SolverOptions& options) {
  std::vector<NamedSolver> solvers;
  solvers.push_back({"cg", std::make_unique<Cg<double, Device>>(options)});
  solvers.push_back({"gmres", std::make_unique<Gmres<double, Device>>(options)});
  solvers.push_back({"fgmres", std::make_unique<Gmres<double, Device>>(options, Flexible::Yes)});
  solvers.push_back({"bicgstab", std::make_unique<BiCgStab<double, Device>>(options)});
  return solvers;
}

} // namespace test
} // namespace ainvil
