// SPDX-License-Identifier: BSD-3-Clause
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // ctest reads the list of tests from the output; what Kokkos prints at start must not be in it.
  if (GTEST_FLAG_GET(list_tests))
    return RUN_ALL_TESTS();
  Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
