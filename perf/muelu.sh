#!/usr/bin/env bash
# Runs MueLu's multigrid with smoothers of Ifpack2 and of Ainvil, and preconditioners of both without
# multigrid, on one core, by ainvil-solve-mpi. Records go to a file, one a line.
#
#   perf/muelu.sh build/tpetra results.jsonl [small]
#
# Times are the fastest of two. `small` takes problems of a second, to see that all of it runs.
set -euo pipefail

program=$(realpath "$1")/bin/ainvil-solve-mpi
results=$(realpath -m "$2")
size=${3:-full}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
: >"$results"

# run PROBLEM "options" PRECONDITIONER...
run() {
  local problem=$1 options=$2 precond arguments=()
  shift 2
  for precond in "$@"; do
    arguments+=(--precond "$precond")
  done
  # What does not converge is a row, and an exit code.
  # shellcheck disable=SC2086 # options are words
  "$program" --problem "$problem" $options --max-iters 1000 --repeat 2 --json - \
    "${arguments[@]}" >>"$results" || (($? == 3))
}

chebyshev="muelu:smoother: type=CHEBYSHEV,smoother: params/chebyshev: degree=2"
ainvil="muelu:smoother: type=AINVIL,smoother: params/Prec Type"
settings="smoother: params/Prec Settings"
# For matrices that are not symmetric: smoothed aggregation is for those that are.
plain="muelu:multigrid algorithm=unsmoothed,smoother: type"
spd=(jacobi ic RILUK fsai chebyshev:degree=4 muelu "$chebyshev" "muelu:smoother: type=RILUK"
  "$ainvil=ic" "$ainvil=ilu" "$ainvil=fsai" "$ainvil=jacobi,$settings/poly: degree=2"
  "$ainvil=chebyshev,$settings/chebyshev: degree=2,$settings/chebyshev: ratio eigenvalue=20"
  "$ainvil=ic,$settings/trisolver: type=isai")
# Modified factors are no smoothers, so they stand alone; more fill makes a better one.
general=(ilu RILUK ilu:solve=isai,power=2 muelu "muelu:smoother: type=RILUK" "$ainvil=ilu"
  "$plain=RELAXATION" "$plain=RILUK" "$plain=ILUT"
  "$plain=AINVIL,smoother: params/Prec Type=ilu"
  "$plain=AINVIL,smoother: params/Prec Type=ilu,$settings/fact: iluk level-of-fill=1"
  "$plain=AINVIL,smoother: params/Prec Type=ilu,$settings/trisolver: type=isai")

large_flow=(ilu ilu:modified=0.995 ilu:level=1,modified=0.995 "$plain=RELAXATION"
  "$plain=AINVIL,smoother: params/Prec Type=ilu"
  "$plain=AINVIL,smoother: params/Prec Type=ilu,$settings/fact: iluk level-of-fill=1")
large_spd=(ic ic:modified=0.95 muelu "$ainvil=ic")

if [[ $size == small ]]; then
  cavity=cavity:20 convdiff=convdiff:12x12x8 laplace=laplace7:10 jump=jump:10
  elasticity=elasticity:8x3x3 large_cavities=() large_laplaces=()
else
  cavity=cavity:150 convdiff=convdiff:74x74x29 laplace=laplace7:60 jump=jump:64
  elasticity=elasticity:60x20x20 large_cavities=(cavity:300 cavity:600)
  large_laplaces=(laplace7:120)
fi
run $cavity "--tol 1e-5" "${general[@]}" ilu:modified=0.995 ilu:level=1,modified=0.995
run $cavity "--tol 1e-5 --solver bicgstab" ilu:level=1,modified=0.995
# Of A times ones, the gallery's, modified factors know too much.
run $convdiff "--rhs ones" "${general[@]}" ilu:modified=0.95 ilu:level=1,modified=0.95
run $laplace "--rhs ones --solver cg" "${spd[@]}" ic:modified=0.95
run $jump "--rhs ones --solver cg" "${spd[@]}" ic:modified=0.95
run $elasticity "--solver cg" "${spd[@]}"
for problem in "${large_cavities[@]}"; do
  run "$problem" "--tol 1e-5" "${large_flow[@]}"
  run "$problem" "--tol 1e-5 --solver bicgstab" ilu:level=1,modified=0.995
done
for problem in "${large_laplaces[@]}"; do
  run "$problem" "--rhs ones --solver cg" "${large_spd[@]}"
done
