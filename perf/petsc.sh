#!/usr/bin/env bash
# Runs PETSc with its own preconditioners, with hypre's and with Ainvil's by the plug-in, alone and as
# smoothers of GAMG, on one core, by ainvil-peers. Records go to a file, one a line.
#
#   perf/petsc.sh build/openmp results.jsonl [small]
#
# Times are those of the processor (--clock cpu), so that others may use the machine meanwhile. `small`
# takes problems of a second, to see that all of it runs.
set -euo pipefail

build=$(realpath "$1")
results=$(realpath -m "$2")
size=${3:-full}
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PETSC_OPTIONS="-dll_prepend $build/libainvil_petsc.so"
: >"$results"

# run PROBLEM "options of ainvil-peers" "options of PETSc, or a word"...
run() {
  local problem=$1 options=$2 precond arguments=()
  shift 2
  for precond in "$@"; do
    arguments+=(--precond "petsc:$precond")
  done
  # What does not converge is a row, and an exit code.
  # shellcheck disable=SC2086 # options are words
  "$build/bin/ainvil-peers" --problem "$problem" $options --max-iters 1000 --clock cpu \
    --json - "${arguments[@]}" >>"$results" || (($? == 3))
}

plain="-pc_type ainvil -pc_ainvil_spec"
# By default GAMG smooths with Chebyshev's iteration, which is for real eigenvalues.
richardson="-pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type"
smooth="-pc_type gamg -mg_levels_pc_type ainvil -mg_levels_pc_ainvil_spec"
general=(ilu "-pc_type gamg" "$richardson sor" "-pc_type hypre" "$plain ilu" "$plain ilu:solve=isai,power=2"
  "$smooth ilu" "$richardson ainvil -mg_levels_pc_ainvil_spec ilu")
spd=(jacobi icc "-pc_type gamg" "$richardson sor" "-pc_type hypre" "$plain ilu" "$plain fsai"
  "$plain chebyshev:degree=4" "$smooth ilu" "$smooth ilu:solve=isai" "$smooth fsai"
  "$richardson ainvil -mg_levels_pc_ainvil_spec ilu")
blocks=("-pc_type pbjacobi" "ilu -mat_type baij" "$plain jacobi")

if [[ $size == small ]]; then
  cavity=cavity:20 convdiff=convdiff:12x12x8 laplace=laplace7:10 jump=jump:10 elasticity=elasticity:8x3x3
else
  cavity=cavity:150 convdiff=convdiff:74x74x29 laplace=laplace7:60 jump=jump:64
  elasticity=elasticity:40x14x14
fi
run $cavity "--tol 1e-5" "${blocks[@]}" "${general[@]}"
run $convdiff "" jacobi "${general[@]}"
run $laplace "--solver cg" "${spd[@]}"
run $jump "--solver cg" "${spd[@]}"
run $elasticity "--solver cg" "${blocks[@]}" "${spd[@]}"
