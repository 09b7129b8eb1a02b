# What the scripts that run several studies share; sourced by them. They set `bin`, the folder of the programs,
# and `out`, that of the results.
# shellcheck shell=bash

# usage: prints the comment at the head of the script.
usage() {
  sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"
}

# find_programs BUILD: sets `bin`.
find_programs() {
  bin=$(cd "$1/bin" 2>/dev/null && pwd) && [[ -x $bin/ainvil-solve ]] || {
    echo "$(basename "$0" .sh): $1/bin has no ainvil-solve; cmake --preset openmp && cmake --build --preset openmp" >&2
    exit 2
  }
}

# all_cores: a thread on each of them, spread, unless the environment says otherwise.
all_cores() {
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(nproc)} OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-cores}
}

# study NAME COMMAND...: runs a command that writes $out/NAME.jsonl; code 3, some run did not converge, is a
# result too. One that fails does not keep the others from running: see finish.
failed=()
study() {
  local name=$1 start=$SECONDS code=0
  shift
  "$@" >"$out/$name.txt" 2>&1 || code=$?
  if ((code != 0 && code != 3)); then
    echo "$(basename "$0" .sh): $name failed with code $code; the end of $out/$name.txt:" >&2
    tail -n 5 "$out/$name.txt" >&2
    failed+=("$name")
    return
  fi
  echo "$name: $((SECONDS - start)) s"
}

# Several calls of ainvil-solve, one file: NAME, then "PROBLEM [OPTION]..." for each call.
solves() {
  local name=$1 call part=$out/.part.jsonl code
  shift
  : >"$out/$name.jsonl"
  for call in "$@"; do
    code=0
    # shellcheck disable=SC2086 # words of the call
    "$bin/ainvil-solve" --problem $call --json "$part" || code=$?
    ((code == 0 || code == 3)) || return $code
    cat "$part" >>"$out/$name.jsonl"
  done
  rm -f "$part"
}

# preconds SPEC...: as options of ainvil-solve.
preconds() {
  printf -- '--precond %s ' "$@"
}

# block_systems SIZE: sets `block_systems`, an array of "PROBLEM [OPTION]...", to those of the Block-ISAI
# comparison. Tolerances are 1e-8 unless they say otherwise.
block_systems() {
  # shellcheck disable=SC2034 # for the script
  case $1 in
    full)
      block_systems=("cavity:300 --tol 1e-5" "cavity:600 --tol 1e-5" "convdiff:148x148x58 --block-size 4"
        "shell:253x399" "euler:15606")
      ;;
    quick)
      block_systems=("cavity:60 --tol 1e-5" "cavity:120 --tol 1e-5" "convdiff:36x36x16 --block-size 4"
        "shell:40x60" "euler:2000")
      ;;
    smoke) block_systems=("cavity:10 --tol 1e-5" "shell:6x8") ;;
  esac
}

# finish: the exit code of the script.
finish() {
  ((${#failed[@]} == 0)) || {
    echo "$(basename "$0" .sh): failed: ${failed[*]}" >&2
    exit 1
  }
}

# validate: checks all records in $out where python3-jsonschema is installed.
validate() {
  if ! python3 -c 'import jsonschema' 2>/dev/null; then
    echo "validate: skipped, python3-jsonschema is not installed"
  elif "$(dirname "${BASH_SOURCE[0]}")/validate.py" "$out"/*.jsonl >"$out/validate.txt"; then
    echo "validate: $(cat "$out"/*.jsonl | wc -l) records follow perf/records.schema.json"
  else
    cat "$out/validate.txt" >&2
    failed+=(validate)
  fi
}
