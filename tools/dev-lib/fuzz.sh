# tools/dev fuzz and fuzz-specs.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_fuzz() {
  cat <<'HELP'
usage: tools/dev fuzz [seconds] [--preset <preset>] [fuzzer...]

Builds the libFuzzer programs, and process_fuzzer, which runs attnc itself on odd specs, files and command lines, and
runs each for so many seconds (default 60), or only the ones named, from the seeds in test/fuzz/seeds/<fuzzer>/. Seeds
are copied first: the tree is not written to. An input that crashes is kept in build/<preset>/fuzz/, with the command
that replays it.
HELP
}

cmd_fuzz() {
  local seconds=60 preset=release chosen=()
  while [[ $# -gt 0 ]]; do
    case $1 in
    --preset)
      [[ $# -gt 1 ]] || usage_error "--preset wants a value" fuzz
      preset=$2
      shift
      ;;
    -*) usage_error "unknown option '$1'" fuzz ;;
    *[!0-9]*) chosen+=("$1") ;;
    *) seconds=$1 ;;
    esac
    shift
  done
  check_preset "$preset"
  ninja_build "$preset" attnc-fuzzers

  local fuzzers=() fuzzer
  if [[ ${#chosen[@]} -gt 0 ]]; then
    for fuzzer in "${chosen[@]}"; do
      [[ -x build/$preset/bin/$fuzzer ]] || die "no fuzzer '$fuzzer' in build/$preset/bin"
      fuzzers+=("build/$preset/bin/$fuzzer")
    done
  else
    fuzzers=(build/"$preset"/bin/*_fuzzer)
    [[ -x ${fuzzers[0]} ]] || die "attnc-fuzzers built no fuzzer"
  fi

  local corpus kept=build/$preset/fuzz log name failed=0 first i running=() jobs
  jobs=$(jobs_count)
  make_scratch
  mkdir -p "$kept"
  for ((first = 0; first < ${#fuzzers[@]}; first += jobs)); do
    # As many at once as there are cores, and then what they found.
    running=()
    for fuzzer in "${fuzzers[@]:first:jobs}"; do
      name=$(basename "$fuzzer")
      corpus=$scratch/$name
      mkdir "$corpus"
      [[ ! -d test/fuzz/seeds/$name ]] || cp -R "test/fuzz/seeds/$name/." "$corpus/"
      say "$name: $seconds s from $(find "$corpus" -type f | wc -l) seeds"
      # A run that stops of itself ends shortly after its time; the outer limit is for one that hangs.
      timeout --kill-after=10 $((seconds + 120)) "$fuzzer" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=4096 \
        -print_final_stats=1 -artifact_prefix="$kept/$name-" "$corpus" </dev/null >"$kept/$name.log" 2>&1 &
      running+=($!)
    done
    for i in "${!running[@]}"; do
      fuzzer=${fuzzers[first + i]}
      name=$(basename "$fuzzer")
      log=$kept/$name.log
      if wait "${running[i]}"; then
        awk '/^stat::number_of_executed_units:|^stat::peak_rss_mb:/ { print "    " $0 }' "$log"
        printf '    %s%s: nothing found%s\n' "$green" "$name" "$plain"
      else
        failed=$((failed + 1))
        tail -n 60 "$log" | sed 's/^/    /'
        error "$name found something; log: $log"
        sed -n "s|.*Test unit written to \(.*\)|dev: note: replay it with: $fuzzer \1|p" "$log" >&2
      fi
    done
  done
  [[ $failed -eq 0 ]] || die "$failed of ${#fuzzers[@]} fuzzers found something"
}

help_fuzz_specs() {
  cat <<'HELP'
usage: tools/dev fuzz-specs [--count N] [--seed S] [--target T...] [--only K] [more]

Draws N random specs (default 300): well-typed score and mask regions over every operation that a region may hold,
clauses, shapes, dtypes, captured tensors and scalars. Each runs on each target (default cpu), or with --backward its
gradients do, and is judged against the fp64 reference by the rule of docs/spec.md, and the reference against a reading
of the rules in numpy. Refusals with a line and a reason are counted; all else is a failure. Failures are made small,
printed with the command that repeats them, and kept with their inputs in build/release/fuzz-specs/.

  tools/dev fuzz-specs --count 10000 --seed 5               many more, on the CPU
  tools/dev fuzz-specs --target sim:sm_90a sim:sm_80        small shapes, in the simulator
  tools/dev fuzz-specs --backward --target cpu sim:sm_80    gradients
  tools/dev fuzz-specs --seed 5 --only 17 --target cpu      one of them, shown and judged
  tools/dev fuzz-specs --spec spec.mlir --inputs inputs.safetensors    one that was kept, or edited

test/fuzz/specs/fuzz_specs.py says the rest with --help. On a machine with a GPU: 'run.sh fuzz-specs' of the gpu-bundle.
HELP
}

cmd_fuzz_specs() {
  .venv/bin/python -c 'import numpy' 2>/dev/null || "$self" setup --numpy
  [[ " $* " == *" --binary "* ]] || ninja_build release attnc-conformance-tests
  .venv/bin/python test/fuzz/specs/fuzz_specs.py "$@"
}
