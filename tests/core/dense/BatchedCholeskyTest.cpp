// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "dense/Ainvil_CholeskyRun.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;
using detail::packedRow;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
const std::vector<Ordinal> all_sizes = {1,  2,  3,  7,  8,   9,   15,  16,  17,  31,  32, 33,
                                        63, 64, 65, 96, 100, 128, 150, 200, 257, 300, 512};

template <class Scalar>
constexpr double tolerance = sizeof(Scalar) == 8 ? 1e-12 : 2e-4;

/// Row by row as in a textbook, packed; 0 or the 1-based row of the first bad pivot.
int referenceFactor(Doubles& a, int n) {
  for (int i = 0; i < n; ++i) {
    double* row_i = &a[packedRow(i)];
    for (int j = 0; j <= i; ++j) {
      const double* row_j = &a[packedRow(j)];
      double sum = row_i[j];
      for (int k = 0; k < j; ++k)
        sum -= row_i[k] * row_j[k];
      if (j < i)
        row_i[j] = sum / row_j[j];
      else if (sum > 0 && std::isfinite(sum))
        row_i[i] = std::sqrt(sum);
      else
        return i + 1;
    }
  }
  return 0;
}

/// L^-T e_n.
Doubles referenceSolve(const Doubles& l, int n) {
  Doubles g(n);
  for (int i = n; i-- > 0;) {
    double sum = i == n - 1 ? 1 : 0;
    for (int k = i + 1; k < n; ++k)
      sum -= l[packedRow(k) + i] * g[k];
    g[i] = sum / l[packedRow(i) + i];
  }
  return g;
}

/// L L^T with a random L of moderate condition.
Doubles randomSpd(Random& random, int n) {
  Doubles l(packedRow(n)), a(packedRow(n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      l[packedRow(i) + j] =
          i == j ? random.uniform(1, 2) : random.uniform(-1, 1) / std::sqrt(double(n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k <= j; ++k)
        a[packedRow(i) + j] += l[packedRow(i) + k] * l[packedRow(j) + k];
  return a;
}

/// A batch on the device between gaps of NaN, and what it began with.
template <class Scalar>
struct Batch {
  std::vector<Ordinal> sizes;
  std::vector<Offset> offsets, vector_offsets;
  std::vector<Scalar> values;
  Offset vector_length = 0;
  Kokkos::View<const Ordinal*, Device> device_sizes;
  CholeskyBatch<Scalar, Device> a;
  VectorBatch<Scalar, Device> g;
  Kokkos::View<int*, Device> info;

  explicit Batch(const std::vector<Ordinal>& sizes_in, std::uint64_t seed = 1) : sizes(sizes_in) {
    Random random(seed);
    for (const Ordinal n : sizes) {
      values.insert(values.end(), 1 + random.below(3), Scalar(nan_value));
      offsets.push_back(values.size());
      const Doubles matrix = randomSpd(random, n);
      values.insert(values.end(), matrix.begin(), matrix.end());
      vector_length += 1 + random.below(2);
      vector_offsets.push_back(vector_length);
      vector_length += n;
    }
    values.push_back(Scalar(nan_value));
    ++vector_length;
    device_sizes = toDevice(sizes);
    reset();
  }
  /// Takes `values` as the matrices.
  void reset() {
    a = {toDevice(offsets), toDevice(values)};
    g = {toDevice(vector_offsets), poisoned<Scalar>(vector_length)};
    info = toDevice(std::vector<int>(sizes.size(), -1));
  }
  Scalar& entry(size_t b, int i, int j) { return values[offsets[b] + packedRow(i) + j]; }
  Doubles matrix(size_t b) const { return part(values, offsets[b], packedRow(sizes[b])); }

  static Doubles part(const std::vector<Scalar>& all, Offset begin, size_t count) {
    return Doubles(all.begin() + begin, all.begin() + begin + count);
  }
};

/// max |A - L L^T| / max |A|
double residual(const Doubles& a, const Doubles& l, int n) {
  double worst = 0, scale = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = a[packedRow(i) + j];
      for (int k = 0; k <= j; ++k)
        sum -= l[packedRow(i) + k] * l[packedRow(j) + k];
      worst = std::isnan(sum) ? sum : std::max(worst, std::abs(sum));
      scale = std::max(scale, std::abs(a[packedRow(i) + j]));
    }
  return n > 0 ? worst / scale : 0;
}

/// All that lies between the items [offsets[b], offsets[b] + count(b)) is still NaN.
template <class Scalar, class Count>
void expectGaps(std::vector<Scalar> values, const std::vector<Offset>& offsets,
                const Count& count) {
  for (size_t b = 0; b < offsets.size(); ++b)
    std::fill_n(values.begin() + offsets[b], count(b), Scalar(nan_value));
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](Scalar v) { return std::isnan(v); }));
}

