#!/usr/bin/env bash
# The Block-ISAI comparison of docs/results: exact triangular solves against approximate inverses of
# pattern power 1, 2, 3, in double and float, and with relaxation steps, on five block systems.
#
#   perf/block_isai.sh EXECUTABLE OUTPUT.jsonl full|quick|smoke [option of ainvil-solve]...
#   perf/table.py OUTPUT.jsonl
#
# `quick` takes small versions of the problems, `smoke` toys.
set -euo pipefail
# shellcheck source=perf/study.sh
. "$(dirname "${BASH_SOURCE[0]}")/study.sh"
if (($# < 3)); then
  usage
  exit 1
fi
solve=$1
output=$2
size=$3
start_commands "${output%.jsonl}" "$@"
shift 3
block_systems "$size"

part=$(mktemp)
trap 'rm -f "$part"' EXIT
: >"$output"
for system in "${block_systems[@]}"; do
  # shellcheck disable=SC2206 # words of the options
  call=(--problem $system --solver gmres --restart 30 --repeat "${AINVIL_REPEAT:-3}"
    --precond ilu:solve=exact --precond ilu:solve=isai,power=1 --precond ilu:solve=isai,power=2
    --precond ilu:solve=isai,power=3 --precond ilu:solve=isai,power=1,storage=float
    --precond ilu:solve=isai,power=1,relax=1 "$@")
  list_command "$(basename "$output" .jsonl)" ainvil-solve "${call[@]}"
  "$solve" "${call[@]}" --json "$part" || (($? == 3))
  cat "$part" >>"$output"
done
