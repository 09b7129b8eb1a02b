#!/usr/bin/env bash
# Builds the reference manual into build/manual/html with doxygen, which it installs if need be.
# Fails if anything public lacks a comment or a comment names what is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build
log=$PWD/build/manual.log
: >"$log"

# shellcheck source=scripts/debian.sh
. scripts/debian.sh

command -v doxygen >/dev/null || install_packages "doxygen  reference manual"
AINVIL_VERSION=$(sed -n 's/^project(Ainvil VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
export AINVIL_VERSION
rm -rf build/manual
mkdir build/manual
doxygen docs/Doxyfile || die "the manual has the faults above"
say "build/manual/html/index.html"
