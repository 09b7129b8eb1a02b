#!/usr/bin/env bash
# Compiles and links Ainvil's library, tests and programs for AMD's gfx90a with Debian's hipcc, in
# build/hip, and runs nothing: no AMD GPU is needed. Takes about 40 minutes of two cores; what
# is there is not compiled again. Installs what is missing first (hipcc 5.2.3 on Debian 12).
#
#   Kokkos_ROOT=PREFIX scripts/hip.sh                     PREFIX has a Kokkos 4.6 with HIP for gfx90a
#                                                         and Kokkos Kernels of the same version
#   scripts/hip.sh KOKKOS_SOURCE KOKKOS_KERNELS_SOURCE    builds both in build/hip-kokkos first
#
# Without either it says how to build the two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build
log=$PWD/build/hip.log
: >"$log"
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

packages=(
  "hipcc                compiler for AMD GPUs, on Clang 15"
  "libamdhip64-dev      HIP's library"
  "rocm-device-libs     functions of the device"
  "cmake                build system"
  "ninja-build          build system"
  "libgtest-dev         tests"
  "libcli11-dev         command line of ainvil-solve"
  "nlohmann-json3-dev   results as JSON"
  "zlib1g-dev           compressed matrices"
  "libmetis-dev         nested dissection"
  "libeigen3-dev        eigenvalues of small matrices; headers only"
)

# Options of the two. Debian has none of the ROCm libraries that Kokkos and Kokkos Kernels take by
# default with HIP; Ainvil needs none of them, and no instantiation made beforehand.
kokkos_options=(-DCMAKE_CXX_COMPILER=hipcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17
  -DKokkos_ENABLE_HIP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ARCH_AMD_GFX90A=ON
  -DKokkos_ENABLE_ROCTHRUST=OFF)
kernels_options=(-DCMAKE_CXX_COMPILER=hipcc -DCMAKE_BUILD_TYPE=Release
  -DKokkosKernels_ADD_DEFAULT_ETI=OFF -DKokkosKernels_ENABLE_TESTS=OFF
  -DKokkosKernels_ENABLE_TPL_BLAS=OFF -DKokkosKernels_ENABLE_TPL_ROCBLAS=OFF
  -DKokkosKernels_ENABLE_TPL_ROCSPARSE=OFF -DKokkosKernels_ENABLE_TPL_ROCSOLVER=OFF)

explain() {
  cat >&2 <<TEXT
hip: neither Kokkos_ROOT nor sources of Kokkos are given. With sources of version 4.6 in kokkos and
kokkos-kernels:
  scripts/hip.sh kokkos kokkos-kernels
or, to have them in a prefix of your own:
  cmake -S kokkos -B build-kokkos -G Ninja -DCMAKE_INSTALL_PREFIX=PREFIX ${kokkos_options[*]}
  cmake --build build-kokkos --target install
  cmake -S kokkos-kernels -B build-kernels -G Ninja -DCMAKE_INSTALL_PREFIX=PREFIX \\
    -DKokkos_ROOT=PREFIX ${kernels_options[*]}
  cmake --build build-kernels --target install
  Kokkos_ROOT=PREFIX scripts/hip.sh
TEXT
  exit 1
}

# build_part SOURCE BUILD OPTION...: configures, builds and installs into $prefix.
build_part() {
  local source=$1 build=$2
  shift 2
  [[ -f $source/CMakeLists.txt ]] || die "there is no CMakeLists.txt in $source"
  say "building $source"
  local failed="could not build $source (last lines above, all of it in $log)"
  logged cmake -S "$source" -B "$build" -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib "$@" || die "$failed"
  logged cmake --build "$build" --parallel "$jobs" --target install || die "$failed"
}

jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
if (($# == 2)); then
  install_packages "${packages[@]}"
  prefix=$PWD/build/hip-kokkos/prefix
  build_part "$1" build/hip-kokkos/kokkos "${kokkos_options[@]}"
  build_part "$2" build/hip-kokkos/kernels -DKokkos_ROOT="$prefix" "${kernels_options[@]}"
elif (($# == 0)) && [[ -n ${Kokkos_ROOT:-} ]]; then
  install_packages "${packages[@]}"
  prefix=$Kokkos_ROOT
else
  explain
fi
grep -qsE '^ *# *define KOKKOS_ENABLE_HIP' "$prefix/include/KokkosCore_config.h" ||
  die "the Kokkos in $prefix has no HIP"

cmake -S . -B build/hip -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=hipcc \
  -DKokkos_ROOT="$prefix" -DKokkosKernels_ROOT="$prefix" -U 'Kokkos*_DIR' >>"$log" 2>&1 ||
  die "could not configure (all of it in $log)"
cmake --build build/hip --parallel "$jobs"
say "library, tests and programs are compiled and linked for HIP; none of them was run"
