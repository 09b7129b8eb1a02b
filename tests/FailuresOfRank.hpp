// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// GoogleTest under MPI: every rank runs all tests; the first reports, the others report failures.
#include <gtest/gtest.h>

#include <iostream>

namespace ainvil {
namespace test {

class FailuresOfRank : public testing::EmptyTestEventListener {
public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::cout << "rank " << rank_ << ": " << result.file_name() << ":" << result.line_number()
                << ": " << result.summary() << std::endl;
  }

private:
  int rank_;
};

/// Before RUN_ALL_TESTS(), on each rank.
inline void reportFailuresOnly(int rank) {
  if (rank == 0)
    return;
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOfRank(rank));
}

} // namespace test
} // namespace ainvil
