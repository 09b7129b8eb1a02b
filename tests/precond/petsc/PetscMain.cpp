// SPDX-License-Identifier: BSD-3-Clause
#include "FailuresOfRank.hpp"
#include "precond/petsc/PetscSupport.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0)
    return 1;
  ainvil::test::check(ainvil::petsc::registerPC());
  ainvil::test::check(ainvil::petsc::registerPC()); // does no harm
  ainvil::test::reportFailuresOnly(ainvil::test::rankOfWorld());
  const int failed = RUN_ALL_TESTS();
  ainvil::reference::stop();
  return PetscFinalize() != 0 || failed;
}
