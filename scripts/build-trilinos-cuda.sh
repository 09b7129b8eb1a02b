#!/usr/bin/env bash
# Builds Trilinos with CUDA for Hopper GPUs and MPI from Debian's source package (13.2, which has
# Kokkos 3.4.01): Kokkos, Kokkos Kernels, Teuchos, Tpetra, Belos and Ifpack2, as static libraries
# for double, int and long long only. Needs CUDA 13; takes one to two hours on two cores.
#
#   scripts/build-trilinos-cuda.sh [prefix [build directory]]
#
# The prefix is .cache/trilinos-cuda unless given, the build directory the prefix with -build behind
# it. What is there already stays there; an interrupted build goes on where it stopped. Of the build
# directory the log is left in the end. CMAKE_BUILD_PARALLEL_LEVEL says how many compilers run at a
# time, and CMAKE_CXX_COMPILER_LAUNCHER=ccache is honoured.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=$(realpath -m "${1:-$root/.cache/trilinos-cuda}")
work=$(realpath -m "${2:-$prefix-build}")
log=$work/build.log
# The stamp in a finished installation and in an unfinished build; a new recipe number makes
# everybody rebuild.
recipe="recipe 1"
parts=(Kokkos KokkosKernels Teuchos Tpetra Belos Ifpack2)

# shellcheck source=scripts/debian.sh
. "$root/scripts/debian.sh"

# Package and what it is for.
packages=(
  "g++             compiler"
  "cmake           build system"
  "ninja-build     build system"
  "libopenmpi-dev  MPI"
  "libblas-dev     Teuchos"
  "liblapack-dev   Teuchos"
  "ca-certificates downloads over https"
)

# Puts nvcc into PATH, where nvcc_wrapper looks for it, and checks that it will do.
find_cuda() {
  PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
  local nvcc version toolkit
  nvcc=$(command -v nvcc) ||
    die "nvcc is neither in PATH nor in ${CUDA_HOME:-/usr/local/cuda}/bin. Install the CUDA" \
      "toolkit 13 (NVIDIA's package cuda-toolkit-13-0), or set CUDA_HOME."
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)[.].*/\1/p')
  ((version >= 13)) ||
    die "$nvcc is of CUDA $version, but the changes to Kokkos are for CUDA 13. Put nvcc of CUDA" \
      "13 first in PATH."
  toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
  compgen -G "$toolkit/targets/*/include/cublas_v2.h" >/dev/null ||
    compgen -G "$toolkit/include/cublas_v2.h" >/dev/null ||
    die "the CUDA toolkit in $toolkit has no cuBLAS; install NVIDIA's package libcublas-dev-13-0."
  say "using nvcc of CUDA $version in $toolkit"
}

# edit FILE SCRIPT: changes a source file by a script of sed, which must find something to change.
edit() {
  local file=$work/unpacked/packages/$1
  sed -E "$2" "$file" >"$work/edited"
  ! cmp -s "$file" "$work/edited" || die "$1 is not what is expected of Trilinos 13.2"
  cat "$work/edited" >"$file" # keeps the mode
  rm "$work/edited"
}

# What Kokkos 3.4.01 needs for CUDA 13 and sm_90.
change_kokkos() {
  edit kokkos/bin/nvcc_wrapper 's/^default_arch="sm_35"/default_arch="sm_90"/'
  # It knows nothing newer than AMPERE80, which stands for Hopper from here on.
  edit kokkos/cmake/kokkos_arch.cmake 's/(CHECK_CUDA_ARCH\(AMPERE80 +)sm_80/\1sm_90/'
  # half_t has become ambiguous as an argument, and __half2double is gone.
  edit kokkos/core/src/Cuda/Kokkos_Cuda_Half.hpp \
    's/(return __half2[a-z]+(_rz)?)\(val\);/\1(half_t::impl_type(val));/'
  edit kokkos/core/src/Cuda/Kokkos_Cuda_Half.hpp 's/__half2double/__half2float/'
  # It takes a location and flags where it took the number of a device.
  edit kokkos/core/src/Cuda/Kokkos_CudaSpace.cpp '/cudaMemPrefetchAsync\(/ {
    s/space[.]cuda_device\(\)/cudaMemLocation{cudaMemLocationTypeDevice, &}, 0/
  }'
}

# What GCC 13 no longer includes by itself.
change_teuchos() {
  edit teuchos/core/src/Teuchos_BigUIntDecl.hpp 's/^#include <iosfwd>/#include <cstdint>\n&/'
}

# Leaves the changed sources in $work/source, which appears in one step, by a rename.
get_source() {
  [[ ! -d $work/source ]] || return 0
  rm -rf "$work"/{download,unpacked}
  say "downloading Debian's source package trilinos (166 MB)"
  (download_trilinos "$work/download") ||
    die "could not download it (last lines above, all of it in $log)"
  local version archive
  version=$(basename "$work"/download/source/trilinos_*.dsc .dsc)
  [[ $version == trilinos_13.2.* ]] ||
    die "this Debian has $version, but the changes for CUDA are known for 13.2 of Debian 12 only"
  archive=$(compgen -G "$work/download/source/trilinos_*.orig.tar.*" | head -n 1)
  mkdir "$work/unpacked"
  logged tar -xf "$archive" -C "$work/unpacked" --strip-components=1 ||
    die "could not unpack $archive"
  change_kokkos
  change_teuchos
  mv "$work/unpacked" "$work/source"
  rm -r "$work/download"
}

