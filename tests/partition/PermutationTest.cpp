// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "product/Ainvil_Spmv.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};

std::vector<Ordinal> randomOrder(Ordinal n, std::uint64_t seed = 1) {
  std::vector<Ordinal> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  return order;
}

Permutation<Device> permutationOf(const std::vector<Ordinal>& new_to_old) {
  return makePermutation<Device>(Exec(), viewOf<Ordinal, Device>(new_to_old));
}

/// Element k * bs + r of the result is element order[k] * bs + r of `items`.
template <class T>
std::vector<T> reordered(const std::vector<T>& items, const std::vector<Ordinal>& order, int bs) {
  std::vector<T> result;
  for (const Ordinal old : order)
    result.insert(result.end(), items.begin() + size_t(old) * bs,
                  items.begin() + size_t(old + 1) * bs);
  return result;
}

/// P A P^T of a dense square matrix: its rows, then its columns.
std::vector<double> reorderedDense(const std::vector<double>& a, const std::vector<Ordinal>& order,
                                   int bs) {
  const size_t n = order.size() * bs;
  const auto rows = reordered(a, order, static_cast<int>(n) * bs);
  return transposed(reordered(transposed(rows, n), order, static_cast<int>(n) * bs), n);
}

// ------------------------------------------------------------------------------------ permutation

TEST(Permutation, KnowsItsInverse) {
  for (const Ordinal n : {0, 1, 2, 33, 536, 615}) {
    const auto order = randomOrder(n, n);
    std::vector<Ordinal> inverted(n);
    for (Ordinal k = 0; k < n; ++k)
      inverted[order[k]] = k;
    const Permutation<Device> perm = permutationOf(order);
    EXPECT_EQ(perm.numRows(), n);
    EXPECT_EQ(toHost(perm.new_to_old), order);
    EXPECT_EQ(toHost(perm.old_to_new), inverted);
    EXPECT_EQ(toHost(inverse(perm).new_to_old), inverted);
    EXPECT_EQ(toHost(inverse(perm).old_to_new), order);
    const Permutation<HostDevice> copy = copyTo<HostDevice>(perm);
    EXPECT_EQ(toHost(copy.new_to_old), order);
    EXPECT_EQ(toHost(copy.old_to_new), inverted);
  }
  EXPECT_EQ(Permutation<Device>().numRows(), 0);
}

TEST(Permutation, RefusesWhatIsNoneAndNamesWhatIsMissing) {
  const auto expectMissing = [](const std::vector<Ordinal>& order, Ordinal missing) {
    try {
      permutationOf(order);
      ADD_FAILURE() << "no exception, " << missing << " is missing";
    } catch (const InvalidArgument& error) {
      const std::string text = error.what(), end = message(" lacks ", missing);
      EXPECT_EQ(text.find(end), text.size() - end.size()) << text;
    }
  };
  expectMissing({1}, 0);
  expectMissing({-1}, 0);
  expectMissing({0, 0}, 1);
  expectMissing({2, 1, 2, 1}, 0);
  expectMissing({0, 1, 3}, 2);
  for (const Ordinal n : {536, 615}) {
    auto order = randomOrder(n);
    order[n / 2] = n - 1 - order[n / 2];
    expectMissing(order, randomOrder(n)[n / 2]);
    order[n / 2] = std::numeric_limits<Ordinal>::max();
    expectMissing(order, randomOrder(n)[n / 2]);
    order[n / 2] = std::numeric_limits<Ordinal>::min();
    expectMissing(order, randomOrder(n)[n / 2]);
  }
}

// --------------------------------------------------------------------------------------- matrices

