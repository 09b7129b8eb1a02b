# shellcheck shell=bash
# What the scripts for Debian share; sourced, never run: messages, a log, missing packages, and the
# download of Debian's source package of Trilinos.

log=${log:?must name the log}
program=$(basename "$0" .sh)
say() { echo "$program: $*"; }
die() {
  echo "$program: $*" >&2
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
