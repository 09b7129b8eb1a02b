// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

constexpr int items = 200; // more than three times what a warp or wavefront takes at once

/// out(row, k) = n - 1 - k for k in [begin, n), through scratch memory that other lanes wrote.
struct Reversed {
  Kokkos::View<int**, Kokkos::LayoutRight, Device> out;
  int begin;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    int* written = static_cast<int*>(scratch);
    detail::forLanes(member, items, [&](const int k) { written[k] = k; });
    detail::forLanes(member, begin, items,
                     [&](const int k) { out(row, k) = written[items - 1 - k]; });
    // What one lane does is seen by all after a join, too.
    Kokkos::single(Kokkos::PerThread(member), [&]() { written[0] = row; });
    detail::joinLanes(member);
    detail::forLanes(member, begin, [&](const int k) { out(row, k) = written[0]; });
  }
};

TEST(Lanes, SeeWhatTheOthersWroteBeforeALoopEnded) {
  const Ordinal n = 300;
  const int begin = 70;
  Kokkos::View<int**, Kokkos::LayoutRight, Device> out("out", n, items);
  detail::forEachRow(Exec(), "reversed", n, detail::RowTeams::forWork<Exec>(items),
                     Reversed{out, begin}, items * sizeof(int));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  for (Ordinal row = 0; row < n; ++row)
    for (int k = 0; k < items; ++k)
      ASSERT_EQ(host(row, k), k < begin ? row : items - 1 - k) << row << " " << k;
}

TEST(Lanes, UnrolledLoopsCallInOrder) {
  std::vector<int> calls;
  unrolled<4>([&](int i) { calls.push_back(i); });
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 2, 3}));
  calls.clear();
  unrolledWhile<8>([&](int i) {
    calls.push_back(i);
    return i < 2;
  });
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 2}));
  calls.clear();
  unrolledBy<4, int>(3, 20, 5, [&](int i) { calls.push_back(i); });
  EXPECT_EQ(calls, (std::vector<int>{3, 8, 13, 18}));
  unrolledBy<4, int>(3, 3, 5, [&](int) { FAIL() << "an empty range has no call"; });
}

struct CountVisits {
  Kokkos::View<int*, Device> visits;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    Kokkos::single(Kokkos::PerThread(member), [&]() { Kokkos::atomic_add(&visits(row), 1); });
  }
};

TEST(Tickets, HandOutEveryRowOnceALaunch) {
  Kokkos::View<int*, Device> visits("visits", 1000);
  detail::Tickets<Device> tickets(allocateZeros<unsigned, Device>(Exec(), "next", 1));
  const auto shape = detail::RowTeams::forWork<Exec>(items);
  // Launches of different numbers of teams share the counter.
  for (const Ordinal rows : {1000, 37, 1000})
    detail::forEachRow(Exec(), "visits", rows, shape, CountVisits{visits}, 0, nullptr, tickets);
  const auto counted = toHost(visits);
  for (size_t row = 0; row < counted.size(); ++row)
    ASSERT_EQ(counted[row], row < 37 ? 3 : 2) << row;
}

/// Adds one for every row whose share of scratch memory keeps what the row wrote to both its ends.
struct CountKept {
  std::size_t bytes; ///< of a share
  Kokkos::View<int*, Device> kept;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    int* const front = static_cast<int*>(scratch);
    int* const back = front + bytes / sizeof(int) - items;
    detail::forLanes(member, items, [&](const int k) { front[k] = back[k] = row + k; });
    int right = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, items),
        [&](const int k, int& sum) {
          const int other = items - 1 - k; // of another lane
          sum += front[other] == row + other && back[other] == row + other;
        },
        right);
    Kokkos::single(Kokkos::PerThread(member),
                   [&]() { Kokkos::atomic_add(&kept(row), right == items ? 1 : 0); });
    detail::joinLanes(member); // before the share is another row's
  }
};

/// More than the fast memory of any device.
TEST(ForEachRow, GivesEveryRowItsShareOfMuchScratchMemory) {
  constexpr Ordinal n = 5000; // on GPUs more than share a launch, of which 1 GiB has room for 3276
  Kokkos::View<int*, Device> counts("counts", n);
  const auto shape = detail::RowTeams::forWork<Exec>(items);
  detail::SlowScratch<Exec> kept;
  detail::Tickets<Device> tickets(allocateZeros<unsigned, Device>(Exec(), "next", 1));
  for (const Ordinal rows : {37, n, 200}) { // the array grows, and is used again
    const CountKept body{320 * 1024, counts};
    detail::forEachRow(Exec(), "counts", rows, shape, body, body.bytes, &kept);
    detail::forEachRow(Exec(), "counts", rows, shape, body, body.bytes, nullptr, tickets);
  }
  EXPECT_EQ(kept.data() != nullptr, compat::IsGpu<Exec>::value);
  const auto counted = toHost(counts);
  for (Ordinal row = 0; row < n; ++row)
    ASSERT_EQ(counted[row], row < 37 ? 6 : row < 200 ? 4 : 2) << row;
}

/// As many bytes for each warp that runs at a time would be more than any device has.
TEST(ForEachRow, GivesOneLongRowNoMoreThanItNeeds) {
  Kokkos::View<int*, Device> counts("counts", 1);
  const CountKept body{24'000'000, counts};
  const MemoryPeak peak;
  detail::forEachRow(Exec(), "counts", 1, detail::RowTeams::forWork<Exec>(items), body, body.bytes);
  Exec().fence();
  if (compat::IsGpu<Exec>::value) {
    EXPECT_LE(peak.bytes(), body.bytes + 16);
  }
  EXPECT_EQ(toHost(counts)[0], 1);
}

} // namespace