/// Compares what lies in `batch` after a run with the reference for every matrix.
template <class Scalar>
void expectFactors(const Batch<Scalar>& batch, bool solved) {
  const auto values = toHost(batch.a.values), vectors = toHost(batch.g.values);
  const auto info = toHost(batch.info);
  for (size_t b = 0; b < batch.sizes.size(); ++b) {
    const int n = batch.sizes[b];
    SCOPED_TRACE(message("matrix ", b, " of size ", n));
    const Doubles a = batch.matrix(b);
    Doubles l = a;
    const int bad = referenceFactor(l, n);
    EXPECT_EQ(info[b], bad);
    const int good = bad == 0 ? n : bad - 1;
    l.resize(packedRow(good));
    expectNear(Batch<Scalar>::part(values, batch.offsets[b], l.size()), l, tolerance<Scalar>, "L");
    EXPECT_LE(residual(a, Batch<Scalar>::part(values, batch.offsets[b], l.size()), good),
              tolerance<Scalar> * 0.1);
    const Doubles g = Batch<Scalar>::part(vectors, batch.vector_offsets[b], n);
    if (solved && bad == 0)
      expectNear(g, referenceSolve(l, n), tolerance<Scalar> * 10, "g");
    else
      EXPECT_TRUE(std::all_of(g.begin(), g.end(), [](double v) { return std::isnan(v); }));
  }
  expectGaps(values, batch.offsets, [&](size_t b) { return packedRow(batch.sizes[b]); });
  expectGaps(vectors, batch.vector_offsets, [&](size_t b) { return batch.sizes[b]; });
}

template <class Scalar>
void checkBatch(Batch<Scalar>& batch) {
  const BatchedCholesky<Scalar, Device> cholesky(Exec(), batch.device_sizes);
  cholesky.factor(Exec(), batch.a, batch.info);
  {
    SCOPED_TRACE("factor");
    expectFactors(batch, false);
  }
  batch.reset();
  cholesky.factorSolveLast(Exec(), batch.a, batch.g, batch.info);
  SCOPED_TRACE("factorSolveLast");
  expectFactors(batch, true);
}

template <class Scalar>
void checkAllSizes() {
  for (const Ordinal n : all_sizes) {
    Batch<Scalar> alone({n}, n);
    checkBatch(alone);
  }
  std::vector<Ordinal> mixed = all_sizes;
  mixed.insert(mixed.end(), {1, 5, 8, 8, 12, 16, 30, 32, 40, 64, 70, 110, 0});
  Random(3).shuffle(mixed);
  Batch<Scalar> batch(mixed, 4);
  checkBatch(batch);
}

TEST(BatchedCholesky, MatchesTheReferenceInDouble) {
  checkAllSizes<double>();
}
TEST(BatchedCholesky, MatchesTheReferenceInFloat) {
  checkAllSizes<float>();
}

TEST(BatchedCholesky, ManySmallMatrices) {
  Random random(5);
  std::vector<Ordinal> sizes(1000);
  for (Ordinal& n : sizes)
    n = random.below(40);
  Batch<double> batch(sizes, 6);
  checkBatch(batch);
}

