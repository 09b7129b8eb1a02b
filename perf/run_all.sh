#!/usr/bin/env bash
# Runs the studies with what has been built and writes what they measure as JSON lines, one file a study.
#
#   perf/run_all.sh [--quick|--full] [--out FOLDER] [BUILD]
#
# --quick, the default, takes small problems: minutes on two idle cores. --full takes those of
# docs/results: hours on a CPU. FOLDER is results-quick or results-full; BUILD is build/openmp. Those of the
# papers are perf/papers.py's, whose tables are in FOLDER/papers.txt.
# perf/report.py FOLDER -o docs/results writes the pages of results from it.
# The lines are checked against perf/records.schema.json where python3-jsonschema is installed, and drawn
# into FOLDER where python3-matplotlib is (perf/plot.py). Other libraries are compared with where
# ainvil-peers was built (scripts/setup.sh peers). --smoke runs everything on toys, for the tests.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=perf/study.sh
. "$here/study.sh"
size=quick
out=
arguments=("$@")
build=$here/../build/openmp
while (($#)); do
  case $1 in
    --quick | --full | --smoke) size=${1#--} ;;
    --out)
      (($# > 1)) || { echo "run_all: --out needs a folder" >&2; exit 2; }
      out=$2
      shift
      ;;
    -*)
      usage
      [[ $1 == --help || $1 == -h ]] && exit 0
      exit 2
      ;;
    *) build=$1 ;;
  esac
  shift
done
out=${out:-results-$size}
find_programs "$build"
[[ -x $bin/ainvil-triangular-sweeps ]] || {
  echo "run_all: $build/bin has no ainvil-triangular-sweeps; configure with -DAINVIL_ENABLE_STUDIES=ON, or take build/openmp" >&2
  exit 2
}
mkdir -p "$out"
start_commands "$out/run_all" "${arguments[@]}"

all_ilu="--precond ilu:solve=exact --precond ilu:solve=isai,power=2"
if [[ $size == smoke ]]; then
  sweeps=(--problem poisson5:8 --repeat 1)
  defaults=("cavity:10 --tol 1e-5" "laplace27:5 --solver cg")
  growth=("poisson5:6" "poisson5:9" "poisson5:12")
  convdiff=("convdiff:4" "convdiff:6" "convdiff:8")
elif [[ $size == quick ]]; then
  sweeps=(--problem poisson5:100x100 --problem laplace27:16 --repeat 3)
  defaults=("cavity:60 --tol 1e-5" "convdiff:24x24x16 --block-size 4" "shell:40x60" "euler:2000"
    "laplace27:24 --solver cg" "jump:24 --solver cg" "elasticity:16x8x8 --solver cg")
  growth=("poisson5:80" "poisson5:160" "poisson5:320")
  convdiff=("convdiff:12" "convdiff:19" "convdiff:30")
else
  sweeps=(--problem poisson5:1000x1000 --problem laplace27:64 --problem cavity:300)
  defaults=("cavity:300 --tol 1e-5" "convdiff:148x148x58 --block-size 4" "shell:253x399" "euler:15606"
    "laplace27:64 --solver cg" "jump:64 --solver cg" "elasticity:60x20x20 --solver cg")
  growth=("poisson5:300" "poisson5:600" "poisson5:1200")
  convdiff=("convdiff:40" "convdiff:63" "convdiff:100")
fi

[[ $size == full ]] || export AINVIL_REPEAT=${AINVIL_REPEAT:-1}
echo "$size studies of $bin into $out"
# Of table 3 tables1-4 have all.
study papers "$here/papers.py" --build "$build" --out "$out" --size "$size" block-isai/tables1-4 \
  block-jacobi/figures3-11 sweeps/table2 sweeps/figures2-5 fsai/tables1-7 thesis/tables7.2-7.9
study defaults solves defaults "${defaults[@]/%/ --json-history}"
study growth solves growth "${growth[@]/%/ --solver cg --rhs ones --precond jacobi --precond fsai --precond ilu}" \
  "${convdiff[@]/%/ --rhs ones $all_ilu}"
for what in product factor; do
  study "sweeps-$what" "$bin/ainvil-triangular-sweeps" "$what" "${sweeps[@]}" --json "$out/sweeps-$what.jsonl"
done
if [[ -x $bin/ainvil-peers ]]; then
  study peers "$here/peers.sh" "$bin/ainvil-peers" "$out/peers.jsonl" "$size" "$(nproc)"
else
  echo "peers: skipped, ainvil-peers is not built"
fi

validate
# The python3 in PATH need not be the one that Debian's packages are for; perf/plot.py tries both.
if python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  study plot "$here/plot.py" --out "$out" "$out"/*.jsonl
else
  echo "plot: skipped, no Matplotlib: apt-get install python3-matplotlib, or pip install matplotlib"
fi
echo "all: $SECONDS s"
tell_report "$size"
finish
