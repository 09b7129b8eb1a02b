#!/usr/bin/env bash
# Installs what Ainvil needs on Debian 12: packages, and a Kokkos with OpenMP in .cache/.
#
#   scripts/setup.sh build   what scripts/quickstart.sh needs (the default)
#   scripts/setup.sh test    what scripts/test.sh needs: the same, Trilinos and clang-format
#
# Needs root or sudo only when a package is missing. Run again at will: what is there stays there.
# A Kokkos with Kokkos Kernels that Kokkos_ROOT, KokkosKernels_ROOT or CMAKE_PREFIX_PATH leads to is
# used instead of building one. AINVIL_SKIP_SETUP=1 skips everything, for machines without apt.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache
log=$cache/setup.log
kokkos=$cache/kokkos-openmp
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
  "ca-certificates downloads over https"
)
# libptscotch-dev: what is linked with Ifpack2 needs it, and Debian's packages do not say so.
test_packages=(
  "trilinos-all-dev  Tpetra, Belos, Ifpack2; about 400 MB"
  "libptscotch-dev   Ifpack2"
  "openmpi-bin       runs the tests with several processes"
  "python3           runs the tests of the command line"
  "clang-format      style check"
)
# What a program needs that is linked with Debian's Kokkos Kernels.
serial_packages=(
  "libtrilinos-kokkos-dev          Kokkos without OpenMP"
  "libtrilinos-kokkos-kernels-dev  Kokkos Kernels"
  "liblapack-dev                   Kokkos Kernels is linked with it"
  "libblas-dev                     Kokkos Kernels is linked with it"
)

say() { echo "setup: $*"; }
die() {
  echo "setup: $*" >&2
  exit 1
}
names() { echo "${@%% *}"; }

# Runs a command with its output in the log; on failure shows the end of it.
logged() {
  echo "+ $*" >>"$log"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 6 "$log" >&2
    return 1
  fi
}

installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_packages "name  purpose"...: installs those that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    installed "${package%% *}" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local list
  list=$(names "${missing[@]}")

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "these packages are missing, and this is neither root nor is there sudo. As root, run:" \
        "apt-get install $list"
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n) # nobody is there to type a password
    say "asking sudo for the right to install packages"
    "${as_root[@]}" true ||
      die "sudo refused. These packages are missing; as root, run: apt-get install $list"
  fi
  say "installing Debian packages that are missing (details in $log):"
  printf '  %s\n' "${missing[@]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)
  # An unreachable third-party archive must not stop us, so only the installation decides.
  logged "${apt[@]}" update || say "apt-get update had errors (above); going on"
  # shellcheck disable=SC2086 # one word for each package
  logged "${apt[@]}" install -y --no-install-recommends $list ||
    die "apt-get could not install them (its last lines are above). Check the network connection" \
      "and the apt sources, then run this again."
}

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