/// g = L^-T e_n as the rest of the library understands it: g g_n = A^-1 e_n.
TEST(BatchedCholesky, SolvesForTheLastUnitVector) {
  for (const int n : {1, 5, 32, 50, 101}) {
    Batch<double> batch({n}, n);
    const BatchedCholesky<double, Device> cholesky(Exec(), batch.device_sizes);
    cholesky.factorSolveLast(Exec(), batch.a, batch.g, batch.info);
    Doubles dense(size_t(n) * n), last(n),
        g = batch.part(toHost(batch.g.values), batch.vector_offsets[0], n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        dense[i * n + j] = dense[j * n + i] = batch.entry(0, i, j);
    last[n - 1] = 1;
    const double scale = g[n - 1];
    for (double& value : g)
      value *= scale;
    expectNear(g, solve(dense, last, n), 1e-11);
  }
}

/// Defects of every kind in some matrices of a batch, in the first, a middle and the last row.
template <class Scalar>
void checkDefects() {
  enum class Defect { Zero, Negative, NaN, Infinite };
  Random random(7);
  for (const Defect defect : {Defect::Zero, Defect::Negative, Defect::NaN, Defect::Infinite})
    for (const int place : {0, 1, 2}) {
      SCOPED_TRACE(message("defect ", int(defect), " at place ", place));
      std::vector<Ordinal> sizes;
      for (const Ordinal n : {1, 7, 8, 20, 32, 33, 64, 65, 100, 200, 300})
        sizes.insert(sizes.end(), {n, n, n});
      Batch<Scalar> batch(sizes, 8 + place);
      for (size_t b = 1; b < sizes.size(); b += 3) {
        const int n = sizes[b];
        const int p = place == 0 ? 0 : place == 1 ? n / 2 : n - 1;
        if (defect == Defect::Zero) // exactly zero whatever the rounding
          for (int i = 0; i < n; ++i)
            batch.entry(b, std::max(i, p), std::min(i, p)) = 0;
        else if (defect == Defect::Negative)
          batch.entry(b, p, p) = Scalar(-0.1);
        else if (defect == Defect::NaN)
          batch.entry(b, p, random.below(p + 1)) = Scalar(nan_value);
        else
          batch.entry(b, p, p) = std::numeric_limits<Scalar>::infinity();
      }
      batch.reset();
      checkBatch(batch);
    }
}

TEST(BatchedCholesky, ReportsWhatIsNotPositiveDefinite) {
  checkDefects<double>();
  checkDefects<float>();
}

/// A_ij = 2 for i = j, else 1 / (1 + i + j + b), made on the spot; only g is kept.
template <class Scalar>
struct MadeOnTheSpot {
  static constexpr bool solves = true;
  static constexpr bool in_place = false;

  Kokkos::View<const Offset*, Device> home_offsets; ///< of matrices too large for scratch memory
  Kokkos::View<Scalar*, Device> homes;
  VectorBatch<Scalar, Device> g;
  Kokkos::View<int*, Device> info;

  KOKKOS_INLINE_FUNCTION static Scalar entry(Ordinal b, int i, int j) {
    return i == j ? Scalar(2) : Scalar(1) / Scalar(1 + i + j + b);
  }
  KOKKOS_INLINE_FUNCTION Scalar* matrixHome(Ordinal b) const {
    return homes.data() + home_offsets(b);
  }
  KOKKOS_INLINE_FUNCTION Scalar* vectorHome(Ordinal b) const {
    return g.values.data() + g.offsets(b);
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void load(const Group& group, Ordinal b, int n, Scalar* a) const {
    group.forEach(n, [&](const int i) {
      for (int j = 0; j <= i; ++j)
        a[packedRow(i) + j] = entry(b, i, j);
    });
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void store(const Group& group, Ordinal b, int, int bad,
                                    const Scalar*) const {
    group.forEach(1, [&](int) { info(b) = bad; });
  }
  KOKKOS_INLINE_FUNCTION int columns() const { return 1; }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void storeVector(const Group& group, Ordinal b, int n, int,
                                          const Scalar* from) const {
    group.forEach(n, [&](const int i) { vectorHome(b)[i] = from[i]; });
  }
};

template <class Scalar>
void checkOnTheSpot() {
  std::vector<Ordinal> sizes = all_sizes;
  Random(9).shuffle(sizes);
  Batch<Scalar> batch(sizes);
  const BatchedCholesky<Scalar, Device> cholesky(Exec(), batch.device_sizes);
  std::vector<Offset> homes;
  Offset end = 0;
  for (const Ordinal n : sizes) {
    homes.push_back(end);
    end += n > cholesky.largestInScratch() ? packedRow(n) : 0;
  }
  cholesky.run(Exec(), "Ainvil::test",
               MadeOnTheSpot<Scalar>{toDevice(homes), poisoned<Scalar>(end), batch.g, batch.info});
  const auto vectors = toHost(batch.g.values);
  EXPECT_EQ(toHost(batch.info), std::vector<int>(sizes.size(), 0));
  for (size_t b = 0; b < sizes.size(); ++b) {
    const int n = sizes[b];
    SCOPED_TRACE(message("size ", n));
    Doubles l(packedRow(n));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        l[packedRow(i) + j] = MadeOnTheSpot<Scalar>::entry(b, i, j);
    referenceFactor(l, n);
    expectNear(batch.part(vectors, batch.vector_offsets[b], n), referenceSolve(l, n),
               tolerance<Scalar>);
  }
  expectGaps(vectors, batch.vector_offsets, [&](size_t b) { return sizes[b]; });
}

TEST(BatchedCholesky, OfMatricesMadeOnTheSpot) {
  checkOnTheSpot<double>();
  checkOnTheSpot<float>();
}

TEST(BatchedCholesky, EmptyBatch) {
  Batch<double> batch({});
  checkBatch(batch);
  Batch<double> zeros({0, 0, 0});
  checkBatch(zeros);
}

TEST(BatchedCholesky, AllocatesNothingAndLabelsItsKernels) {
  Batch<double> batch(all_sizes);
  const KernelLabelRecorder recorder;
  const BatchedCholesky<double, Device> cholesky(Exec(), batch.device_sizes);
  expectOwnLabels(recorder.labels());
  cholesky.factorSolveLast(Exec(), batch.a, batch.g, batch.info);
  batch.reset();
  const AllocationCounter counter;
  cholesky.factor(Exec(), batch.a, batch.info);
  cholesky.factorSolveLast(Exec(), batch.a, batch.g, batch.info);
  EXPECT_EQ(counter.count(), 0) << counter.labels();
  EXPECT_GE(recorder.kernels().size(), 3u);
  expectOwnLabels(recorder.kernels());
}

TEST(BatchedCholesky, RefusesWrongShapes) {
  using Cholesky = BatchedCholesky<double, Device>;
  try {
    Cholesky(Exec(), toDevice(std::vector<Ordinal>{3, -1, 5, 0}));
    ADD_FAILURE() << "a negative size was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("must not be negative, but 1 of the batch"),
              std::string::npos)
        << error.what();
  }
  Batch<double> batch({3, 4});
  const Cholesky cholesky(Exec(), batch.device_sizes);
  const auto one = toDevice(std::vector<Offset>{0});
  EXPECT_THROW(cholesky.factor(Exec(), {one, batch.a.values}, batch.info), InvalidArgument);
  EXPECT_THROW(cholesky.factor(Exec(), batch.a, toDevice(std::vector<int>{0})), InvalidArgument);
  EXPECT_THROW(cholesky.factorSolveLast(Exec(), batch.a, {one, batch.g.values}, batch.info),
               InvalidArgument);
}

} // namespace
