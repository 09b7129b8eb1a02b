#!/usr/bin/env bash
# Builds and runs all tests: with OpenMP, then with Debian's Trilinos and MPI. Installs what is
# missing first (scripts/setup.sh test).
#
#   scripts/test.sh [preset]...   presets of CMakePresets.json; openmp and tpetra by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($#)) || set -- openmp tpetra

scripts/setup.sh test
for preset in "$@"; do
  echo "== $preset"
  # Several sources at a time take a third less to compile; asan compiles each alone, and a build that
  # is there stays as it is.
  together=()
  [[ $preset == asan || -e build/$preset/CMakeCache.txt ]] ||
    together=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=6)
  # -U: a Kokkos that an earlier run found must not outlive a change of Kokkos_ROOT.
  cmake --preset "$preset" -U 'Kokkos*_DIR' "${together[@]}"
  cmake --build --preset "$preset"
  ctest --preset "$preset" --parallel "$(nproc)"
done