# Writes into directory $1 a copy of the machine's entries for Debian's own archive, component main,
# that asks for sources instead of packages.
write_source_entries() {
  local archive='^(mirror[+]file:.*/debian[.]list|[a-z+]+://([^/]+[.])?debian[.]org/.*|.*/debian/?)$'
  local files=() file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -r $file ]] && files+=("$file")
  done
  # deb [options] uri suite component...
  ((${#files[@]} == 0)) || awk -v archive="$archive" '
    $1 == "deb" {
      options = ""; field = 2
      if ($2 ~ /^\[/)
        do options = options $field " "; while ($(field++) !~ /\]$/ && field <= NF)
      uri = $field; suite = $(field + 1); main = 0
      for (i = field + 2; i <= NF; ++i) main = main || $i == "main"
      if (main && uri ~ archive && suite ~ /^[a-z]+$/)
        print "deb-src " options uri " " suite " main"
    }' "${files[@]}" >"$1/ainvil.list"

  files=()
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -r $file ]] && files+=("$file")
  done
  # Stanzas of "Field: value" with continuation lines, which Signed-By may have.
  ((${#files[@]} == 0)) || awk -v archive="$archive" '
    function finish(  i, n, word, uris, suites) {
      n = split(value["uris"], word); uris = ""
      for (i = 1; i <= n; ++i) if (word[i] ~ archive) uris = uris " " word[i]
      n = split(value["suites"], word); suites = ""
      for (i = 1; i <= n; ++i) if (word[i] ~ /^[a-z]+$/) suites = suites " " word[i]
      if ((" " value["types"] " ") ~ / deb / && (" " value["components"] " ") ~ / main / &&
          value["enabled"] !~ /^ *(no|false|0)/ && uris != "" && suites != "") {
        print "Types: deb-src\nURIs:" uris "\nSuites:" suites "\nComponents: main"
        if ("signed-by" in value) print "Signed-By:" value["signed-by"]
        print ""
      }
      delete value; field = ""
    }
    FNR == 1 && NR > 1 { finish() }
    /^#/ { next }
    /^[ \t]*$/ { finish(); next }
    /^[ \t]/ { value[field] = value[field] "\n" $0; next }
    { field = tolower($0); sub(/:.*/, "", field); text = $0; sub(/^[^:]*:/, "", text)
      value[field] = text }
    END { finish() }' "${files[@]}" >"$1/ainvil.sources"

  find "$1" -size 0 -delete
  compgen -G "$1/*" >/dev/null
}

# Downloads Debian's source package trilinos into directory $1, verified by apt against the signed
# index of the archive. Lists and settings are private, the machine's apt is left as it is.
download_trilinos() {
  mkdir -p "$1/parts" "$1/lists/partial" "$1/source"
  if ! write_source_entries "$1/parts"; then
    say "found no entry for Debian's archive in /etc/apt"
    return 1
  fi
  local apt=(apt-get -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$1/parts"
    -o "Dir::State::lists=$1/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=2)
  logged "${apt[@]}" update || return 1
  cd "$1/source" && logged "${apt[@]}" source --download-only trilinos
}

# Configures, builds and installs one of the two into $work/prefix.
build_part() {
  local name=$1
  shift
  logged cmake -S "$work/packages/$name" -B "$work/build-$name" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF "$@" &&
    logged cmake --build "$work/build-$name" --target install
}

# Builds Kokkos and Kokkos Kernels with OpenMP from the sources in $work. The result appears in one
# step, by a rename, so that an interrupted build leaves nothing that looks finished.
build_kokkos() {
  say "building Kokkos and Kokkos Kernels with OpenMP into .cache/kokkos-openmp"
  local archive version
  archive=$(compgen -G "$work/source/trilinos_*.orig.tar.*" | head -n 1)
  version=$(basename "$work"/source/trilinos_*.dsc .dsc)
  logged tar -xf "$archive" -C "$work" --strip-components=1 --wildcards \
    '*/packages/kokkos/*' '*/packages/kokkos-kernels/*' ||
    die "could not unpack the sources of Kokkos"
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

setup_kokkos() {
  local place
  if place=$(user_kokkos); then
    say "using the Kokkos Kernels in $place"
    return
  elif [[ -n ${Kokkos_ROOT:-} ]]; then
    die "Kokkos_ROOT is $Kokkos_ROOT, but Kokkos Kernels is not installed there. Install it there," \
      "or set KokkosKernels_ROOT too, or unset Kokkos_ROOT to have both built here."
  elif [[ $(head -n 1 "$kokkos/ainvil-stamp" 2>/dev/null) == "$recipe" ]]; then
    return
  fi
  rm -rf "$cache"/build.* # of a run that was killed
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  say "downloading Debian's source package trilinos (166 MB), which contains Kokkos"
  if (download_trilinos "$work"); then
    build_kokkos
  else
    say "WARNING: the source package could not be had (network? last lines above)."
    say "WARNING: falling back to Debian's Kokkos, which is SERIAL: one core only. The next run" \
      "tries again; or set Kokkos_ROOT to a Kokkos with OpenMP."
    install_packages "${serial_packages[@]}"
  fi
}

main() {
  local packages=("${build_packages[@]}")
  case ${1:-build} in
    build) ;;
    test) packages+=("${test_packages[@]}") ;;
    *) die "unknown argument '$1'; use build or test" ;;
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
  setup_kokkos
  say "ready"
}

main "$@"
