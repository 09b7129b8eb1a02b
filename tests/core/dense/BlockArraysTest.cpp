// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_Symmetry.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

const int block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 17};

template <class Scalar>
void checkGather(int bs, Offset count) {
  SCOPED_TRACE(message("block size ", bs, ", ", count, " blocks"));
  constexpr Offset num_in = 37;
  const size_t bs2 = size_t(bs) * bs;
  Random random(bs);
  const auto in = random.vector<Scalar>(num_in * bs2);
  std::vector<Offset> source(count);
  for (Offset& s : source)
    s = random.below(num_in);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    std::vector<Scalar> expected;
    for (const Offset s : source)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          expected.push_back(in[s * bs2 + (trans == Trans::No ? r * bs + c : c * bs + r)]);
    const auto out = poisoned<Scalar>(count * bs2);
    gatherBlocks<Scalar, Device>(Exec(), trans, toDevice(source), bs, toDevice(in), out);
    EXPECT_EQ(toHost(out), expected);
  }
}

TEST(BlockArrays, GathersBlocks) {
  for (const int bs : block_sizes)
    for (const Offset count : {0, 1, 33, 536}) {
      checkGather<double>(bs, count);
      checkGather<float>(bs, count);
    }
}

/// The transposed matrix is the transposed graph with its blocks gathered and transposed.
TEST(BlockArrays, ValuesFollowATransposedGraph) {
  for (const int bs : block_sizes) {
    RandomOptions options;
    options.diagonal = false;
    const auto a = randomMatrix(31, 23, bs, 0.2, options);
    const auto on_device = copyTo<Device>(a);
    const PermutedGraph<Device> t = transpose(Exec(), on_device.graph);
    const auto values = poisoned(a.numScalars());
    gatherBlocks<double, Device>(Exec(), Trans::Yes, t.source, bs, on_device.values, values);
    EXPECT_EQ(toDense(BsrMatrix<double, Device>(t.graph, values, bs)),
              transposed(toDense(a), a.numPointCols()));
  }
}

template <class Scalar>
void checkTranspose(int bs, size_t count) {
  SCOPED_TRACE(message("block size ", bs, ", ", count, " blocks"));
  const auto in = Random(bs).vector<Scalar>(count * bs * bs);
  std::vector<Scalar> expected;
  for (size_t e = 0; e < count; ++e)
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c)
        expected.push_back(in[(e * bs + c) * bs + r]);
  const auto out = poisoned<Scalar>(in.size());
  transposeBlocks<Scalar, Device>(Exec(), bs, toDevice(in), out);
  EXPECT_EQ(toHost(out), expected);
}

TEST(BlockArrays, TransposesBlocks) {
  for (const int bs : block_sizes)
    for (const size_t count : {0, 1, 33, 536}) {
      checkTranspose<double>(bs, count);
      checkTranspose<float>(bs, count);
    }
}

TEST(BlockArrays, RoundsToFloat) {
  for (const size_t n : {0, 1, 615}) {
    const auto in = Random(3).vector(n);
    const auto out = poisoned<float>(n);
    convert<double, float, Device>(Exec(), toDevice(in), out);
    EXPECT_EQ(toHost(out), std::vector<float>(in.begin(), in.end()));
  }
}

template <class Scalar>
void checkNonFinite() {
  using Limits = std::numeric_limits<Scalar>;
  auto values = Random(4).vector<Scalar>(615);
  const auto count = [&] { return countNonFinite<Scalar, Device>(Exec(), toDevice(values)); };
  EXPECT_EQ(count(), 0);
  for (const Scalar finite : {Scalar(0), Scalar(-0.0), Limits::max(), Limits::lowest(),
                              Limits::min(), Limits::denorm_min()})
    values.push_back(finite);
  EXPECT_EQ(count(), 0);
  values.front() = Limits::quiet_NaN();
  EXPECT_EQ(count(), 1);
  values.back() = Limits::infinity();
  values[100] = -Limits::infinity();
  values[101] = -Limits::quiet_NaN();
  EXPECT_EQ(count(), 4);
  std::fill(values.begin(), values.end(), Limits::quiet_NaN());
  EXPECT_EQ(count(), 621);
  values.clear();
  EXPECT_EQ(count(), 0);
}

TEST(BlockArrays, CountsWhatIsNotFinite) {
  checkNonFinite<double>();
  checkNonFinite<float>();
}

TEST(BlockNorm, IsRightForNumbersOfAnySize) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const auto norm = [](const std::vector<double>& block) {
    const Graph<HostDevice> graph = makeGraph({{0}});
    return detail::blockNorm(BsrMatrix<double, HostDevice>(graph, viewOf(block), 2), 0);
  };
  EXPECT_EQ(norm({0, 0, 0, 0}), 0);
  EXPECT_EQ(norm({3, 0, 0, -4}), 5);
  EXPECT_DOUBLE_EQ(norm({3e200, 0, 0, -4e200}), 5e200);
  EXPECT_DOUBLE_EQ(norm({3e-200, 0, 0, -4e-200}), 5e-200);
  EXPECT_DOUBLE_EQ(norm({3e-200, 0, 0, -4e200}), 4e200);
  EXPECT_EQ(norm({1, -inf, 0, 0}), inf);
  EXPECT_TRUE(std::isnan(norm({nan, nan, nan, nan})));
  EXPECT_TRUE(std::isnan(norm({nan, 0, 1e200, 0})));
  EXPECT_TRUE(std::isnan(norm({nan, 0, inf, 0})));
}

TEST(BlockArrays, KernelsCarryLabels) {
  const auto in = toDevice(std::vector<double>(90, 1.0)), out = poisoned(90);
  const auto rounded = poisoned<float>(90);
  const auto source = toDevice(std::vector<Offset>(10, 3));
  const KernelLabelRecorder recorder;
  gatherBlocks<double, Device>(Exec(), Trans::Yes, source, 3, in, out);
  transposeBlocks<double, Device>(Exec(), 3, in, out);
  convert<double, float, Device>(Exec(), in, rounded);
  countNonFinite<double, Device>(Exec(), in);
  EXPECT_EQ(recorder.kernels(),
            (std::vector<std::string>{"Ainvil::gatherBlocks", "Ainvil::transposeBlocks",
                                      "Ainvil::convert", "Ainvil::countNonFinite"}));
  expectOwnLabels(recorder.labels());
}

} // namespace