template <class Scalar>
void checkMatrix(const BsrMatrix<double, HostDevice>& a, std::uint64_t seed) {
  SCOPED_TRACE(message(a.numRows(), " block rows of size ", a.block_size));
  const auto order = randomOrder(a.numRows(), seed);
  const Permutation<Device> perm = permutationOf(order);
  const auto on_device = copyTo<Device>(inPrecision<Scalar>(a));
  const BsrMatrix<Scalar, Device> result = permuted(Exec(), perm, on_device);
  EXPECT_EQ(result.block_size, a.block_size);
  EXPECT_EQ(result.numCols(), a.numCols());
  EXPECT_TRUE(isSorted(Exec(), result.graph));
  const auto dense = toDense(inPrecision<Scalar>(a));
  EXPECT_EQ(toDense(result), reorderedDense(dense, order, a.block_size));
  EXPECT_EQ(toDense(permuted(Exec(), inverse(perm), result)), dense);

  // New values follow the sources.
  const PermutedGraph<Device> graph = permuted(Exec(), perm, on_device.graph);
  const auto values = Random(seed + 7).vector<Scalar>(a.numScalars());
  const auto gathered = poisoned<Scalar>(values.size());
  gatherBlocks<Scalar, Device>(Exec(), Trans::No, graph.source, a.block_size, toDevice(values),
                               gathered);
  const BsrMatrix<Scalar, HostDevice> renewed(a.graph, viewOf(values), a.block_size);
  EXPECT_EQ(toDense(BsrMatrix<Scalar, Device>(graph.graph, gathered, a.block_size)),
            reorderedDense(toDense(renewed), order, a.block_size));
}

TEST(PermutedMatrix, EqualsTheDenseReference) {
  RandomOptions options;
  for (const bool tidy : {true, false}) {
    options.sorted = options.diagonal = tidy;
    for (const int bs : {1, 3}) {
      for (const Ordinal n : {0, 1, 2, 33, 120})
        checkMatrix<double>(randomMatrix(n, n, bs, 0.1, options), n);
      checkMatrix<float>(randomMatrix(71, 71, bs, 0.1, options), 5);
    }
    for (const Ordinal n : {536, 615})
      checkMatrix<double>(randomMatrix(n, n, 1, long_rows, options), n);
  }
}

TEST(PermutedMatrix, RefusesOtherShapesAndDuplicates) {
  const Permutation<Device> perm = permutationOf({2, 0, 1});
  const auto graph = [](const Rows& rows, Ordinal num_cols) {
    return copyTo<Device>(makeGraph(rows, num_cols));
  };
  EXPECT_NO_THROW(permuted(Exec(), perm, graph({{0}, {2, 1}, {}}, 3)));
  EXPECT_THROW(permuted(Exec(), perm, graph({{0}, {2, 1}, {}}, 4)), InvalidArgument);
  EXPECT_THROW(permuted(Exec(), perm, graph({{0}, {1}}, 2)), InvalidArgument);
  EXPECT_THROW(permuted(Exec(), perm, graph({{0}, {1}, {2}, {0}}, 3)), InvalidArgument);
  EXPECT_THROW(permuted(Exec(), perm, graph({{0}, {2, 1, 2}, {}}, 3)), InvalidArgument);
}

// ---------------------------------------------------------------------------------------- vectors

template <class Scalar>
void checkVectors(Ordinal n, int bs, size_t columns, size_t gap) {
  SCOPED_TRACE(message(n, " block rows of size ", bs, ", ", columns, " columns, gap ", gap));
  const auto order = randomOrder(n, n);
  const Permutation<Device> perm = permutationOf(order);
  const size_t rows = size_t(n) * bs;
  const auto values = Random(n).vector<Scalar>(rows * columns);
  std::vector<Scalar> expected;
  for (size_t c = 0; c < columns; ++c) {
    const std::vector<Scalar> column(values.begin() + c * rows, values.begin() + (c + 1) * rows);
    const auto moved = reordered(column, order, bs);
    expected.insert(expected.end(), moved.begin(), moved.end());
  }
  const auto x = toDevice(values, rows, columns, rows + gap);
  const auto y = poisoned<Scalar>(rows, columns, rows + 2 * gap);
  permute<Scalar, Device>(Exec(), Trans::No, perm, bs, x, y);
  EXPECT_EQ(toHost(y), expected);
  const auto back = poisoned<Scalar>(rows, columns);
  permute<Scalar, Device>(Exec(), Trans::Yes, perm, bs, y, back);
  EXPECT_EQ(toHost(back), values);
  const auto again = poisoned<Scalar>(rows, columns);
  permute<Scalar, Device>(Exec(), Trans::Yes, inverse(perm), bs, x, again);
  EXPECT_EQ(toHost(again), expected);
}

