#!/usr/bin/env bash
# Looks for data races between the threads of the kernels: builds Kokkos, the library and its tests
# with Clang's ThreadSanitizer and runs them on four threads. Archer, a part of Clang's OpenMP, tells
# the sanitizer how OpenMP orders the threads. Fails on any race that tests/tsan.supp does not
# explain. Installs what is missing first (scripts/setup.sh tsan).
#
#   scripts/tsan.sh                          all tests but two large studies and one that forks, and
#                                            20 random matrices a property
#   scripts/tsan.sh --gtest_filter=Sweeps*   options of GoogleTest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh tsan
cmake --preset tsan
cmake --build --preset tsan

# With one thread nothing would race.
export OMP_NUM_THREADS=4 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive
export AINVIL_PROPERTY_CASES=${AINVIL_PROPERTY_CASES:-20}
# What libraries without the sanitizer do, OpenMP and GoogleTest, is not ours. Tests ask for more
# memory than there is.
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp ignore_noninstrumented_modules=1
  allocator_may_return_null=1"
failed=0
for tests in ainvil-tests ainvil-property-tests; do
  "build/tsan/bin/$tests" --gtest_brief=1 --gtest_filter='-SweepsPaper*:*PaperCavity*:*ThatIsKilled' "$@" ||
    failed=1
done
((failed == 0)) && echo "tsan: no races"
exit "$failed"
