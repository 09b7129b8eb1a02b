// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What happens where a container of the standard library gets no memory: the same error as for
/// arrays of Kokkos.

#include "FailingNew.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "io/Ainvil_MatrixMarket.hpp"
#include "io/Ainvil_VectorFiles.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace {

using namespace ainvil;
using test::failing_allocation;
namespace fs = std::filesystem;

TEST(HostMemory, ItsEndIsAnErrorOfTheLibrary) {
  const Problem problem = makeProblem("poisson5:30");
  const auto& a = problem.matrix;
  const auto device_a = copyTo<DefaultDevice>(a);
  const fs::path folder =
      fs::path(testing::TempDir()) / ("ainvil_memory_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string matrix = (folder / "a.mtx").string(), vector = (folder / "b.txt").string(),
                    written = (folder / "written.mtx").string();
  writeMatrixMarket(matrix, a);
  std::ofstream text(vector);
  for (int k = 0; k < 1000; ++k)
    text << k << "\n";
  text.close();
  const size_t n = size_t(a.numPointRows());
  const MatrixOperator<double, DefaultDevice> op(device_a);
  const Vector<double, DefaultDevice> b("Test::b", n), x("Test::x", n);
  Kokkos::deep_copy(b, 1.0);
  SolverOptions options;
  options.tolerance = 0;
  options.max_iterations = 1000;
  const DefaultDevice::execution_space exec;
  const struct {
    const char* what;
    int at_least; ///< large allocations
    std::function<void()> run;
  } cases[] = {
      {"readMatrixMarket", 3, [&] { readMatrixMarket(matrix); }},
      {"readVector", 3, [&] { readVector(vector); }},
      {"writeMatrixMarket", 3, [&] { writeMatrixMarket(written, a); }},
      {"reverseCuthillMcKee", 1, [&] { reverseCuthillMcKee(a.graph); }},
      {"nestedDissection", 3, [&] { nestedDissection(a.graph); }},
      {"partition", 2, [&] { partition(a.graph, 800); }},
      // How often lists grow depends on which thread takes which rows.
      {"fillPattern", 1, [&] { fillPattern(HostDevice::execution_space(), a.graph, 20); }},
      {"makeProblem", 1, [&] { makeProblem("euler:300"); }},
      {"cg", 1, [&] { Cg<double, DefaultDevice>(options).solve(exec, op, nullptr, b, x); }},
      {"gmres", 1, [&] { Gmres<double, DefaultDevice>(options).solve(exec, op, nullptr, b, x); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    int failures = 0;
    for (bool failed = true; failed; failures += failed) {
      Kokkos::deep_copy(x, 0.0);
      ASSERT_LT(failures, 10000);
      failing_allocation = failures + 1;
      try {
        c.run();
        failed = false;
        EXPECT_GT(failing_allocation, 0) << "an error got lost";
      } catch (const OutOfMemory& error) {
        EXPECT_EQ(std::string(error.what()).rfind("out of memory: ", 0), 0u) << error.what();
      }
      failing_allocation = 0;
    }
    EXPECT_GE(failures, c.at_least);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 3) << "a file was left";
  fs::remove_all(folder);
}

} // namespace
