# What the scripts that run studies share; sourced by them. They set `bin`, the folder of the programs,
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

# start_commands FILE ARGUMENT...: starts the list of the commands of a run, FILE.commands beside its records:
# the date and the call of the script, then the name of a file of records and a command that wrote to it,
# between tabs. perf/report.py shows them above its tables.
start_commands() {
  local script
  script=$(basename "$0")
  commands=$1.commands
  shift
  printf '%s\t%s\n' "$(date -u +%F)" "perf/$script $*" >"$commands"
}

# list_command NAME WORD...: adds a command to the list, the program without its folder and without the file
# of records, which --json names last.
list_command() {
  local name=$1 word line
  line=$(basename "$2")
  shift 2
  for word in "$@"; do
    [[ $word == --json ]] && break
    [[ $word == *[[:space:]]* ]] && word="\"$word\""
    line+=" $word"
  done
  printf '%s\t%s\n' "$name" "$line" >>"$commands"
}

# study NAME COMMAND...: runs a command that writes $out/NAME.jsonl; code 3, some run did not converge, is a
# result too. One that fails does not keep the others from running: see finish.
failed=()
study() {
  local name=$1 start=$SECONDS code=0
  shift
  [[ $1 == "$bin"/* ]] && list_command "$name" "$@"
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
    list_command "$name" ainvil-solve --problem $call
    # shellcheck disable=SC2086
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

# tell_report SIZE: what writes pages from the records; those of docs/results are of full problems.
tell_report() {
  local pages=docs/results
  [[ $1 == full ]] || pages=$out/pages
  echo "pages: perf/report.py $out -o $pages"
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
