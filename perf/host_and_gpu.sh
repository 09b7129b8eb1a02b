#!/usr/bin/env bash
# The size below which a GPU does not pay: the same solves on the device and on the cores of its host, over
# sizes, in one run.
#
#   perf/host_and_gpu.sh BUILD FOLDER full|quick|smoke
#   perf/host_and_gpu_table.py FOLDER
#
# Writes FOLDER/on-device.jsonl and FOLDER/on-host.jsonl. The host has a thread a core unless OMP_NUM_THREADS,
# OMP_PLACES and OMP_PROC_BIND say otherwise.
set -euo pipefail
# shellcheck source=perf/study.sh
. "$(dirname "${BASH_SOURCE[0]}")/study.sh"
if (($# != 3)); then
  usage
  exit 2
fi
find_programs "$1"
out=$2
all_cores
case $3 in
  full) cavity=(20 40 80 160 300) laplace=(10 20 40 80) repeat=3 ;;
  quick) cavity=(20 40 80) laplace=(10 20 40) repeat=3 ;;
  *) cavity=(4 8) laplace=(3 5) repeat=2 ;;
esac

calls=()
for n in "${cavity[@]}"; do
  calls+=("cavity:$n --tol 1e-5 --repeat $repeat $(preconds ilu:solve=isai)")
done
for n in "${laplace[@]}"; do
  calls+=("laplace7:$n --solver cg --repeat $repeat $(preconds jacobi fsai)")
done
mkdir -p "$out"
start_commands "$out/host_and_gpu" "$@"
solves on-device "${calls[@]}"
solves on-host "${calls[@]/%/ --exec host}"
