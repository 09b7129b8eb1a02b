#!/usr/bin/env bash
# Installs what Ainvil needs on Debian 12: packages, and a Kokkos with OpenMP in .cache/.
#
#   scripts/setup.sh build   what scripts/quickstart.sh needs (the default)
#   scripts/setup.sh test    what scripts/test.sh needs: the same, Trilinos, PETSc, hypre and clang-format
#   scripts/setup.sh peers   what ainvil-peers and the figures need: the same as test, Matplotlib
#   scripts/setup.sh fuzz    what scripts/fuzz.sh needs: Clang and Debian's Kokkos, no other
#   scripts/setup.sh tsan    what scripts/tsan.sh needs: Clang and a Kokkos with ThreadSanitizer
#
# Needs root or sudo only when a package is missing. Run again at will: what is there stays there.
# A Kokkos with Kokkos Kernels that Kokkos_ROOT, KokkosKernels_ROOT or CMAKE_PREFIX_PATH leads to is
# used instead of building one. AINVIL_SKIP_SETUP=1 skips everything, for machines without apt.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache
log=$cache/setup.log
kokkos=$cache/kokkos-openmp
kokkos_options=()
# The first line of the stamp in a finished build; a new recipe number makes everybody rebuild.
recipe="recipe 1"

# Package and what it is for.
build_packages=(
  "g++             compiler"
  "cmake           build system"
  "ninja-build     build system"
  "git             version in results"
  "libgtest-dev    tests"
  "libcli11-dev    command line of ainvil-solve"
  "nlohmann-json3-dev  results as JSON"
  "zlib1g-dev      compressed matrices"
  "libmetis-dev    nested dissection"
  "libeigen3-dev   eigenvalues of small matrices; headers only"
  "ca-certificates downloads over https"
)
# libptscotch-dev: what is linked with Ifpack2 needs it, and Debian's packages do not say so.
test_packages=(
  "trilinos-all-dev  Tpetra, Belos, Ifpack2; about 400 MB"
  "libptscotch-dev   Ifpack2"
  "openmpi-bin       runs the tests with several processes"
  "petsc-dev         the plug-in, and a library to compare with, in ainvil-peers; about 120 MB"
  "libpetsc3.18-dev-examples  PETSc's tutorials, which are run with the plug-in; about 55 MB"
  "python3-petsc4py  loads the plug-in into Python; about 45 MB"
  "libhypre-dev      Ainvil::hypre, and a library to compare with, in ainvil-peers; about 20 MB"
  "python3           runs the tests of the command line"
  "python3-jsonschema  checks what the programs write"
  "clang-format      style check"
)
peers_packages=(
  "python3-matplotlib  figures; about 300 MB"
)
# What a program needs that is linked with Debian's Kokkos Kernels.
serial_packages=(
  "libtrilinos-kokkos-dev          Kokkos without OpenMP"
  "libtrilinos-kokkos-kernels-dev  Kokkos Kernels"
  "liblapack-dev                   Kokkos Kernels is linked with it"
  "libblas-dev                     Kokkos Kernels is linked with it"
)
fuzz_packages=(
  "clang            compiler with libFuzzer"
  "libclang-rt-dev  libFuzzer and the sanitizers"
  "llvm             names in stack traces"
)
tsan_packages=(
  "libomp-dev       OpenMP of Clang, and Archer, which tells ThreadSanitizer of it"
)

# shellcheck source=scripts/debian.sh
. "$root/scripts/debian.sh"

# Prints where the user's own Kokkos Kernels is; fails if there is none.
user_kokkos() {
  local prefixes prefix
  IFS=: read -ra prefixes <<<"${Kokkos_ROOT:-}:${KokkosKernels_ROOT:-}:${CMAKE_PREFIX_PATH:-}"
  for prefix in "${prefixes[@]}"; do
    [[ -n $prefix ]] || continue
    compgen -G "$prefix/lib*/cmake/KokkosKernels" && return 0
    compgen -G "$prefix/lib/*/cmake/KokkosKernels" && return 0
  done
  return 1
}

# Configures, builds and installs one of the two into $work/prefix.
build_part() {
  local name=$1
  shift
  logged cmake -S "$work/packages/$name" -B "$work/build-$name" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
    "${kokkos_options[@]}" "$@" &&
    logged cmake --build "$work/build-$name" --target install
}

unpack_kokkos() {
  local archive
  archive=$(compgen -G "$work/source/trilinos_*.orig.tar.*" | head -n 1)
  logged tar -xf "$archive" -C "$work" --strip-components=1 --wildcards \
    '*/packages/kokkos/*' '*/packages/kokkos-kernels/*' ||
    die "could not unpack the sources of Kokkos"
}

