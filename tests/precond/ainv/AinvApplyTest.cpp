// SPDX-License-Identifier: BSD-3-Clause
/// What applying AINV owes to any method.
#include "precond/ainv/AinvSupport.hpp"

#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;
using Method = AinvMethod;

TEST(Ainv, TransposeIdentity) {
  const HostBsr a = matrixOn(randomPattern(90, 5, 251), 1, 251);
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16})
    for (const bool stabilized : {true, false}) {
      AinvParameters parameters = ainv(0.02, Ordering::NestedDissection, stabilized, false);
      parameters.storage = storage;
      Method method(parameters);
      setUp(method, a);
      expectNear(denseInverse(method, Trans::Yes), transposed(denseInverse(method), 90), 1e-14);
    }
}

TEST(Ainv, IsSymmetricIfTheMatrixIs) {
  const HostBsr a = spdMatrixOn(symmetricPattern(90, 5, 252), 1, 252);
  Method method(ainv(0.05, Ordering::NestedDissection));
  setUp(method, a);
  const auto m = denseInverse(method);
  expectNear(m, transposed(m, 90), 1e-15);
  expectNear(denseInverse(method, Trans::Yes), m, 0);
}

TEST(Ainv, ManyColumnsEqualALoop) {
  for (const bool symmetric : {true, false}) {
    const Ordinal n = 67;
    const HostBsr a = symmetric ? spdMatrixOn(symmetricPattern(n, 5, 253), 1, 253)
                                : matrixOn(randomPattern(n, 5, 253), 1, 253);
    Method method(ainv(0.02, Ordering::Rcm, true, symmetric));
    setUp(method, a);
    Random random(253);
    const auto x = random.vector(size_t(n) * 7);
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto many = poisoned(n, 7);
      method.apply(Exec(), toDevice(x, n, 7), many, trans);
      std::vector<double> loop;
      for (size_t c = 0; c < 7; ++c) {
        const auto y = poisoned(n, 1);
        method.apply(Exec(), toDevice(std::vector<double>(&x[c * n], &x[c * n] + n), n, 1), y,
                     trans);
        const auto column = toHost(y);
        loop.insert(loop.end(), column.begin(), column.end());
      }
      expectNear(toHost(many), loop, 1e-15);
    }
  }
}

TEST(Ainv, StorageRoundsTheFactors) {
  const HostBsr a = spdMatrixOn(symmetricPattern(120, 5, 254), 1, 254);
  const auto check = [](const Method& rounded, const Method& in_double, double error) {
    expectRoundedFactors(rounded, in_double, 2 * error);
    expectNear(denseInverse(rounded, Trans::Yes), transposed(denseInverse(rounded), 120), 1e-14);
  };
  for (const bool symmetric : {true, false})
    forEachRounding<Method>(ainv(0.01, Ordering::NestedDissection, true, symmetric), a, check);
}

TEST(Ainv, InSinglePrecision) {
  const HostBsr a = spdMatrixOn(symmetricPattern(120, 5, 255), 1, 255);
  const auto single = copyTo<Device>(inPrecision<float>(a));
  Ainv<float, Device> method(ainv(0, Ordering::NestedDissection));
  method.initialize(single);
  method.compute(single);
  Random random(255);
  const auto x = random.vector(120);
  const auto b = multiply(toDense(a), x, 120);
  const auto y = poisoned<float>(120);
  method.apply(Exec(), toDevice(std::vector<float>(b.begin(), b.end())), y);
  expectNear(toHost(y), x, 1e-5);
}

} // namespace
} // namespace ainvil
