// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Calls from a thread that did not initialise Kokkos work, or end with a sentence.

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "TestSupport.hpp"

#include <thread>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// Runs `call` in a thread of its own; checks its exception, or that there is none.
template <class Call>
void expectWorksOrTells(const char* what, const Call& call) {
  SCOPED_TRACE(what);
  bool may_launch = false;
  std::string text;
  std::thread([&] {
    may_launch = compat::mayLaunch<Exec>();
    try {
      call();
    } catch (const Error& error) {
      text = error.what();
    }
  }).join();
  if (may_launch)
    EXPECT_EQ(text, "");
  else
    EXPECT_EQ(text.rfind("this thread may not launch kernels: ", 0), 0u) << text;
}

TEST(Thread, MayLaunchWhereKokkosWasInitialised) {
  EXPECT_TRUE(compat::mayLaunch<Exec>());
  EXPECT_NO_THROW(detail::requireKokkos<Exec>());
}

TEST(Thread, OfAnotherKindWorksOrTells) {
  const auto a = copyTo<Device>(randomMatrix(50, 50, 1, 0.1));
  const MatrixOperator<double, Device> product(a);
  const auto m = createPreconditioner<double, Device>("jacobi");
  m->initialize(a);
  m->compute(a);
  const auto fresh = createPreconditioner<double, Device>("jacobi");
  const auto b = toDevice(Random(1).vector(50)), x = toDevice(Random(2).vector(50));
  expectWorksOrTells("array", [&] { allocate<double, Device>(Exec(), "Ainvil::test", 5); });
  expectWorksOrTells("graph", [&] { validate(Exec(), a.graph); });
  expectWorksOrTells("operator", [&] { MatrixOperator<double, Device>{a}; });
  expectWorksOrTells("initialize", [&] { fresh->initialize(a); });
  expectWorksOrTells("compute", [&] { m->compute(a); });
  expectWorksOrTells("apply", [&] { m->apply(Exec(), b, x); });
  expectWorksOrTells("solve", [&] { gmres(product, m.get(), b, x); });
}

} // namespace
