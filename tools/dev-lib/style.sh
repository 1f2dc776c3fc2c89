# tools/dev check-style and format.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_format() {
  cat <<'HELP'
usage: tools/dev format

Applies clang-format to every tracked .h and .cpp.
HELP
}

cmd_format() {
  [[ $# -eq 0 ]] || usage_error "format takes no arguments, got '$*'" format
  need_tool clang-format-"$llvm_major"
  tracked '*.h' '*.hpp' '*.cpp' | xargs -r -d '\n' clang-format-"$llvm_major" -i
}

help_check_style() {
  cat <<'HELP'
usage: tools/dev check-style [--all | --since <revision>] [--budget <seconds>]

Three checks; the exit status is 0 only when all pass.

  1. clang-format finds nothing to change in any tracked .h and .cpp ('tools/dev format' applies it).
  2. clang-tidy finds nothing in the files changed since <revision> (default HEAD~1) or not committed;
     --all looks at every file. --budget stops starting new files after so many seconds and says what was left.
  3. The generated documentation in docs/dialects is what the sources generate.
HELP
}

check_format() {
  local files
  mapfile -t files < <(tracked '*.h' '*.hpp' '*.cpp')
  say "clang-format: ${#files[@]} files"
  [[ ${#files[@]} -gt 0 ]] || return 0
  if ! clang-format-"$llvm_major" --dry-run -Werror "${files[@]}"; then
    error "clang-format would change the files above; 'tools/dev format' applies it"
    return 1
  fi
}

# The sources to tidy: all, or those changed since a revision; a changed header stands for its own source.
tidy_candidates() {
  local since=$1
  if [[ -z $since ]]; then
    tracked '*.cpp'
    return
  fi
  git diff --name-only --diff-filter=d "$since" -- '*.cpp' '*.h' '*.hpp' | while IFS= read -r file; do
    local source=${file%.*}.cpp
    [[ ! -f $source ]] || echo "$source"
  done | sort -u
}

# tidy_one <compile database> <deadline> <folder for results> <file>; run by xargs, so in a shell of its own.
tidy_one() {
  if [[ $(date +%s) -ge $2 ]]; then
    echo "$4" >>"$3/left"
    return 0
  fi
  local output
  if ! output=$("clang-tidy-$llvm_major" -p "$1" --quiet "$4" 2>&1); then
    printf '%s\n' "$output" | grep -v '^[0-9]* warnings generated' || true
    echo "$4" >>"$3/failed"
  fi
  echo "$4" >>"$3/seen"
}

check_tidy() {
  local since=$1 budget=$2 build=build/release files results deadline
  local in_database
  [[ -f $build/compile_commands.json ]] || die "no $build/compile_commands.json for clang-tidy to read"
  in_database=$(python3 -c 'import json, sys; print("\n".join(entry["file"] for entry in json.load(open(sys.argv[1]))))' \
    "$build/compile_commands.json") || die "$build/compile_commands.json cannot be read"
  mapfile -t files < <(tidy_candidates "$since" | while IFS= read -r file; do
    ! grep -qxF "$root/$file" <<<"$in_database" || echo "$file"
  done)
  say "clang-tidy: ${#files[@]} files${since:+ changed since $since}${budget:+, within $budget s}"
  [[ ${#files[@]} -gt 0 ]] || return 0
  make_scratch
  results=$scratch
  touch "$results"/{seen,failed,left}
  deadline=$(($(date +%s) + ${budget:-1000000}))
  export -f tidy_one
  export llvm_major
  printf '%s\n' "${files[@]}" |
    xargs -d '\n' -P "$(jobs_count)" -n 1 bash -c 'tidy_one "$@"' _ "$build" "$deadline" "$results" || true
  local seen failed left
  seen=$(wc -l <"$results/seen") failed=$(wc -l <"$results/failed") left=$(wc -l <"$results/left")
  echo "clang-tidy: $seen looked at, $failed with findings$( ((left == 0)) || echo ", $left left for want of time")"
  [[ $failed -eq 0 ]]
}

check_docs() {
  say "generated documentation"
  if ! "$self" build release -- attnc-doc; then
    error "the documentation could not be generated"
    return 1
  fi
  local drift
  drift=$(git status --porcelain --untracked-files=all -- docs/dialects)
  # Staged changes are on their way in; only what differs from the index is drift.
  if ! git diff --exit-code -- docs/dialects || grep -q '^??' <<<"$drift"; then
    printf '%s\n' "$drift"
    error "docs/dialects is not what the sources generate; commit what 'ninja -C build/release attnc-doc' wrote"
    return 1
  fi
}

cmd_check_style() {
  local since='' budget='' all=''
  while [[ $# -gt 0 ]]; do
    case $1 in
    --all) all=yes ;;
    --since | --budget)
      [[ $# -gt 1 ]] || usage_error "$1 wants a value" check-style
      if [[ $1 == --since ]]; then since=$2; else budget=$2; fi
      shift
      ;;
    *) usage_error "unexpected argument '$1'" check-style ;;
    esac
    shift
  done
  [[ -z $budget || $budget =~ ^[0-9]+$ ]] || usage_error "--budget wants seconds, got '$budget'" check-style
  need_tool clang-format-"$llvm_major"
  need_tool clang-tidy-"$llvm_major"
  if [[ -n $since ]]; then
    git rev-parse --verify --quiet "$since^{commit}" >/dev/null || usage_error "no revision '$since'" check-style
  elif [[ -z $all ]]; then
    since=$(git rev-parse --verify --quiet 'HEAD~1^{commit}' || true)
    # A clone without history has nothing to compare with: look at all.
    since=${since:0:12}
  fi

  local failed=()
  check_format || failed+=(clang-format)
  # clang-tidy reads what TableGen writes and the precompiled header.
  "$self" build release -- attnc-headers AttncPrecompiled || die "the build that clang-tidy needs failed"
  check_tidy "$since" "$budget" || failed+=(clang-tidy)
  check_docs || failed+=("generated documentation")
  [[ ${#failed[@]} -eq 0 ]] || die "style: $(printf '%s; ' "${failed[@]}")see above"
  echo "style: all good"
}
