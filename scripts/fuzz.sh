#!/usr/bin/env bash
# Builds the fuzz targets with Clang and its sanitizers and runs one after the other, starting from
# the inputs in tests/fuzz/corpus. Fails on any finding: a crash, a leak, undefined behaviour, more
# memory than an input accounts for, or what a target itself does not accept. Installs what is
# missing first (scripts/setup.sh fuzz).
#
#   scripts/fuzz.sh [seconds]   seconds a target; 15 by default, a minute in all
#
# New inputs that reach further gather in build/fuzz/corpus; the input of a finding is left in
# build/fuzz/findings and runs again by build/fuzz/bin/fuzz-TARGET FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-15}
[[ $seconds =~ ^[0-9]+$ ]] || {
  echo "fuzz: '$seconds' is not a number of seconds" >&2
  exit 1
}

scripts/setup.sh fuzz
cmake --preset fuzz
cmake --build --preset fuzz

# The largest array that a short text may ask for is a row map of 2^24 rows.
limits=(-max_len=4096 -timeout=30 -malloc_limit_mb=160 -rss_limit_mb=1024)
# Freed memory is not kept from use for long, so that it does not count much.
export ASAN_OPTIONS=quarantine_size_mb=16
findings=build/fuzz/findings
mkdir -p "$findings"
failed=0
for seeds in tests/fuzz/corpus/*; do
  target=$(basename "$seeds")
  log=build/fuzz/$target.log
  mkdir -p "build/fuzz/corpus/$target"
  options=("${limits[@]}" -max_total_time="$seconds" -artifact_prefix="$findings/$target-")
  words=tests/fuzz/${target%_file}.dict
  [[ -e $words ]] && options+=(-dict="$words")
  if "build/fuzz/bin/fuzz-$target" "${options[@]}" "build/fuzz/corpus/$target" "$seeds" \
    >"$log" 2>&1 </dev/null; then
    awk -v target="$target" '$2 == "DONE" {
      printf "fuzz: %-19s %8d executions, %6d edges, %5d features\n", target, substr($1, 2), $4, $6
    }' "$log"
  else
    failed=1
    echo "fuzz: $target has a finding; the end of $log says:" >&2
    tail -n 60 "$log" >&2
  fi
done
((failed == 0)) && echo "fuzz: no findings"
exit "$failed"
