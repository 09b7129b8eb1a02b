#!/usr/bin/env bash
# Runs PETSc with its own preconditioners, with hypre's and with Ainvil's by the plug-in, alone and as
# smoothers of GAMG, on one core, by ainvil-peers. Records go to a file, one a line.
#
#   perf/petsc.sh build/openmp results.jsonl [small]
#   perf/petsc.sh build/openmp results.jsonl gpu build/cuda
#
# Times are those of the processor (--clock cpu), so that others may use the machine meanwhile. `small`
# takes problems of a second, to see that all of it runs. `gpu` has PETSc keep matrices and vectors on
# the GPU, with the plug-in of another build: both builds must have found a PETSc with CUDA (and with
# Kokkos, else those rows fail). Times are those of the clock then, the faster of two runs.
set -euo pipefail

build=$(realpath "$1")
results=$(realpath -m "$2")
size=${3:-full}
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
plugin=$build/libainvil_petsc.so
clock=(--clock cpu)
iterations=1000
if [[ $size == gpu ]]; then
  plugin=$(realpath "${4:?gpu needs the build whose plug-in is to run}")/libainvil_petsc.so
  clock=(--repeat 2)
  iterations=2000
fi
# The program is one rank, and Open MPI may know no GPU.
export PETSC_OPTIONS="-dll_prepend $plugin -use_gpu_aware_mpi 0"
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
  "$build/bin/ainvil-peers" --problem "$problem" $options --max-iters $iterations "${clock[@]}" \
    --json - "${arguments[@]}" >>"$results" || (($? == 3))
}

plain="-pc_type ainvil -pc_ainvil_spec"
bicgstab="-ksp_type bcgs $plain"

if [[ $size == gpu ]]; then
  smooth="-pc_type gamg -mg_levels_pc_type ainvil -mg_levels_pc_ainvil_spec"
  cuda="-mat_type aijcusparse"
  kokkos="-mat_type aijkokkos"
  isai="$plain ilu:solve=isai"
  run cavity:300 "--tol 1e-5" "$isai $cuda" "$isai $kokkos" "$isai,power=2,storage=bfloat16 $cuda" \
    "-pc_type pbjacobi $cuda" "-pc_type ilu $cuda"
  run convdiff:148x148x58 "" "$isai $cuda" "$isai $kokkos" "-pc_type jacobi $cuda" \
    "-pc_type ilu $cuda" "-pc_type ilu $kokkos" "-pc_type gamg $cuda"
  run laplace27:64 "--solver cg" "$plain fsai $cuda" "$plain fsai $kokkos" \
    "$plain chebyshev:degree=4 $cuda" "-pc_type jacobi $cuda" "-pc_type icc $cuda" \
    "-pc_type icc $kokkos" "-pc_type gamg $cuda" "$smooth fsai $cuda"
  run elasticity:60x20x20 "--solver cg" "$plain fsai $cuda" "$plain fsai $kokkos" \
    "-pc_type pbjacobi $cuda" "-pc_type icc $cuda" "-pc_type gamg $cuda" "$smooth fsai $cuda"
  exit
fi
# By default GAMG smooths with Chebyshev's iteration, which is for real eigenvalues; and it coarsens
# the square of the graph on one level only, which leaves coarse grids of many entries.
gamg="-pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type"
smooth="$gamg ainvil -mg_levels_pc_ainvil_spec"
squares="-pc_gamg_square_graph 10"
multigrid=("-pc_type hypre" "$gamg sor")
# Modified factors are no smoothers, so they stand alone.
flow=("$plain ilu" "$plain ilu:modified=0.995" "$plain ilu:level=1,modified=0.995"
  "$bicgstab ilu:level=1,modified=0.995")
wind=("$plain ilu" "$plain ilu:modified=0.95" "$plain ilu:level=1,modified=0.95"
  "$bicgstab ilu:level=1,modified=0.95")
grid=("$plain ic" "$plain ic:modified=0.95" "$smooth ic" "$smooth ic $squares")
spd=(jacobi icc "-pc_type gamg" "${multigrid[@]}" "$plain chebyshev:degree=4")

if [[ $size == small ]]; then
  cavities=(cavity:20) convdiff=convdiff:12x12x8 laplaces=(laplace7:10) jump=jump:10
  elasticity=elasticity:8x3x3
else
  cavities=(cavity:150 cavity:300 cavity:600) convdiff=convdiff:74x74x29
  laplaces=(laplace7:60 laplace7:120) jump=jump:64 elasticity=elasticity:60x20x20
fi
run "${cavities[0]}" "--tol 1e-5" ilu "ilu -mat_type baij" "$gamg sor" "$smooth ilu"
for cavity in "${cavities[@]}"; do
  run "$cavity" "--tol 1e-5" "-pc_type hypre" "${flow[@]}" "$smooth ilu:level=1"
done
# Of A times ones, the gallery's, modified factors know too much.
run $convdiff "--rhs ones" jacobi ilu "${multigrid[@]}" "${wind[@]}" "$smooth ilu"
run "${laplaces[0]}" "--rhs ones --solver cg" "${spd[@]}" "${grid[@]}"
run $jump "--rhs ones --solver cg" "${spd[@]}" "${grid[@]}"
run $elasticity "--solver cg" "${spd[@]}" "-pc_type pbjacobi" "ilu -mat_type baij" "$plain ic" \
  "$smooth ic"
for laplace in "${laplaces[@]:1}"; do
  run "$laplace" "--rhs ones --solver cg" icc "-pc_type hypre" "${grid[@]}"
done
