# tools/dev build, and the builds that other commands begin with; tools/dev clean.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_build() {
  cat <<'HELP'
usage: tools/dev build [preset] [-- target...]

Configures build/<preset> when needed and builds it (everything, or the targets named).

  release   optimised, as shipped (default)
  debug     assertions and symbols
  asan      AddressSanitizer and UndefinedBehaviorSanitizer
  tsan      ThreadSanitizer

The program is build/<preset>/bin/attnc. A file that includes much of MLIR takes a while to compile; ccache, when
present, makes the second time fast. ATTNC_JOBS=n sets the number of parallel compilations.
HELP
}

# Compilations at once: one a core, and no more than memory holds at 2 GiB each (files that include much of MLIR).
jobs_count() {
  if [[ -n ${ATTNC_JOBS:-} ]]; then
    echo "$ATTNC_JOBS"
    return
  fi
  local cores memory limit
  cores=$(nproc)
  memory=$(awk '/^MemTotal:/ { printf "%d", $2 / 1048576 }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [[ $limit =~ ^[0-9]+$ ]] && ((limit >> 30 < memory)); then memory=$((limit >> 30)); fi
  local by_memory=$((memory / 2 > 0 ? memory / 2 : 1))
  echo $((cores < by_memory ? cores : by_memory))
}

check_preset() {
  case $1 in
  release | debug | asan | tsan) ;;
  *) usage_error "unknown preset '$1': expected release, debug, asan or tsan" build ;;
  esac
}

configure() {
  local preset=$1 arguments=()
  local tool
  for tool in cmake ninja; do
    command -v "$tool" >/dev/null || die "no $tool on this machine; 'tools/dev setup' installs it"
  done
  [[ -z ${LLVM_DIR:-} ]] || arguments+=(-DLLVM_DIR="$LLVM_DIR")
  [[ -z ${MLIR_DIR:-} ]] || arguments+=(-DMLIR_DIR="$MLIR_DIR")
  if [[ ! -f build/$preset/build.ninja || ${#arguments[@]} -gt 0 ]]; then
    say "configuring build/$preset"
    traced cmake --preset "$preset" "${arguments[@]}"
  fi
  ln -sfn "build/$preset/compile_commands.json" compile_commands.json
}

# ninja_build <preset> <target...>
ninja_build() {
  local preset=$1
  shift
  configure "$preset"
  say "building ${*:-everything} in build/$preset"
  traced ninja -C "build/$preset" -j "$(jobs_count)" "$@"
}

cmd_build() {
  local preset=release
  if [[ $# -gt 0 && $1 != -- ]]; then
    preset=$1
    shift
  fi
  check_preset "$preset"
  if [[ $# -gt 0 ]]; then
    [[ $1 == -- ]] || usage_error "unexpected argument '$1'" build
    shift
  fi
  ninja_build "$preset" "$@"
}

help_clean() {
  cat <<'HELP'
usage: tools/dev clean

Removes build/ and dist/. ccache keeps its own cache: 'ccache --clear' empties it.
HELP
}

cmd_clean() {
  [[ $# -eq 0 ]] || usage_error "clean takes no arguments, got '$*'" clean
  rm -rf build dist compile_commands.json
}
