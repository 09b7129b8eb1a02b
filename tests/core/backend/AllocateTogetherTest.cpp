// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "backend/Ainvil_AllocateTogether.hpp"

#include <cstdint>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// Filled each with its own number, in an order that shows where one reaches into another.
template <class T>
void expectApart() {
  const AllocationCounter counter;
  const auto parts = allocateTogether<T, Device>(Exec(), "Ainvil::test", 33, 0, 1, 300, 32);
  EXPECT_EQ(counter.count(), 1) << counter.labels();
  const size_t sizes[] = {33, 0, 1, 300, 32};
  for (size_t k = parts.size(); k-- > 0;) {
    EXPECT_EQ(parts[k].extent(0), sizes[k]);
    if (sizes[k] > 0) {
      EXPECT_EQ((parts[k].data() - parts[0].data()) * sizeof(T) % 256, 0u);
    }
    Kokkos::deep_copy(parts[k], T(k + 1));
  }
  for (size_t k = 0; k < parts.size(); ++k)
    EXPECT_EQ(toHost(parts[k]), std::vector<T>(sizes[k], T(k + 1)));
}

TEST(AllocateTogether, GivesArraysOfOneAllocationThatLieApart) {
  expectApart<double>();
  expectApart<float>();
  expectApart<Ordinal>();
}

TEST(AllocateTogether, LastsAsLongAsOneOfThem) {
  Kokkos::View<double*, Device> last;
  {
    const auto parts = allocateTogether<double, Device>(Exec(), "Ainvil::test", 1000, 5);
    Kokkos::deep_copy(parts[1], 7.0);
    last = parts[1];
    EXPECT_EQ(last.use_count(), 3); // and that of each part
  }
  EXPECT_EQ(last.use_count(), 1);
  EXPECT_EQ(toHost(last), std::vector<double>(5, 7.0));
}

/// Also where the sum alone has no number of bytes, or a size is negative.
TEST(AllocateTogether, RefusesWhatNoMemoryHolds) {
  const Offset half = Offset(1) << 59;
  EXPECT_THROW((allocateTogether<double, Device>(Exec(), "Ainvil::test", half, half)), OutOfMemory);
  EXPECT_THROW((allocateTogether<double, Device>(Exec(), "Ainvil::test", 1, Offset(-1))),
               OutOfMemory);
}

TEST(AllocateTogether, ReadsTheFirstNumbersBackAtOnce) {
  const auto numbers = toDevice(std::vector<Offset>{3, -1, Offset(1) << 40, 7});
  EXPECT_EQ((detail::readBackFirst<3, Offset, Device>(Exec(), numbers)),
            (std::array<Offset, 3>{3, -1, Offset(1) << 40}));
}

} // namespace
