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
  # -U: a Kokkos that an earlier run found must not outlive a change of Kokkos_ROOT.
  cmake --preset "$preset" -U 'Kokkos*_DIR'
  cmake --build --preset "$preset"
  ctest --preset "$preset" --parallel "$(nproc)"
done
