#!/usr/bin/env bash
# What only a machine with a GPU can tell. From a release archive it needs a driver, Python 3.10 and, for what it names,
# NVIDIA's ptxas, compute-sanitizer and ncu; nothing is built and nothing is fetched.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
target=nvptx:sm_90a

help() {
  cat <<'HELP'
usage: run.sh [--target T] <command> [arguments]

  verify [grid.py's options]       the conformance grid against the fp64 reference; --extent full for all of it
  fuzz-specs [its options]         random specs against the fp64 reference and numpy; --count 5000 --seed 1
  examples                         each example at the sizes on its '// DEMO:' line
  sanitize [tool...]               some twenty small kernels under compute-sanitizer: memcheck racecheck initcheck synccheck
  graphs                           launches captured in CUDA graphs and replayed on new data; needs PyTorch
  bench [peers.py's options]       beside cuDNN and FlexAttention; needs PyTorch
  data [peers.py's options]        speed and errors by data beside cuDNN, within three minutes; needs PyTorch
  python [pytest's options]        the package for Python on tensors of torch and JAX; needs its wheel and pytest installed
  tune [tuning.py's options]       what tuning gains over the heuristics on 20 specs, as a table; --save DIR keeps records
  all                              examples, verify, sanitize, graphs, bench --quick

The target is nvptx:sm_90a unless --target says otherwise. 'run.sh verify --help', 'run.sh fuzz-specs --help',
'run.sh bench --help' and 'run.sh tune --help' list options.
HELP
}

die() {
  printf 'run.sh: error: %s\n' "$*" >&2
  exit 2
}

# In an installation, then in a build tree.
find_first() {
  local path
  for path in "$@"; do
    [[ ! -e $path ]] || { readlink -f "$path"; return; }
  done
  die "none of these is here: $*"
}
attnc=$(find_first "$here/../../../bin/attnc" "$here/../../build/release/bin/attnc")
examples=$(find_first "$here/../../../examples" "$here/../../docs/examples")
grid=$(find_first "$here/grid.py")
specs=$(find_first "$here/specs/fuzz_specs.py" "$here/../fuzz/specs/fuzz_specs.py")
graphs=$(find_first "$here/graph_replay.py")
peers=$here/peers.py
[[ -e $peers ]] || peers=$here/../bench/peers.py
tuning=$(find_first "$here/tuning.py" "$here/../bench/tuning.py")

for folder in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer; do
  [[ ! -d $folder ]] || PATH=$PATH:$folder
done
export PATH

jobs=$(nproc)

# Runs commands, one on each line of standard input as 'name<TAB>command', and says which fail; logs are shown for those.
run_lines() {
  local logs failed total
  logs=$(mktemp -d)
  # shellcheck disable=SC2016 # for the inner shell
  xargs -d '\n' -P "$jobs" -I '{}' bash -c '
    name=${1%%$'"'\t'"'*} command=${1#*$'"'\t'"'} logs=$2
    if timeout 300 bash -c "$command" >"$logs/$name.log" 2>&1; then
      echo "right  $name"
      mv "$logs/$name.log" "$logs/$name.right"
    else
      echo "FAILED $name (exit status $?)"
    fi' _ '{}' "$logs"
  failed=$(find "$logs" -name '*.log' | wc -l) total=$(find "$logs" -type f | wc -l)
  local log
  for log in "$logs"/*.log; do
    [[ -e $log ]] || continue
    printf '\n--- %s\n' "$(basename "$log" .log)"
    head -c 1500 "$log"
  done
  rm -rf "$logs"
  printf '\n%d passed, %d failed\n' "$((total - failed))" "$failed"
  [[ $failed -eq 0 ]]
}

cmd_examples() {
  local spec sizes
  for spec in "$examples"/*.mlir; do
    sizes=$(sed -n 's|^// DEMO: *||p' "$spec" | head -n 1)
    [[ -n $sizes ]] || continue
    printf '%s\t%q verify %q --target %q %s --repeat 3\n' "$(basename "$spec" .mlir)" "$attnc" "$spec" "$target" "$sizes"
  done | run_lines
}

# A dozen specs, each with its own way through the compiler, at sizes that end inside of tiles; and gradients of some: by
# one program, by two, with what rows and columns add up for captured tensors, and where data decides about tiles.
sanitized=(
  "llama3 B=1,Sq=130,Sk=200" "vit B=1,Sq=140,Sk=140" "mistral B=1,Sq=5,Sk=300" "gemma2 B=1,Sq=70,Sk=170"
  "bloom B=1,Sq=90,Sk=150" "t5 B=1,Sq=70,Sk=133" "gpt_oss B=1,Sq=65,Sk=190" "varlen B=3,Tq=200,Tk=200"
  "paged_decode B=3,Sq=2,Sk=320,P=70"
  "packed_documents B=1,Sq=200" "training_dropout B=1,Sq=100,Sk=131" "cross_attention B=2,Sq=50,Sk=140"
  "deepseek_mla_prefill B=1,Sq=40,Sk=100" "prefix_lm B=2,Sq=90,Sk=90" "streaming_llm B=1,Sq=130,Sk=260"
  "llama3 B=1,Sq=130,Sk=200 --backward" "gpt_oss B=1,Sq=65,Sk=190 --backward" "gemma2 B=1,Sq=70,Sk=170 --backward"
  "packed_documents B=1,Sq=200 --backward" "varlen B=3,Tq=200,Tk=200 --backward"
  "training_dropout B=1,Sq=100,Sk=131 --backward" "learned_bias B=2,Sq=70,Sk=100 --backward"
)

cmd_sanitize() {
  local tools=("$@") tool line name sizes
  [[ $# -gt 0 ]] || tools=(memcheck racecheck initcheck synccheck)
  command -v compute-sanitizer >/dev/null || die "no compute-sanitizer on the PATH, nor in /usr/local/cuda"
  for tool in "${tools[@]}"; do
    [[ $tool =~ ^(memcheck|racecheck|initcheck|synccheck)$ ]] || die "unknown tool '$tool'"
    for line in "${sanitized[@]}"; do
      read -r name sizes <<<"$line"
      printf '%s-%s%s\tcompute-sanitizer --tool %s --error-exitcode 9 --print-limit 5 %q verify %q --target %q --shape %s\n' \
        "$tool" "$name" "$([[ $sizes != *" "* ]] || echo -backward)" "$tool" "$attnc" "$examples/$name.mlir" "$target" "$sizes"
    done
  done | run_lines
}

cmd_verify() {
  echo "$("$attnc" targets | grep '^This GPU' || true)"
  python3 "$grid" --target "$target" "$@"
}

cmd_fuzz_specs() {
  python3 -c 'import numpy' 2>/dev/null || die "python3 has no numpy, which specs are drawn with"
  python3 "$specs" --target "$target" "$@"
}

cmd_graphs() { python3 "$graphs"; }

cmd_bench() { python3 "$peers" "$@"; }

cmd_data() { python3 "$peers" --data all --accuracy --budget 165 "$@"; }

# Tests of torch and JAX have a process each, since both would have all of the GPU's memory; where pytest-xdist is there, '-n 8'
# runs several at once.
cmd_python() {
  local tests framework failed=()
  tests=$(find_first "$here/python" "$here/../python")
  python3 -c 'import attnc' 2>/dev/null || die "python3 has no attnc: install the wheel that 'tools/dev wheel' makes"
  export ATTNC_TEST_DEVICE=cuda XLA_PYTHON_CLIENT_PREALLOCATE=false
  for framework in torch jax; do
    if ! python3 -c "import $framework" 2>/dev/null; then
      echo "no $framework here"
      continue
    fi
    (cd "$tests" && python3 -m pytest -q -p no:cacheprovider "$@" test_"$framework"*.py) || failed+=("$framework")
  done
  (cd "$tests" && python3 -m pytest -q -p no:cacheprovider "$@" test_kernel.py test_trace*.py test_stubs.py) || failed+=(neither)
  [[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}"; return 1; }
}

cmd_tune() { python3 "$tuning" --target "$target" "$@"; }

cmd_all() {
  local failed=()
  cmd_examples || failed+=(examples)
  cmd_verify "$@" || failed+=(verify)
  cmd_sanitize || failed+=(sanitize)
  cmd_graphs || failed+=(graphs)
  cmd_bench --quick || failed+=(bench)
  [[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}"; return 1; }
}

if [[ ${1:-} == --target ]]; then
  [[ $# -gt 1 ]] || die "--target wants a value"
  target=$2
  shift 2
fi
case ${1:-} in
verify | fuzz-specs | examples | sanitize | graphs | bench | data | python | tune | all) "cmd_${1//-/_}" "${@:2}" ;;
-h | --help | help) help ;;
*) help >&2; exit 2 ;;
esac