# Builds Kokkos and Kokkos Kernels with OpenMP from the unpacked sources. The result appears in one
# step, by a rename, so that an interrupted build leaves nothing that looks finished.
build_kokkos() {
  say "building Kokkos and Kokkos Kernels with OpenMP into .cache/$(basename "$kokkos")"
  local version
  version=$(basename "$work"/source/trilinos_*.dsc .dsc)
  build_part kokkos -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_CXX_STANDARD=17 ||
    die "could not build Kokkos (last lines above, all of it in $log)"
  build_part kokkos-kernels -DKokkos_ROOT="$work/prefix" -DKokkosKernels_ADD_DEFAULT_ETI=OFF \
    -DKokkosKernels_ENABLE_TESTS=OFF ||
    die "could not build Kokkos Kernels (last lines above, all of it in $log)"
  # The package files name the prefix, which is about to be renamed.
  grep -rlFZ "$work/prefix" "$work/prefix" --include='*.cmake' |
    xargs -0 --no-run-if-empty sed -i "s|$work/prefix|\${CMAKE_CURRENT_LIST_DIR}/../../..|g"
  printf '%s\n%s\n' "$recipe" "$version" >"$work/prefix/ainvil-stamp"
  rm -rf "$kokkos"
  mv "$work/prefix" "$kokkos"
}

have_kokkos() {
  [[ $(head -n 1 "$kokkos/ainvil-stamp" 2>/dev/null) == "$recipe" ]]
}

get_source() {
  rm -rf "$cache"/build.* # of a run that was killed
  work=$(mktemp -d "$cache/build.XXXXXX") || die "cannot write into $cache"
  trap 'rm -rf "$work"' EXIT
  say "downloading Debian's source package trilinos (166 MB), which contains Kokkos"
  (download_trilinos "$work")
}

setup_kokkos() {
  local place
  if place=$(user_kokkos); then
    say "using the Kokkos Kernels in $place"
    return
  elif [[ -n ${Kokkos_ROOT:-} ]]; then
    die "Kokkos_ROOT is $Kokkos_ROOT, but Kokkos Kernels is not installed there. Install it there," \
      "or set KokkosKernels_ROOT too, or unset Kokkos_ROOT to have both built here."
  elif have_kokkos; then
    return
  fi
  if get_source; then
    unpack_kokkos
    build_kokkos
  else
    say "WARNING: the source package could not be had (network? last lines above)."
    say "WARNING: falling back to Debian's Kokkos, which is SERIAL: one core only. The next run" \
      "tries again; or set Kokkos_ROOT to a Kokkos with OpenMP."
    install_packages "${serial_packages[@]}"
  fi
}

# A Kokkos of the user's is of no use here: ThreadSanitizer must see what Kokkos does.
setup_tsan_kokkos() {
  kokkos=$cache/kokkos-tsan
  kokkos_options=(-DCMAKE_CXX_COMPILER=clang++
    "-DCMAKE_CXX_FLAGS=-gline-tables-only -fno-omit-frame-pointer -fsanitize=thread")
  unset Kokkos_ROOT KokkosKernels_ROOT CMAKE_PREFIX_PATH
  have_kokkos && return
  get_source || die "the source package could not be had (network? last lines above)"
  unpack_kokkos
  # Its atomic operations on doubles begin with a plain look at the value, which compare-and-exchange
  # confirms. That would be reported, and an exception for it would hide what races with them.
  sed -i 's/oldval\.t = \*dest;/__atomic_load((T*)dest, \&oldval.t, __ATOMIC_RELAXED);/' \
    "$work"/packages/kokkos/core/src/impl/Kokkos_Atomic_*.hpp
  build_kokkos
}

main() {
  local packages=("${build_packages[@]}")
  case ${1:-build} in
    build) ;;
    test) packages+=("${test_packages[@]}") ;;
    peers) packages+=("${test_packages[@]}" "${peers_packages[@]}") ;;
    fuzz) packages+=("${serial_packages[@]}" "${fuzz_packages[@]}") ;;
    tsan) packages+=("${fuzz_packages[@]}" "${tsan_packages[@]}") ;;
    *) die "unknown argument '$1'; use build, test, peers, fuzz or tsan" ;;
  esac
  if [[ ${AINVIL_SKIP_SETUP:-0} == 1 ]]; then
    say "skipped because AINVIL_SKIP_SETUP=1"
    return
  fi
  local ID=unknown VERSION_ID='' PRETTY_NAME=''
  # shellcheck source=/dev/null
  [[ -r /etc/os-release ]] && . /etc/os-release
  if [[ $ID != debian ]] || ! command -v apt-get >/dev/null; then
    die "this is ${PRETTY_NAME:-not Debian}, and only Debian's packages are known here. Install the" \
      "equivalents of: $(names "${packages[@]}"), and Kokkos with Kokkos Kernels; then set" \
      "Kokkos_ROOT and AINVIL_SKIP_SETUP=1 and run this again."
  fi
  [[ $VERSION_ID == 12 ]] || say "note: tested on Debian 12 only, this is ${PRETTY_NAME:-another}"

  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9 # two scripts at once: the second waits and finds everything done
  : >"$log"
  install_packages "${packages[@]}"
  case ${1:-build} in
    fuzz) ;;
    tsan) setup_tsan_kokkos ;;
    *) setup_kokkos ;;
  esac
  say "ready"
}

main "$@"
