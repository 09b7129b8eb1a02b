// SPDX-License-Identifier: BSD-3-Clause
/// What a library says that was built without METIS: linked with Ainvil_Metis_none.cpp, which takes
/// the place of the library's own.
#include "Refusal.hpp"

#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ainvil {
namespace {

Graph<HostDevice> grid() {
  return makeProblem("poisson5:6").matrix.graph;
}

TEST(WithoutMetis, SaysWhatToDo) {
  EXPECT_EQ(test::refusal([] { nestedDissection(grid()); }),
            "this Ainvil was built without METIS, which finds orders by nested dissection: take "
            "another ordering, such as rcm, or build it with METIS (-DAINVIL_ENABLE_METIS=ON)");
  EXPECT_EQ(
      test::refusal([] { partition(grid(), 2); }),
      "this Ainvil was built without METIS, which divides graphs into parts: ask for a single "
      "part, or build it with METIS (-DAINVIL_ENABLE_METIS=ON)");
}

TEST(WithoutMetis, HasOtherOrdersAndASinglePart) {
  EXPECT_EQ(ordering(Ordering::Rcm, grid()).numRows(), 36);
  EXPECT_EQ(partition(grid(), 1).num_parts, 1);
}

} // namespace
} // namespace ainvil
