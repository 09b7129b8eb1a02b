// SPDX-License-Identifier: BSD-3-Clause
#include "precond/tpetra/TpetraSupport.hpp"

#include <climits>

namespace ainvil {
namespace {

using namespace test;

TEST(Distribute, RefusesMessagesThatMpiCannotCount) {
  const auto comm = world();
  const bool is_last = comm->getRank() == comm->getSize() - 1;
  tpetra::requireOneMessage(INT_MAX, *comm);
  const size_t bytes = size_t(INT_MAX) + (is_last ? 1 : 0);
  if (comm->getSize() == 1)
    tpetra::requireOneMessage(bytes, *comm); // what rank 0 keeps is no message
  else
    EXPECT_THROW(tpetra::requireOneMessage(bytes, *comm), InvalidArgument);
}

TEST(Distribute, RefusesOwnersThatAreNoRanks) {
  EXPECT_NO_THROW(tpetra::makeRowMap(world(), {0, ranks() - 1}));
  for (const int owner : {-1, ranks(), ranks() + 1})
    try {
      tpetra::makeRowMap(world(), {0, owner});
      ADD_FAILURE() << "rank " << owner << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what())
                    .find(message("row 2 (counted from 1) goes to rank ", owner, ", but there are ",
                                  ranks(), " ranks")),
                std::string::npos)
          << error.what();
    }
}

TEST(Distribute, RefusesOtherSizesThanThoseOfTheMap) {
  const HostBsr a = matrixOn(diagonalPattern(6), 2, 3);
  for (const int n : {5, 7}) {
    const auto map = rowMap(n, Spread::Parts);
    EXPECT_THROW(tpetra::distribute(a, map), InvalidArgument) << n;
    EXPECT_THROW(tpetra::distributeBlocks(a, map), InvalidArgument) << n;
    const Kokkos::View<const double*, HostDevice> x(Kokkos::View<double*, HostDevice>("x", 6));
    EXPECT_THROW(tpetra::distribute(x, map), InvalidArgument) << n;
  }
}

} // namespace
} // namespace ainvil
