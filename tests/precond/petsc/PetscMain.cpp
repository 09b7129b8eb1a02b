// SPDX-License-Identifier: BSD-3-Clause
/// GoogleTest under MPI: every rank runs all tests; the first reports, the others report failures.
#include "precond/petsc/PetscSupport.hpp"

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
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0)
    return 1;
  ainvil::test::check(ainvil::petsc::registerPC());
  ainvil::test::check(ainvil::petsc::registerPC()); // does no harm
  const int rank = ainvil::test::rankOfWorld();
  if (rank > 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfRank(rank));
  }
  const int failed = RUN_ALL_TESTS();
  ainvil::reference::stop();
  return PetscFinalize() != 0 || failed;
}
