// SPDX-License-Identifier: BSD-3-Clause
/// GoogleTest under MPI: every rank runs all tests; the first reports, the others report failures.
#include <Tpetra_Core.hpp>
#include <gtest/gtest.h>

#include <iostream>

namespace {

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

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Tpetra::ScopeGuard tpetra(&argc, &argv);
  const int rank = Tpetra::getDefaultComm()->getRank();
  if (rank > 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfRank(rank));
  }
  return RUN_ALL_TESTS();
}
