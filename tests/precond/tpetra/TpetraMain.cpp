// SPDX-License-Identifier: BSD-3-Clause
#include "FailuresOfRank.hpp"

#include <Tpetra_Core.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Tpetra::ScopeGuard tpetra(&argc, &argv);
  ainvil::test::reportFailuresOnly(Tpetra::getDefaultComm()->getRank());
  return RUN_ALL_TESTS();
}