TEST(Permute, MovesBlocksThereAndBack) {
  for (const Ordinal n : {0, 1, 33, 536, 615})
    for (const int bs : {1, 3, 11}) {
      checkVectors<double>(n, bs, 1, 0);
      checkVectors<double>(n, bs, 4, 5);
      checkVectors<float>(n, bs, 2, 1);
    }
}

/// (P A P^T) (P x) = P (A x): matrices and vectors mean the same permutation.
TEST(Permute, FitsThePermutedMatrix) {
  for (const int bs : {1, 3}) {
    const Ordinal n = 120;
    const auto a = copyTo<Device>(randomMatrix(n, n, bs, 0.1));
    const Permutation<Device> perm = permutationOf(randomOrder(n));
    const auto x = toDevice(Random(4).vector(size_t(n) * bs));
    const auto ax = poisoned(x.extent(0)), px = poisoned(x.extent(0));
    const auto expected = poisoned(x.extent(0)), actual = poisoned(x.extent(0));
    const Exec exec;
    spmv<double, double, Device>(exec, Trans::No, 1.0, a, x, 0.0, ax);
    permute<double, Device>(exec, Trans::No, perm, bs, asColumn(ax), asColumn(expected));
    permute<double, Device>(exec, Trans::No, perm, bs, asColumn(x), asColumn(px));
    spmv<double, double, Device>(exec, Trans::No, 1.0, permuted(exec, perm, a), px, 0.0, actual);
    expectNear(toHost(actual), toHost(expected), 1e-14);
  }
}

TEST(Permute, RefusesOtherShapes) {
  const Permutation<Device> perm = permutationOf({2, 0, 1});
  const auto permuteInto = [&](size_t x_rows, size_t x_columns, size_t y_rows, size_t y_columns) {
    permute<double, Device>(Exec(), Trans::No, perm, 2, poisoned(x_rows, x_columns),
                            poisoned(y_rows, y_columns));
  };
  EXPECT_NO_THROW(permuteInto(6, 2, 6, 2));
  EXPECT_THROW(permuteInto(3, 2, 6, 2), InvalidArgument);
  EXPECT_THROW(permuteInto(6, 2, 7, 2), InvalidArgument);
  EXPECT_THROW(permuteInto(6, 1, 6, 2), InvalidArgument);
}

TEST(Permutation, KernelsAndArraysCarryLabels) {
  const auto a = copyTo<Device>(randomMatrix(100, 100, 3, 0.05));
  const auto order = viewOf<Ordinal, Device>(randomOrder(100));
  const auto x = toDevice(Random(1).vector(300)), y = poisoned(300);
  const KernelLabelRecorder recorder;
  const Permutation<Device> perm = makePermutation<Device>(Exec(), order);
  permuted(Exec(), perm, a);
  const size_t kernels = recorder.kernels().size(), arrays = recorder.allocations().size();
  permute<double, Device>(Exec(), Trans::No, perm, 3, asColumn(x), asColumn(y));
  EXPECT_EQ(recorder.kernels().size(), kernels + 1);
  EXPECT_EQ(recorder.allocations().size(), arrays);
  EXPECT_GE(kernels, 8u);
  EXPECT_GE(arrays, 7u);
  expectOwnLabels(recorder.labels());
}

} // namespace
