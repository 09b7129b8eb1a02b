// SPDX-License-Identifier: BSD-3-Clause
/// Own rows and those of others by their global numbers.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_TpetraGlobalOrder.hpp"

#include <limits>

namespace ainvil {
namespace {

using namespace test;

using GlobalNumber = tpetra::Map::global_ordinal_type;
using Order =
    tpetra::GlobalOrder<tpetra::Map::local_ordinal_type, GlobalNumber, tpetra::Map::node_type>;
using Globals = std::vector<GlobalNumber>;
using Numbers = Kokkos::View<const GlobalNumber*, Device>;
using InArray = tpetra::detail::GlobalInArray<Numbers>;

/// In memory of the device.
Numbers arrayOf(const Globals& numbers) {
  return tpetra::onDevice<Device>(Teuchos::ArrayView<const GlobalNumber>(numbers), "numbers");
}

std::vector<Ordinal> placed(const Order& order, const Globals& numbers) {
  const auto place = order.placed(Exec(), numbers.size(), InArray{arrayOf(numbers)});
  return toHost(place);
}

Globals missing(const Order& order, const Globals& numbers, GlobalNumber bound) {
  return order.missing(Exec(), numbers.size(), InArray{arrayOf(numbers)}, bound);
}

/// These of the ten numbers that a rank has for itself.
Globals ofThisRank(Globals numbers) {
  for (GlobalNumber& number : numbers)
    number += 10 * world()->getRank();
  return numbers;
}

RCP<const tpetra::Map> mapOf(const Globals& numbers) {
  const tpetra::Map like(0, 0, world());
  return tpetra::makeMap(numbers, like);
}

TEST(GlobalOrder, MergesOwnRowsAndOthers) {
  const auto base = GlobalNumber(10) * world()->getRank();
  for (const bool ascend : {true, false}) {
    SCOPED_TRACE(ascend);
    const auto map = mapOf(ofThisRank(ascend ? Globals{2, 4, 7} : Globals{7, 2, 4}));
    Order order(Exec(), *map);
    order.add(ofThisRank({3}));
    EXPECT_EQ(order.count(), 4);
    order.add(ofThisRank({9, 0}));
    EXPECT_EQ(order.count(), 6);
    EXPECT_EQ(order.ownAscend(), ascend);
    // 0, 2, 3, 4, 7, 9
    EXPECT_EQ(toHost(order.stacked(Exec())), ascend ? (std::vector<Ordinal>{5, 0, 3, 1, 2, 4})
                                                    : (std::vector<Ordinal>{5, 1, 3, 2, 0, 4}));
    EXPECT_EQ(placed(order, ofThisRank({9, 4, 5, 7, 0})),
              ascend ? (std::vector<Ordinal>{4, 1, -1, 2, 5})
                     : (std::vector<Ordinal>{4, 2, -1, 0, 5}));
    EXPECT_EQ(missing(order, ofThisRank({8, 5, 4, 6, 5, 9}), base + 8), ofThisRank({5, 6}));
    EXPECT_EQ(missing(order, ofThisRank({8, 5, 4}), std::numeric_limits<GlobalNumber>::max()),
              ofThisRank({5, 8}));
    EXPECT_EQ(order.globalOfOther(4), base + 9);
  }
}

TEST(GlobalOrder, HasRowsOfOneKindAlone) {
  const Order own(Exec(), *mapOf(ofThisRank({4, 2})));
  EXPECT_EQ(toHost(own.stacked(Exec())), (std::vector<Ordinal>{1, 0}));
  EXPECT_EQ(placed(own, ofThisRank({2, 3})), (std::vector<Ordinal>{1, -1}));
  Order others(Exec(), *mapOf({}));
  others.add({8, 6});
  EXPECT_TRUE(others.ownAscend());
  EXPECT_EQ(toHost(others.stacked(Exec())), (std::vector<Ordinal>{1, 0}));
  EXPECT_EQ(missing(others, {6, 7}, 9), Globals{7});
  const Order none(Exec(), *mapOf({}));
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.stacked(Exec()).extent(0), 0u);
  EXPECT_EQ(missing(none, {}, 9), Globals());
  EXPECT_EQ(missing(none, {3}, 3), Globals());
}

} // namespace
} // namespace ainvil
