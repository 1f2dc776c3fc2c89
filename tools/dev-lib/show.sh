# tools/dev demo and bench: attnc at work.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_demo() {
  cat <<'HELP'
usage: tools/dev demo

Sets up, builds, and shows attnc at work on docs/examples: each spec is compiled for this CPU and verified against
the fp64 reference at the sizes on its '// DEMO:' line; then 'attnc explain' shows what the compiler decided.
HELP
}

# What a spec says of itself: the first line of its leading comment that is not for a tool.
spec_title() { awk '/^\/\/ (RUN|DEMO|REQUIRES):/ { next } /^\/\/ / { sub(/^\/\/ /, ""); print; exit }' "$1"; }
spec_demo_arguments() { sed -n 's|^// DEMO: *||p' "$1" | head -n 1; }

cmd_demo() {
  [[ $# -eq 0 ]] || usage_error "demo takes no arguments, got '$*'" demo
  "$self" setup
  ninja_build release
  local attnc=build/release/bin/attnc log arguments spec sizes title start verdict
  local passed=0 failed=0 shown=''
  make_scratch
  log=$scratch/log

  local specs=(docs/examples/*.mlir)
  [[ -f ${specs[0]} ]] || die "no examples in docs/examples"

  printf '\n%s%d examples, each compiled for this CPU and checked against the fp64 reference%s\n\n' "$bold" "${#specs[@]}" "$plain"
  printf '  %-28s %-44s %-8s %s\n' spec sizes verdict seconds
  for spec in "${specs[@]}"; do
    read -r -a arguments <<<"$(spec_demo_arguments "$spec")"
    if [[ ${#arguments[@]} -eq 0 ]]; then
      note "$spec has no '// DEMO:' line; left out"
      continue
    fi
    sizes="${arguments[*]}" sizes=${sizes#--shape }
    start=$EPOCHREALTIME
    if "$attnc" verify "$spec" --target=cpu "${arguments[@]}" >"$log" 2>&1; then
      verdict=right passed=$((passed + 1))
      # The most telling picture is that of a mask without a name.
      if [[ -z $shown || $spec == */streaming_llm.mlir ]]; then shown=$spec; fi
      printf '  %-28s %-44s %s%-8s%s %.2f\n' "$(basename "$spec")" "$sizes" "$green" "$verdict" "$plain" \
        "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
    else
      verdict=FAILED failed=$((failed + 1))
      printf '  %-28s %-44s %s%-8s%s\n' "$(basename "$spec")" "$sizes" "$red" "$verdict" "$plain"
      sed 's/^/      /' "$log"
    fi
  done
  [[ $((passed + failed)) -gt 0 ]] || die "no example has a '// DEMO:' line"

  if [[ -n $shown ]]; then
    title=$(spec_title "$shown")
    read -r -a arguments <<<"$(spec_demo_arguments "$shown")"
    printf '\n%sWhat the compiler decided for %s%s%s\n\n' "$bold" "$(basename "$shown")" "${title:+: $title}" "$plain"
    "$attnc" explain "$shown" --target=cpu "${arguments[@]}" || failed=$((failed + 1))
  fi

  if [[ $failed -gt 0 ]]; then
    printf '\n%s%d of the steps above failed%s\n' "$red" "$failed" "$plain"
    exit 1
  fi
  printf '\n%sAll %d examples are right.%s Next: edit one of docs/examples and run\n  %s verify <spec> --help\n' \
    "$green" "$passed" "$plain" "$attnc"
}

help_bench() {
  cat <<'HELP'
usage: tools/dev bench [arguments of Google Benchmark]

Builds and runs bin/attnc-bench; OpenBLAS doing the same products is the peer beside each row.

  tools/dev bench --benchmark_filter=forward
  tools/dev bench --benchmark_format=json > bench.json
HELP
}

cmd_bench() {
  ninja_build release attnc-bench >&2
  exec build/release/bin/attnc-bench "$@"
}
