#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes the tables of docs/parameters.md from those the program parses specifications with.
# usage: scripts/parameters.sh [build/openmp/bin/ainvil-solve]
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/parameters.md
written=$(mktemp)
trap 'rm -f "$written"' EXIT
sed '/^<!-- tables -->$/q' "$page" >"$written"
echo >>"$written"
"${1:-build/openmp/bin/ainvil-solve}" --parameters >>"$written"
sed -n '/^<!-- end of tables -->$/,$p' "$page" >>"$written"
cat "$written" >"$page"
