#!/usr/bin/env bash
# Builds ainvil-solve and compares exact triangular solves with approximate inverses on a driven
# cavity problem. Debian 12 needs nothing else; see scripts/setup.sh for other machines.
#
#   scripts/quickstart.sh                  the comparison on cavity:300
#   scripts/quickstart.sh 100 [option]...  the same on cavity:100, with further options
#   scripts/quickstart.sh option...        ainvil-solve with your options only
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)) || [[ $1 =~ ^[0-9]+$ ]]; then
  size=${1:-300}
  shift $(($# > 0))
  set -- --problem "cavity:$size" --solver gmres --restart 30 --tol 1e-5 \
    --precond ilu:solve=exact \
    --precond ilu:solve=isai,power=1 \
    --precond ilu:solve=isai,power=2 \
    --precond ilu:solve=isai,power=3 \
    --precond ilu:solve=isai,power=1,relax=1 "$@"
fi

scripts/setup.sh build
mkdir -p .cache
# -U: a Kokkos that an earlier run found must not outlive a change of Kokkos_ROOT.
cmake --preset openmp -U 'Kokkos*_DIR' >.cache/configure.log ||
  { cat .cache/configure.log; exit 1; }
cmake --build --preset openmp --target ainvil-solve

# One thread a core that this process may use: the work is bound by memory, not by arithmetic.
usable=$(nproc)
cores=$(lscpu -p=Core,Socket 2>/dev/null | sed '/^#/d' | sort -u | wc -l) || cores=$usable
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores < usable ? cores : usable))}
export OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-cores}
echo "+ OMP_NUM_THREADS=$OMP_NUM_THREADS build/openmp/bin/ainvil-solve $*"
exec build/openmp/bin/ainvil-solve "$@"
