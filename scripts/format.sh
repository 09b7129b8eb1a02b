#!/usr/bin/env bash
# Checks the format of all C++ files that git tracks, or rewrites them.
#
#   scripts/format.sh check   lists what .clang-format would change; fails if there is anything
#   scripts/format.sh --fix   changes it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-check} in
  check) action=(--dry-run -Werror) ;;
  --fix) action=(-i) ;;
  *)
    echo "format: unknown argument '$1'; use check or --fix" >&2
    exit 1
    ;;
esac
command -v clang-format >/dev/null || {
  echo "format: clang-format is missing; scripts/setup.sh test installs it" >&2
  exit 1
}
# A CI checkout may belong to another user, which git refuses unless told that it is meant.
format_all() {
  git -c safe.directory='*' ls-files -z '*.hpp' '*.cpp' |
    xargs -0 --no-run-if-empty clang-format --style=file "$@"
}
format_all "${action[@]}"
# Where a comment was wrapped anew, a second pass may move more words.
[[ ${action[0]} != -i ]] || format_all -i
echo "format: ok"
