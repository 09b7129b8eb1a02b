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
general=(ilu RILUK ilu:solve=isai,power=2 muelu "muelu:smoother: type=RILUK" "$ainvil=ilu"
  "$plain=RELAXATION" "$plain=RILUK" "$plain=ILUT"
  "$plain=AINVIL,smoother: params/Prec Type=ilu"
  "$plain=AINVIL,smoother: params/Prec Type=ilu,$settings/trisolver: type=isai")

if [[ $size == small ]]; then
  cavity=cavity:20 laplace=laplace7:10 jump=jump:10 elasticity=elasticity:8x3x3
else
  cavity=cavity:150 laplace=laplace7:60 jump=jump:64 elasticity=elasticity:40x14x14
fi
run $cavity "--tol 1e-5" "${general[@]}"
run $laplace "--solver cg" "${spd[@]}"
run $jump "--solver cg" "${spd[@]}"
run $elasticity "--solver cg" "${spd[@]}"
