#!/usr/bin/env bash
# Tells which lines of the library the tests run, by folder: builds the preset coverage, runs all
# tests that need no MPI, and fails where a folder is below 90 %. Takes about a quarter of an hour on
# two cores. What is not covered, line by line: build/coverage/lines.txt.
#
# Not counted are the adapters to Trilinos, PETSc and hypre, whose tests run on ranks, and what only CUDA compiles.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
smallest=90
cores=$(nproc)
mkdir -p build/coverage
log=$PWD/build/coverage.log
: >"$log"

# shellcheck source=scripts/debian.sh
. scripts/debian.sh

scripts/setup.sh test
command -v gcovr >/dev/null || install_packages "gcovr  coverage report"
cmake --preset coverage >>"$log" || die "could not configure (all of it in $log)"
cmake --build --preset coverage --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$cores}"

find build/coverage -name '*.gcda' -delete # of an earlier run
# A core a process and a thread a process; then, with several threads, what needs processes of its
# own.
processes=()
for ((shard = 0; shard < cores; ++shard)); do
  OMP_NUM_THREADS=1 GTEST_TOTAL_SHARDS=$cores GTEST_SHARD_INDEX=$shard \
    build/coverage/bin/ainvil-tests --gtest_brief=1 &
  processes+=($!)
done
for process in "${processes[@]}"; do
  wait "$process" || die "tests failed, see above"
done
ctest --preset coverage -R '^(ainv-threads-4|perf-units|solve-cli|solve-truth|solve-errors|solve-recommend|triangular-sweeps|inverse-factors|documents)$'

gcovr --root . --object-directory build/coverage -j "$cores" \
  --filter '(core|partition|precond|recommend|solvers)/' --exclude '((core|precond|solvers)/tpetra|precond/(petsc|hypre|ranks))/' \
  --txt build/coverage/lines.txt --json-summary build/coverage/summary.json
python3 - build/coverage/summary.json "$smallest" <<'PYTHON'
import json
import sys

folders = {}
for file in json.load(open(sys.argv[1], encoding="utf-8"))["files"]:
    covered, total = folders.setdefault(file["filename"].split("/")[0], [0, 0])
    folders[file["filename"].split("/")[0]] = [covered + file["line_covered"],
                                               total + file["line_total"]]
print(f"{'folder':<10} {'lines':>6} {'covered':>8} {'%':>6}")
for folder, (covered, total) in sorted(folders.items()):
    print(f"{folder:<10} {total:>6} {covered:>8} {100 * covered / total:>6.1f}")
low = [folder for folder, (covered, total) in folders.items()
       if covered < float(sys.argv[2]) / 100 * total]
if low or len(folders) != 5:
    sys.exit(f"coverage: below {sys.argv[2]} %: {', '.join(low) or 'folders are missing'}")
PYTHON
