#!/usr/bin/env bash
# The comparison with PETSc, hypre and Ifpack2 of docs/results: ainvil-peers on five problems, as
# many ranks of the other libraries as threads of ours.
#
#   perf/peers.sh EXECUTABLE OUTPUT.jsonl full|quick|smoke RANKS [option of ainvil-peers]...
#   perf/peers_table.py OUTPUT.jsonl
#
# `quick` takes small versions of the problems, `smoke` toys. Libraries that EXECUTABLE was built without are left
# out. AINVIL_SOLVE_MPI: an ainvil-solve-mpi, which runs ours over as many ranks as the others after each problem, of
# a matrix in points and, where it has blocks, of one in blocks, as PETSc's BAIJ is. GMRES of ours runs again with
# its basis in float.
set -euo pipefail
# shellcheck source=perf/study.sh
. "$(dirname "${BASH_SOURCE[0]}")/study.sh"
if (($# < 4)); then
  usage
  exit 1
fi
peers=$1
output=$2
size=$3
ranks=$4
# Open MPI would say so five times, beside an empty file of results.
if [[ $(id -u) == 0 && -z ${OMPI_ALLOW_RUN_AS_ROOT:-} ]] && mpirun --version 2>/dev/null | grep -q "Open MPI"; then
  echo "peers.sh: Open MPI runs nothing for root unless OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set" >&2
  exit 2
fi
if [[ -n ${AINVIL_SOLVE_MPI:-} && " ${*:5} " =~ " --clock"[[:space:]=]"cpu " ]]; then
  echo "peers.sh: ainvil-solve-mpi has no --clock cpu: leave out that, or AINVIL_SOLVE_MPI" >&2
  exit 2
fi
start_commands "${output%.jsonl}" "$@"
shift 4
# Problem, tolerance, solver, list of preconditioners, formats of the matrix over ranks, block size.
problems=("cavity:300 1e-5 gmres cavity points,blocks" "convdiff:74x74x29 1e-8 gmres general points,blocks 4"
  "laplace27:64 1e-8 cg spd points" "jump:64 1e-8 cg spd points" "elasticity:60x20x20 1e-8 cg spd points,blocks")
if [[ $size == quick ]]; then
  problems=("cavity:60 1e-5 gmres cavity points,blocks" "convdiff:20x20x16 1e-8 gmres general points,blocks 4"
    "laplace27:20 1e-8 cg spd points" "jump:20 1e-8 cg spd points" "elasticity:16x8x8 1e-8 cg spd points,blocks")
elif [[ $size == smoke ]]; then
  problems=("cavity:10 1e-5 gmres cavity points" "convdiff:6x6x8 1e-8 gmres general points,blocks 4"
    "elasticity:3 1e-8 cg spd points,blocks")
fi
# ParaSails of the cavity does not converge in 2000 iterations. Its defaults drop all but the diagonal
# of laplace27; without thresholds it has the pattern of fsai:power=1,filter=0.
# shellcheck disable=SC2034 # the lists are used by their names
{
  cavity=(ilu ilu:storage=float ilu:storage=float,poly=20 ilu:solve=isai,power=1
    ilu:solve=isai,power=1,storage=float ilu:solve=isai,relax=1
    petsc:ilu "petsc:ilu -mat_type baij" hypre:ilu hypre:boomeramg
    ifpack2:RILUK "ifpack2:RILUK,belos=TPETRA GMRES")
  general=("${cavity[@]}" hypre:parasails)
  cavity_over_ranks=(ilu ilu:storage=float ilu:storage=float,poly=20 ilu:solve=isai,power=1)
  general_over_ranks=("${cavity_over_ranks[@]}")
  basis_in_float=(--precond=ilu:storage=float --precond=ilu:storage=float,poly=20)
  spd_over_ranks=(jacobi ilu ic ic:storage=float fsai:power=1,filter=0)
  spd=(jacobi ilu ic ic:storage=float fsai:power=1 fsai:power=1,filter=0 fsai:power=1,storage=float fsai:power=2
    ainv:drop=0.1,order=nd petsc:jacobi petsc:icc petsc:gamg
    hypre:parasails hypre:parasails,levels=0,threshold=0,filter=0 hypre:fsai hypre:boomeramg
    ifpack2:RILUK "ifpack2:RILUK,belos=TPETRA CG")
}
# A rank that waits lets others have its core: those of other users.
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
built=" $("$peers" --help | sed -n 's/.*this build has: \([a-z0-9 ]*\).*/\1/p') "

# run PROGRAM OPTION...: on all ranks, its records behind those that are there. Code 3: some run did not converge.
run() {
  list_command "$(basename "$output" .jsonl)" mpirun -np "$ranks" --bind-to none "$(basename "$1")" "${@:2}"
  mpirun -np "$ranks" --bind-to none "$@" --json "$part" || (($? == 3))
  cat "$part" >>"$output"
}

part=$(mktemp)
trap 'rm -f "$part"' EXIT
rm -f "$output"
for problem in "${problems[@]}"; do
  read -r spec tolerance solver name formats block_size <<<"$problem"
  system=(--problem "$spec" --tol "$tolerance" ${block_size:+--block-size "$block_size"} --solver "$solver"
    --max-iters 2000 --repeat "${AINVIL_REPEAT:-3}")
  preconds=()
  declare -n list=$name
  for precond in "${list[@]}"; do
    library=${precond%%:*}
    [[ $library =~ ^(petsc|hypre|ifpack2)$ && $built != *" $library "* ]] ||
      preconds+=(--precond "$precond")
  done
  run "$peers" "${system[@]}" "${preconds[@]}" "$@"
  [[ $solver != gmres ]] || run "$peers" "${system[@]}" --basis float "${basis_in_float[@]}" "$@"
  if [[ -n ${AINVIL_SOLVE_MPI:-} ]]; then
    declare -n list=${name}_over_ranks
    for format in ${formats//,/ }; do
      preconds=()
      for precond in "${list[@]}"; do # fsai over ranks takes points
        [[ $format == blocks && $precond == fsai* ]] || preconds+=("--precond=$precond")
      done
      run "$AINVIL_SOLVE_MPI" "${system[@]}" --format "$format" "${preconds[@]}"
      [[ $solver != gmres ]] ||
        run "$AINVIL_SOLVE_MPI" "${system[@]}" --format "$format" --basis float "${basis_in_float[@]}"
    done
  fi
done
