# tools/dev test, conformance and sanitize.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_test() {
  cat <<'HELP'
usage: tools/dev test [--preset <preset>] [--filter <regex>]

Sets up the machine, builds, and runs lit, the unit tests and the quick part of the conformance grid. Tests that
need hardware which is not there (a GPU, say) are skipped, and counted as skipped.

  --preset <preset>   release (default), debug, asan or tsan
  --filter <regex>    only tests whose name matches, as in lit

The last line reads 'N passed, M failed' (', K skipped' may follow). The exit status is 0 only when nothing failed.
HELP
}

# Counts the summaries that lit printed into a log: '<passed> <failed> <skipped>'.
count_results() {
  awk '
    /^Total Discovered Tests:/ { summary = 1; next }
    summary && /^  [A-Z][A-Za-z ]*: +[0-9]+ \(/ {
      label = $0; sub(/^ +/, "", label); sub(/ *:.*/, "", label)
      number = $0; sub(/^[^:]*: */, "", number); number += 0
      if (label ~ /^(Passed|Passed With Retry|Expectedly Failed)$/) passed += number
      else if (label ~ /^(Skipped|Unsupported)$/) skipped += number
      else if (label != "Excluded") failed += number
      next
    }
    { summary = 0 }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# run_counted <preset> <target>: builds and runs a test target; the last line says how it went.
run_counted() {
  local preset=$1 target=$2 log status=0 passed=0 failed=0 skipped=0
  mkdir -p "build/$preset"
  log=build/$preset/$target.log
  # The build is a process of its own: 'set -e' does not act inside a tested function.
  if "$self" build "$preset" -- all attnc-tests; then
    say "running $target"
    set +e
    ninja -C "build/$preset" "$target" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    read -r passed failed skipped < <(count_results "$log")
    if [[ $status -eq 0 && $failed -gt 0 ]]; then
      status=1
    elif [[ $status -ne 0 && $failed -eq 0 ]]; then
      error "$target failed outside of the tests themselves; its log is $log"
      failed=1
    elif [[ $((passed + failed)) -eq 0 ]]; then
      error "$target ran no test"
      status=1 failed=1
    fi
  else
    error "the build failed, so no test ran; the failure is counted as one"
    status=1 failed=1
  fi
  local line="$passed passed, $failed failed"
  [[ $skipped -eq 0 ]] || line+=", $skipped skipped"
  echo "$line"
  return "$status"
}

cmd_test() {
  local preset=release
  while [[ $# -gt 0 ]]; do
    case $1 in
    --preset | --filter)
      [[ $# -gt 1 ]] || usage_error "$1 wants a value" test
      if [[ $1 == --preset ]]; then preset=$2; else export LIT_FILTER=$2; fi
      shift 2
      ;;
    *) usage_error "unexpected argument '$1'" test ;;
    esac
  done
  check_preset "$preset"
  if ! "$self" setup; then
    echo "0 passed, 1 failed"
    exit 1
  fi
  run_counted "$preset" check-attnc
}

help_conformance() {
  cat <<'HELP'
usage: tools/dev conformance

Builds and runs the whole conformance grid (docs: "When is an answer right"), a quarter of an hour on two cores; the last
line reads 'N passed, M failed'. 'tools/dev test' runs its quick part.
HELP
}

cmd_conformance() {
  [[ $# -eq 0 ]] || usage_error "conformance takes no arguments, got '$*'" conformance
  export ATTNC_CONFORMANCE=full
  run_counted release check-attnc-conformance
}

help_sanitize() {
  cat <<'HELP'
usage: tools/dev sanitize [runtime] [cache] [engine]

Builds the tests of the runtime and of the cache, which need no compiler, in build/asan (AddressSanitizer and
UndefinedBehaviorSanitizer) and build/tsan (ThreadSanitizer), and those of the engine in build/release, where the C API,
the cache and the engine are under a sanitizer and the compiler is as it is. Runs all at once, or those that are named:
some three minutes. 'tools/dev test' runs those of the engine as well. All other tests under a sanitizer, an hour:
'tools/dev test --preset asan'.
HELP
}

cmd_sanitize() {
  local preset suite failed=0 programs=() running=() targets=() i
  [[ $# -gt 0 ]] || set -- runtime cache engine
  for suite in "$@"; do
    case $suite in
    runtime | cache) targets+=("attnc-$suite-tests") ;;
    engine) programs+=(build/release/test/unit/attnc-engine-{address,thread}-tests) ;;
    *) usage_error "no tests of '$suite': expected runtime, cache or engine" sanitize ;;
    esac
  done
  [[ ${#programs[@]} -eq 0 ]] || ninja_build release attnc-engine-address-tests attnc-engine-thread-tests
  for preset in asan tsan; do
    [[ ${#targets[@]} -gt 0 ]] || break
    ninja_build "$preset" "${targets[@]}"
    programs+=("${targets[@]/#/build/$preset/test/unit/}")
  done

  # As for lit: LLVM's allocators hand out memory that our copies of their templates have poisoned.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-allow_user_poisoning=0}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
  export ATTNC_STRESS=${ATTNC_STRESS:-100}
  make_scratch
  say "running ${#programs[@]} programs at once"
  for i in "${!programs[@]}"; do
    "${programs[i]}" --gtest_brief=1 >"$scratch/$i.log" 2>&1 &
    running+=($!)
  done
  for i in "${!programs[@]}"; do
    wait "${running[i]}" || failed=$((failed + 1))
    printf '+ %s\n' "${programs[i]}"
    cat "$scratch/$i.log"
  done
  [[ $failed -eq 0 ]] || die "$failed of ${#programs[@]} programs failed under a sanitizer"
}
