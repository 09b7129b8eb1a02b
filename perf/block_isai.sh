#!/usr/bin/env bash
# The Block-ISAI comparison of docs/results.md: exact triangular solves against approximate inverses of
# pattern power 1, 2, 3, in double and float, and with relaxation steps, on five block systems.
#
#   perf/block_isai.sh EXECUTABLE OUTPUT.jsonl full|quick|smoke [option of ainvil-solve]...
#   perf/table.py OUTPUT.jsonl
#
# `quick` takes small versions of the problems, `smoke` toys.
set -euo pipefail
if (($# < 3)); then
  sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"
  exit 1
fi
solve=$1
output=$2
size=$3
shift 3
problems=("cavity:300 1e-5" "cavity:600 1e-5" "convdiff:148x148x58 1e-8 4" "shell:253x399 1e-8"
  "euler:15606 1e-8")
if [[ $size == quick ]]; then
  problems=("cavity:60 1e-5" "cavity:120 1e-5" "convdiff:36x36x16 1e-8 4" "shell:40x60 1e-8"
    "euler:2000 1e-8")
elif [[ $size == smoke ]]; then
  problems=("cavity:10 1e-5" "shell:6x8 1e-8")
fi

part=$(mktemp)
trap 'rm -f "$part"' EXIT
: >"$output"
for problem in "${problems[@]}"; do
  read -r spec tolerance block_size <<<"$problem"
  "$solve" --problem "$spec" --tol "$tolerance" ${block_size:+--block-size "$block_size"} \
    --solver gmres --restart 30 --repeat "${AINVIL_REPEAT:-3}" --json "$part" \
    --precond ilu:solve=exact --precond ilu:solve=isai,power=1 --precond ilu:solve=isai,power=2 \
    --precond ilu:solve=isai,power=3 --precond ilu:solve=isai,power=1,storage=float \
    --precond ilu:solve=isai,power=1,relax=1 "$@" || (($? == 3))
  cat "$part" >>"$output"
done
