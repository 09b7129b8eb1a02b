// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Polynomials as preconditioners among others: new values, precisions, extremes, what they tell.
#include "KokkosObservers.hpp"
#include "precond/polynomial/PolynomialSupport.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Jacobi.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using namespace test;

TEST(Polynomial, NewValuesEqualAFreshBuildAndAllocateNothing) {
  for (const auto storage : {Storage::Native, Storage::Float})
    for (const bool symmetric : {true, false}) { // the second compute goes another way
      const Pattern pattern = symmetricPattern(64, 5, 87);
      const HostBsr spd = spdMatrixOn(pattern, 3, 87), general = matrixOn(pattern, 3, 88);
      const HostBsr& second = symmetric ? spd : general;
      const auto reused = around("ilu", 9, symmetric ? general : spd, storage);
      const DeviceBsr on_device = copyTo<Device>(second);
      const auto x = toDevice(Random(1).vector(192), 192, 1), y = poisoned(192, 1);
      {
        const AllocationCounter counter;
        reused->compute(on_device);
        reused->apply(Exec(), x, y);
        reused->apply(Exec(), x, y, Trans::Yes, 2.0, 0.5);
        EXPECT_EQ(counter.count(), 0) << counter.labels();
      }
      const auto fresh = around("ilu", 9, second, storage);
      EXPECT_EQ(denseInverse(*reused), denseInverse(*fresh));
      EXPECT_EQ(reused->report().notes, fresh->report().notes);
    }
}

/// A has been changed by its owner since compute(): what is applied stays.
TEST(Polynomial, KeepsTheValuesOfCompute) {
  const HostBsr a = matrixOn(randomPattern(30, 4, 89), 1, 89);
  for (const auto storage : {Storage::Native, Storage::Float}) {
    const DeviceBsr on_device = copyTo<Device>(a);
    const auto m = around("jacobi", 5, storage);
    m->initialize(on_device);
    m->compute(on_device);
    const Dense before = denseInverse(*m);
    Kokkos::deep_copy(on_device.values, 7.0);
    EXPECT_EQ(denseInverse(*m), before);
  }
}

/// The matrix of the polynomial is the rounded one, M^-1 is not.
TEST(Polynomial, OfARoundedMatrix) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(randomPattern(40, 4, 95), bs, 95);
    const auto check = [&](auto rounded_value, Storage storage) {
      using Stored = decltype(rounded_value);
      SCOPED_TRACE(nameOf<double>(storage));
      const HostBsr rounded = inPrecision<double>(inPrecision<Stored>(a));
      const auto m = around("none", 6, a, storage), of_rounded = around("none", 6, rounded);
      ASSERT_EQ(m->roots().size(), of_rounded->roots().size());
      for (size_t k = 0; k < m->roots().size(); ++k)
        EXPECT_LT(std::abs(m->roots()[k] - of_rounded->roots()[k]), 1e-9 * std::abs(m->roots()[k]));
      const Dense expected = reference(rounded, "none", *m);
      expectNear(denseInverse(*m), expected, 1e-11);
      expectNear(denseInverse(*m, Trans::Yes), transposed(expected, size_t(40 * bs)), 1e-11);
      EXPECT_EQ(m->report().factor_bytes,
                5 * (a.bytes() - Offset(sizeof(double) - sizeof(Stored)) * a.numScalars()));
    };
    check(float(), Storage::Float);
    check(BFloat16(), Storage::BFloat16);
    const HostBsr huge = matrixOn(randomPattern(40, 4, 95), bs, 95);
    for (Offset e = 0; e < a.numScalars(); ++e)
      huge.values(e) = 0x1p500 * a.values(e);
    EXPECT_THROW(around("jacobi", 6, huge, Storage::Float), InvalidArgument);
  }
}

/// A product moves y as well, and what is left of the last degree's product is the last step of y:
/// a degree takes the kernels of M^-1 and one, for real roots and for pairs.
TEST(Polynomial, HasOneKernelADegreeBesidesThoseOfTheMethod) {
  bool some_pairs = false, some_end_in_a_pair = false, some_end_in_a_root = false;
  for (const bool symmetric : {true, false})
    for (const int degree : {1, 2, 3, 6, 9}) {
      const Pattern pattern = symmetricPattern(150, 4, 96);
      const HostBsr a = symmetric ? spdMatrixOn(pattern, 1, 96) : matrixOn(pattern, 1, 96);
      const auto m = around("ilu:solve=isai", degree, a);
      some_pairs = some_pairs || hasPairs(*m);
      (m->roots().back().imag() == 0 ? some_end_in_a_root : some_end_in_a_pair) = true;
      const auto x = toDevice(Random(1).vector(150), 150, 1), y = poisoned(150, 1);
      const auto kernels = [&](const Preconditioner<double, Device>& method) {
        const KernelLabelRecorder seen;
        method.apply(Exec(), x, y);
        return seen.kernels().size();
      };
      EXPECT_EQ(kernels(m->inner()), 2u);
      EXPECT_EQ(kernels(*m), 3u * m->degree()) << degree;
    }
  EXPECT_TRUE(some_pairs && some_end_in_a_pair && some_end_in_a_root);
}

