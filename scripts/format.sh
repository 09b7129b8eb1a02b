#!/usr/bin/env bash
# Checks the format of all C and C++ files that git tracks or would (git add), or rewrites them.
#
#   scripts/format.sh check   lists what .clang-format would change, and lambdas that do not belong
#                             into headers; fails if there is anything
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
git() {
  command git -c safe.directory='*' "$@"
}
format_all() {
  git ls-files -z --cached --others --exclude-standard '*.hpp' '*.cpp' '*.h' '*.c' |
    xargs -0 --no-run-if-empty clang-format --style=file "$@"
}
format_all "${action[@]}"
# Where a comment was wrapped anew, a second pass may move more words.
[[ ${action[0]} != -i ]] || format_all -i
# nvcc makes what copies a host-device lambda anew in every object file, but the linker keeps only one
# of the equal launches that several files have: it may copy by a pointer that nobody has set.
if git grep -n --untracked -e KOKKOS_LAMBDA -e KOKKOS_CLASS_LAMBDA -- '*.hpp'; then
  echo "format: kernels in headers must be functors, not lambdas (CUDA programs crash by them)" >&2
  exit 1
fi
echo "format: ok"
