// SPDX-License-Identifier: BSD-3-Clause
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

// Tests ask for more memory than there is; the sanitizer would end the program.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // ctest reads the list of tests from the output; what Kokkos prints at start must not be in it.
  if (GTEST_FLAG_GET(list_tests))
    return RUN_ALL_TESTS();
  Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