TEST(Polynomial, InFloat) {
  const HostBsr a = matrixOn(randomPattern(60, 4, 90), 2, 90);
  const auto rounded = inPrecision<float>(a);
  Polynomial<float, Device> m(createPreconditioner<float, Device>("jacobi"), {6});
  m.initialize(copyTo<Device>(rounded));
  m.compute(copyTo<Device>(rounded));
  EXPECT_EQ(m.degree(), 6);
  const auto of_double = around("jacobi", 6, a);
  const std::vector<float> x(120, 1.0f);
  const auto y = poisoned<float>(120, 1);
  m.apply(Exec(), toDevice(x, 120, 1), y);
  const auto expected = poisoned(120, 1);
  of_double->apply(Exec(), toDevice(Dense(120, 1.0), 120, 1), expected);
  expectNear(toHost(y), toHost(expected), 1e-4);
}

TEST(Polynomial, HugeAndTinyValuesAndNoRows) {
  const auto empty = around("ilu", 5, matrixOn({}, 3, 91));
  EXPECT_EQ(empty->degree(), 0);
  const HostBsr a = matrixOn(randomPattern(40, 4, 91), 2, 91);
  const Dense expected = denseInverse(*around("none", 6, a));
  for (const double factor : {0x1p500, 0x1p-500}) {
    const HostBsr scaled = matrixOn(randomPattern(40, 4, 91), 2, 91);
    for (Offset e = 0; e < a.numScalars(); ++e)
      scaled.values(e) = factor * a.values(e);
    const auto m = around("none", 6, scaled);
    EXPECT_EQ(m->degree(), 6);
    Dense dense = denseInverse(*m);
    for (double& value : dense)
      value *= factor;
    EXPECT_EQ(dense, expected); // factors are powers of 2
  }
}

TEST(Polynomial, NothingHelpsWhereAMapsToZero) {
  const auto m = around("none", 4, diagonal(Dense(20)));
  EXPECT_EQ(m->degree(), 0);
  EXPECT_NE(m->objection(), "");
  EXPECT_NE(m->report().notes.find("poly=0"), std::string::npos);
  // The next matrix is judged anew.
  setUp(*m, diagonal(Dense(20, 3.0)));
  EXPECT_EQ(m->objection(), "");
  EXPECT_EQ(m->degree(), 1);
}

/// A = [0 1; 0 0] twice over: after two steps nothing is left of any vector, and no step helps.
TEST(Polynomial, OfASingularMatrixIsFinite) {
  Dense a(16);
  a[0 * 4 + 1] = a[2 * 4 + 3] = 1;
  const auto nilpotent = around("none", 3, ofDense(a, 4));
  for (const double value : denseInverse(*nilpotent))
    EXPECT_TRUE(std::isfinite(value));
  Dense values(50, 2.0);
  values[7] = 0;
  const auto singular = around("none", 6, diagonal(values));
  for (const double value : denseInverse(*singular))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Polynomial, PassesOnWhatTheMethodSays) {
  HostBsr a = diagonal(Dense(9, 2.0));
  EXPECT_FALSE(around("ilu:solve=async", 3)->isFixed());
  EXPECT_TRUE(around("ilu", 3)->isFixed());
  a.values(4) = 0;
  const auto m = around("jacobi", 3);
  try {
    setUp(*m, a);
    ADD_FAILURE() << "not refused";
  } catch (const BreakdownError& error) {
    EXPECT_NE(std::string(error.what()).find("block row 5"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  const auto replaced = around("jacobi:breakdown=replace", 3, a);
  EXPECT_EQ(replaced->report().breakdowns, 1);
  EXPECT_EQ(replaced->report().first_breakdown, 4);
  a.values(4) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(setUp(*m, a), InvalidArgument);
  a.values(4) = 2;
  setUp(*m, a);
  EXPECT_EQ(m->report().breakdowns, 0);
}

/// Objects after the first matrix.
template <class Scalar, class Device>
class Objector final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  std::string description() const override { return "objector"; }

protected:
  void doInitialize(const execution_space&, const Matrix&) override {
    this->report_.note("pattern seen");
  }
  void doCompute(const execution_space&, const Matrix&) override {
    this->report_.objection = "not this one";
    this->progressOf("object", 8)(3);
  }
  void doDiagnose(const execution_space&, const Matrix&) override {
    this->report_.note("diagnosed");
  }
  void doApply(const execution_space&, MultiVectorArg<const Scalar, Device>,
               MultiVectorArg<Scalar, Device> y, Trans) const override {
    Kokkos::deep_copy(y, std::numeric_limits<Scalar>::quiet_NaN());
  }
};

TEST(Polynomial, PassesOnObjectionsProgressAndDiagnoses) {
  Poly m(std::make_unique<Objector<double, Device>>(), {3});
  std::string seen;
  m.setProgress([&](const char* phase, Offset done, Offset total) {
    seen += message(phase, " ", done, " of ", total, ";");
  });
  const HostBsr a = diagonal(Dense(9, 2.0));
  setUp(m, a);
  EXPECT_EQ(seen, "object 3 of 8;");
  EXPECT_EQ(m.objection(), "not this one");
  EXPECT_EQ(m.degree(), 0);
  EXPECT_EQ(m.report().notes, "pattern seen");
  m.diagnose(copyTo<Device>(a));
  EXPECT_EQ(m.report().notes, "pattern seen, diagnosed");
}

TEST(Polynomial, RefusesNoDegreeAndNoMethod) {
  EXPECT_THROW(around("jacobi", 0), InvalidArgument);
  EXPECT_THROW(around("jacobi", -1), InvalidArgument);
  EXPECT_THROW(Poly(nullptr, {3}), InvalidArgument);
}

} // namespace
} // namespace ainvil
