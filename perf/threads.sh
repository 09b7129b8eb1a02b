#!/usr/bin/env bash
# What more threads of a host gain: every phase of every method with 1, 2, 4, ... threads, up to the cores
# of the machine, in one run.
#
#   perf/threads.sh BUILD FOLDER full|quick|smoke
#
# Writes FOLDER/threads.jsonl; perf/report.py makes the page of it. Threads are bound to cores side by side.
set -euo pipefail
# shellcheck source=perf/study.sh
. "$(dirname "${BASH_SOURCE[0]}")/study.sh"
if (($# != 3)); then
  usage
  exit 2
fi
find_programs "$1"
out=$2
spd="--solver cg $(preconds jacobi ic ic:solve=isai fsai:power=1 fsai:power=2 ainv)"
general=$(preconds jacobi ilu ilu:level=1 ilu:solve=isai ilu:solve=isai,power=2 ilu:solve=jacobi,sweeps=3 spai)
skewed=$(preconds ilu ilu:solve=jacobi,sweeps=8)
case $3 in
  full)
    systems=("cavity:300 --tol 1e-5 $general" "convdiff:148x148x58 --block-size 4 $general" "laplace27:64 $spd"
      "jump:64 $spd" "circuit:116835 $skewed")
    repeat=3
    ;;
  quick)
    systems=("cavity:100 --tol 1e-5 $general" "laplace27:32 $spd")
    repeat=3
    ;;
  smoke)
    systems=("cavity:10 --tol 1e-5 $general" "laplace7:6 $spd")
    repeat=1
    ;;
  *)
    usage
    exit 2
    ;;
esac
mkdir -p "$out"
start_commands "$out/threads" "$@"
cores=$(env -u OMP_NUM_THREADS nproc) # nproc itself asks OMP_NUM_THREADS
export OMP_PROC_BIND=${OMP_PROC_BIND:-close} OMP_PLACES=${OMP_PLACES:-cores}

with_threads() {
  local threads=1 system words code
  : >"$out/threads.jsonl"
  while ((threads <= cores)); do
    export OMP_NUM_THREADS=$threads
    for system in "${systems[@]}"; do
      read -ra words <<<"$system --exec host --max-iters 30 --repeat $repeat"
      ((threads > 1)) || list_command threads ainvil-solve --problem "${words[@]}"
      code=0
      "$bin/ainvil-solve" --problem "${words[@]}" --json "$out/.part.jsonl" || code=$?
      ((code == 0 || code == 3)) || return $code
      cat "$out/.part.jsonl" >>"$out/threads.jsonl"
    done
    threads=$((2 * threads))
  done
  rm -f "$out/.part.jsonl"
}

study threads with_threads
tell_report "$3"
finish