configure() {
  local mpi_flags
  mpi_flags=$(mpicxx --showme:compile)
  local options=(
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
    -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER="$work/source/packages/kokkos/bin/nvcc_wrapper"
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF -DBUILD_SHARED_LIBS=OFF
    -DTrilinos_ENABLE_ALL_OPTIONAL_PACKAGES=OFF -DTrilinos_ENABLE_TESTS=OFF
    -DTrilinos_ENABLE_EXAMPLES=OFF -DTrilinos_ENABLE_Fortran=OFF
    -DTrilinos_ENABLE_EXPLICIT_INSTANTIATION=ON -DTrilinos_ENABLE_COMPLEX=OFF
    -DTrilinos_ENABLE_FLOAT=OFF -DTrilinos_ENABLE_OpenMP=OFF

    # nvcc_wrapper is the compiler instead of mpicxx, so it is told where mpi.h is.
    -DTPL_ENABLE_MPI=ON -DMPI_USE_COMPILER_WRAPPERS=OFF
    -DCMAKE_C_FLAGS="$mpi_flags" -DCMAKE_CXX_FLAGS="$mpi_flags"
    # The products of tall matrices in Belos are slow without cuBLAS. Kokkos Kernels calls functions
    # of cuSPARSE that CUDA 13 does not have.
    -DTPL_ENABLE_CUDA=ON -DTPL_ENABLE_CUBLAS=ON -DTPL_ENABLE_CUSPARSE=OFF -DTPL_ENABLE_CUSOLVER=OFF
    # libdl lets Kokkos load profiling tools (KOKKOS_PROFILE_LIBRARY).
    -DTPL_ENABLE_DLlib=ON -DTPL_ENABLE_Pthread=OFF

    -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ARCH_AMPERE80=ON
    -DKokkos_CXX_STANDARD=17 -DKokkos_ENABLE_CUDA_LAMBDA=ON -DKokkos_ENABLE_CUDA_CONSTEXPR=ON
    # Device memory instead of managed memory. Tpetra's CMake warns of that, but its sources know
    # both; of Ifpack2, "trisolver: reverse U" still needs managed memory.
    -DKokkos_ENABLE_CUDA_UVM=OFF -DTpetra_ENABLE_CUDA_UVM=OFF -DTpetraCore_ENABLE_CUDA_UVM=OFF
    -DTpetra_ASSUME_CUDA_AWARE_MPI=OFF
    # Instances for what Tpetra uses: offsets of type size_t on the device.
    -DKokkosKernels_INST_MEMSPACE_CUDAUVMSPACE=OFF -DKokkosKernels_INST_EXECSPACE_SERIAL=OFF
    -DKokkosKernels_INST_OFFSET_INT=OFF
    -DTpetra_INST_SERIAL=OFF -DTpetra_INST_CUDA=ON -DTpetra_INST_INT_LONG_LONG=ON
    -DTrilinos_ENABLE_TpetraTSQR=OFF -DBelos_ENABLE_TSQR=OFF -DBelos_ENABLE_Tpetra=ON
  )
  local part
  for part in "${parts[@]}"; do
    options+=("-DTrilinos_ENABLE_$part=ON")
  done
  say "configuring in $work/build"
  logged cmake -S "$work/source" -B "$work/build" -G Ninja "${options[@]}" ||
    die "could not configure Trilinos (last lines above, all of it in $log)"
}

# A compiler for each core, as long as there are 3 GiB of memory for each of them.
jobs() {
  local fit
  fit=$(awk '/^MemAvailable:/ { print int($2 / 3145728) }' /proc/meminfo)
  echo $((fit < 1 ? 1 : fit < $(nproc) ? fit : $(nproc)))
}

build() {
  local part start
  export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(jobs)}
  say "building, $CMAKE_BUILD_PARALLEL_LEVEL compilers at a time; details in $log"
  for part in "${parts[@]}"; do
    start=$SECONDS
    logged cmake --build "$work/build" --target "${part}_libs" ||
      die "could not build $part (last lines above, all of it in $log); run this again to go on"
    say "$part is built, $(((SECONDS - start + 30) / 60)) minutes"
  done
  logged cmake --install "$work/build" || die "could not install (all of it in $log)"
  # The package files name the compiler where it was, in the sources.
  grep -rlFZ "$work/source" "$prefix/lib/cmake" |
    xargs -0 --no-run-if-empty sed -i "s|$work/source/packages/kokkos/bin|$prefix/bin|g"
  echo "$recipe" >"$prefix/ainvil-stamp"
}

main() {
  (($# <= 2)) || die "too many arguments; they are: [prefix [build directory]]"
  local user_path=$PATH
  find_cuda
  mkdir -p "$work" "$prefix"
  exec 9>"$work/lock"
  flock 9 # two at once: the second waits and finds everything done
  if [[ $(head -n 1 "$prefix/ainvil-stamp" 2>/dev/null) == "$recipe" ]]; then
    say "Trilinos is in $prefix already"
  else
    command -v apt-get >/dev/null || die "the sources are Debian's, and there is no apt-get here"
    rm -f "$prefix/ainvil-stamp"
    : >"$log"
    install_packages "${packages[@]}"
    if [[ $(cat "$work/recipe" 2>/dev/null) != "$recipe" ]]; then
      rm -rf "$work"/{source,build} # of another recipe
      echo "$recipe" >"$work/recipe"
    fi
    get_source
    configure
    build
    rm -rf "$work"/{source,build,recipe}
  fi
  say "to build Ainvil with it:"
  [[ $(PATH=$user_path command -v nvcc) ]] ||
    echo "  export PATH=\$PATH:$(dirname "$(command -v nvcc)") # nvcc"
  echo "  export Trilinos_ROOT=$prefix"
  echo "  cmake --preset tpetra-cuda && cmake --build --preset tpetra-cuda"
}

main "$@"
