#!/usr/bin/env bash
# Measures what docs/results holds against Ainvil's targets on a GPU, all in one run on one machine, and
# prints which are met.
#
#   perf/targets.sh BUILD FOLDER full|quick|smoke
#   perf/targets_table.py FOLDER
#   perf/report.py FOLDER -o docs/results
#
# The last two print the table again and write the pages of docs/results. BUILD is that of the preset cuda. `full`
# takes four minutes on an H200 with 16 host cores; `quick` takes small problems, `smoke` toys, which run without
# a GPU too: what needs cuSPARSE is then not measured. The host has a thread a core unless OMP_NUM_THREADS,
# OMP_PLACES and OMP_PROC_BIND say otherwise.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=perf/study.sh
. "$here/study.sh"
if (($# != 3)) || [[ ! $3 =~ ^(full|quick|smoke)$ ]]; then
  usage
  exit 2
fi
find_programs "$1"
out=$2
size=$3
mkdir -p "$out"
start_commands "$out/targets" "$@"
all_cores
block_systems "$size"

sainv="--scale norm --residual scaled --rhs scaled-rowsum --solver cg --tol 1e-5"
ainv=ainv:drop-rule=absolute # as in the thesis
fsai=fsai:tau=0.01,power=3,filter=0.05
if [[ $size == smoke ]]; then
  repeat=1
  blocks=("--problem convdiff:4 --block-size 4 --repeat 1") # one: a copy is measured beside each
  points=(--problem poisson5:8)
  cholesky=(--count 10 --sizes 16,32 --repeat 1)
  spd=(laplace7:5 network:8)
  conjugated=(poisson5:8)
  conjugated_natural=()
  swept=("cavity:10 --tol 1e-5" "poisson5:8 --solver cg")
  skewed=circuit:60
  growth=("cavity:6 isai" "cavity:12 isai" "laplace7:4 fsai" "laplace7:6 fsai")
elif [[ $size == quick ]]; then
  repeat=2
  blocks=("--problem cavity:120 --problem shell:40x60" "--problem convdiff:36x36x16 --block-size 4")
  points=(--problem laplace27:16 --problem poisson5:100x100)
  cholesky=(--count 500 --sizes 16,32,64,128 --repeat 3)
  spd=(laplace7:24 network:100)
  conjugated=(laplace7:16 poisson5:80)
  conjugated_natural=(laplace7:24)
  swept=("cavity:60 --tol 1e-5" "laplace27:16 --solver cg" "poisson5:100x100 --solver cg")
  skewed=circuit:2000
  growth=("cavity:40 isai" "cavity:80 isai" "laplace7:20 fsai" "laplace7:32 fsai")
else
  repeat=3
  blocks=("--problem cavity:300 --problem cavity:600 --problem shell:253x399 --problem euler:15606"
    "--problem convdiff:148x148x58 --block-size 4")
  points=(--problem laplace27:64 --problem poisson5:1000x1000)
  cholesky=(--sizes 16,32,64,96,128,160,192,224,256)
  spd=(laplace7:107 network:1259 jump:100)
  conjugated=(laplace7:46 poisson5:316 network:400)
  conjugated_natural=(laplace7:117)
  swept=("cavity:300 --tol 1e-5" "convdiff:148x148x58 --block-size 4" "laplace27:64 --solver cg"
    "poisson5:1000x1000 --solver cg")
  skewed=circuit:116835
  growth=("cavity:300 isai" "cavity:600 isai" "cavity:1200 isai" "convdiff:148x148x58 isai4"
    "convdiff:236x236x92 isai4" "laplace7:107 fsai" "laplace7:170 fsai" "laplace7:270 fsai")
fi

# study_rows NAME WHAT "OPTION..."...: ainvil-triangular-sweeps WHAT for each list of options.
study_rows() {
  local name=$1 what=$2 options part=$out/.part.jsonl
  shift 2
  : >"$out/$name.jsonl"
  for options in "$@"; do
    # shellcheck disable=SC2086 # words of the options
    list_command "$name" ainvil-triangular-sweeps "$what" $options
    # shellcheck disable=SC2086
    "$bin/ainvil-triangular-sweeps" "$what" $options --json "$part" || return
    cat "$part" >>"$out/$name.jsonl"
  done
  rm -f "$part"
}

# cuSPARSE has two ways to go through the levels; each system is solved with the one whose solves are faster.
cusparse_solves() {
  local name=$1 system policy
  shift
  solves "$name-policies" "${@/%/ --max-iters 0 $(preconds cusparse-ilu{,:policy=no-level})}" || return
  local calls=()
  for system in "$@"; do
    policy=$("$here/targets_table.py" --faster-policy "${system%% *}" "$out/$name-policies.jsonl") || return
    calls+=("$system --basis float $(preconds "$policy")")
  done
  solves "$name" "${calls[@]}"
}

echo "$size targets of $bin in $out"
ours=$(preconds ilu:solve=isai,power={1,2,3} ilu:solve=isai,power={1,2},storage=float \
  ilu:solve=isai,relax=1{,",storage=float"})
study isai solves isai "${block_systems[@]/%/ --repeat $repeat $ours}"
# The same GMRES for all from here on: its basis is in float.
short=$(preconds ilu:solve=isai,{power={1,2,3},relax=1},storage=bfloat16)
study isai-float-basis solves isai-float-basis "${block_systems[@]/%/ --repeat $repeat --basis float $ours $short}"
study products study_rows products product "${blocks[@]}"
study patterns study_rows patterns pattern "${blocks[@]}" "${points[*]}"
OMP_NUM_THREADS=1 study patterns-host study_rows patterns-host pattern "${blocks[@]/%/ --exec host}" \
  "${points[*]} --exec host"
factored=("${blocks[@]}" "${points[*]}")
study factors study_rows factors factor "${factored[@]/%/ --factor-sweeps 0}"
study cholesky "$bin/ainvil-batched-cholesky" --no-mixed "${cholesky[@]}" --json "$out/cholesky.jsonl"

# The first preconditioner runs twice, to warm up. The host only sets up.
setups=("${spd[@]/%/ --solver cg $(preconds $fsai $fsai)}"
  "${conjugated[@]/%/ $sainv $(preconds $ainv $ainv $ainv,order=nd{,",drop=0.01"})}"
  "${conjugated_natural[@]/%/ $sainv $(preconds $ainv $ainv)}")
study setups solves setups "${setups[@]}"
study setups-host solves setups-host "${setups[@]/%/ --max-iters 0 --exec host}"

few=$(preconds ilu:solve=jacobi,sweeps={1,2,3,4,5,6})
study sweeps solves sweeps "${swept[@]/%/ --repeat $repeat --basis float $few}" \
  "$skewed --repeat 2 --basis float $(preconds ilu:solve=jacobi,sweeps={6,8,10,12,16})"
# Its level sets are as many as rows: exact solves for their iterations, on one core.
OMP_NUM_THREADS=1 study exact-host solves exact-host "$skewed --exec host $(preconds ilu:solve=exact)"

calls=()
for step in "${growth[@]}"; do
  read -r problem kind <<<"$step"
  case $kind in
    isai) calls+=("$problem --tol 1e-5 $(preconds ilu:solve=isai)") ;;
    isai4) calls+=("$problem --block-size 4 $(preconds ilu:solve=isai)") ;;
    fsai) calls+=("$problem --solver cg $(preconds jacobi $fsai)") ;;
  esac
done
study growth solves growth "${calls[@]/%/ --max-iters 120 --repeat 2}"
study host-and-gpu "$here/host_and_gpu.sh" "$1" "$out" "$size"

if "$bin/ainvil-solve" --problem cavity:4 --precond cusparse-ilu --quiet >"$out/cusparse.txt" 2>&1; then
  # One solve where that takes ten seconds.
  once=() twice=()
  for system in "${block_systems[@]}" "${swept[@]}"; do
    [[ " ${once[*]-} ${twice[*]-} " == *" ${system%% *} "* ]] && continue
    case $system in
      cavity:600* | poisson5:1000*) once+=("$system --repeat 1") ;;
      *) twice+=("$system --repeat 2") ;;
    esac
  done
  study cusparse cusparse_solves cusparse "${once[@]}" "${twice[@]}"
  study triangles "$bin/ainvil-triangular-sweeps" cost "${points[@]}" --problem "$skewed" --repeat 1 \
    --json "$out/triangles.jsonl"
else
  echo "cusparse: skipped, $(cat "$out/cusparse.txt")"
fi
validate
echo "all: $SECONDS s"
"$here/targets_table.py" "$out" | tee "$out/targets.md"
tell_report "$size"
finish
