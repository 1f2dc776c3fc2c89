# tools/dev package, gpu-bundle and wheel: what is given to others.
# shellcheck shell=bash disable=SC2154 # tools/dev has what is not assigned here

help_package() {
  cat <<'HELP'
usage: tools/dev package

Builds release, installs it into dist/attnc-<version>-linux-<machine>/ with the examples, README and LICENSE, strips it,
and packs one relocatable .tar.xz, of at most 40 MiB. The archive is then unpacked elsewhere and run.

share/attnc/gpu-checks/run.sh in it checks and measures a machine with a GPU, CUDA and Python.
HELP
}

project_version() { sed -n 's/^project(.*VERSION \([0-9][0-9.]*\).*/\1/p' CMakeLists.txt; }

strip_tree() {
  local file strip
  strip=$(command -v llvm-strip-"$llvm_major" || command -v strip) || die "no strip on this machine"
  find "$1" -type f | while IFS= read -r file; do
    case $(head -c 4 "$file" | tr -d '\0') in
    $'\x7fELF')
      if [[ $file == *.so* ]]; then "$strip" --strip-unneeded "$file"; else "$strip" "$file"; fi
      ;;
    '!<ar') "$strip" --strip-debug "$file" ;;
    esac
  done
}

# pack <name> <component...>: dist/<name>.tar.xz of what CMake installs of these components, of all where none is named.
pack() {
  local name=$1 staging=dist/$1 archive=dist/$1.tar.xz size limit=$((40 * 1024 * 1024)) component
  shift
  say "installing into $staging"
  rm -rf "$staging" "$archive"
  mkdir -p "$staging/examples"
  for component in "${@:-}"; do
    cmake --install build/release --prefix "$root/$staging" ${component:+--component "$component"} >/dev/null
  done
  cp docs/examples/*.mlir "$staging/examples/"
  cp LICENSE README.md CHANGELOG.md "$staging/"
  # What test/bench/model_logits.py made, where it did; too large for a release.
  [[ $name != *gpu-checks* || ! -e build/model_logits.safetensors ]] ||
    cp build/model_logits.safetensors "$staging/share/attnc/gpu-checks/"
  [[ ! -d $staging/share/attnc/gpu-checks ]] ||
    git describe --always --dirty --abbrev=12 --exclude '*' >"$staging/share/attnc/gpu-checks/commit"
  strip_tree "$staging"

  say "packing $archive"
  # The same tree gives the same bytes: names sorted, no owner, the time of the last commit. Programs and libraries hold
  # the same LLVM, some 60 MB of it each: a window that is wider than one of them halves the archive.
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    -C dist "$name" | xz -T2 --x86 --lzma2=preset=6,dict=128MiB >"$archive"
  size=$(stat -c %s "$archive")

  say "trying the archive elsewhere"
  make_scratch
  tar -xf "$archive" -C "$scratch"
  (cd / && "$scratch/$name/bin/attnc" --version) || die "attnc of the archive does not run"
  ! ldd "$scratch/$name/bin/attnc" | grep -E 'not found|libLLVM|libMLIR' ||
    die "attnc of the archive needs the libraries above, which other machines do not have"
  (cd / && "$scratch/$name/share/attnc/gpu-checks/run.sh" --target cpu verify --filter S1_plain) ||
    die "the checks of the archive do not run"
  (cd "$scratch" && find "$name" -type f -size +100k -printf '  %9s  %p\n' | sort -rn | head -n 8)

  awk -v size="$size" -v archive="$archive" 'BEGIN { printf "%s: %.1f MiB\n", archive, size / 1048576 }'
  (cd dist && sha256sum "$name.tar.xz" | tee "$name.tar.xz.sha256")
  [[ $size -le $limit ]] || die "the archive is larger than 40 MiB"
}

cmd_package() {
  [[ $# -eq 0 ]] || usage_error "package takes no arguments, got '$*'" package
  local version
  version=$(project_version)
  [[ -n $version ]] || die "no version in CMakeLists.txt's project()"
  ninja_build release
  pack "attnc-$version-linux-$(uname -m)"
}

help_gpu_bundle() {
  cat <<'HELP'
usage: tools/dev gpu-bundle

Builds and packs dist/attnc-gpu-checks-linux-<machine>.tar.xz: attnc, its C library, the examples, the conformance grid,
random specs, and the benchmarks beside cuDNN and FlexAttention, with the queries and keys that
test/bench/model_logits.py wrote into build/, where it did. On a machine with a GPU, CUDA and Python:

  tar xf attnc-gpu-checks-linux-x86_64.tar.xz && attnc-gpu-checks-linux-x86_64/share/attnc/gpu-checks/run.sh --help
HELP
}

cmd_gpu_bundle() {
  [[ $# -eq 0 ]] || usage_error "gpu-bundle takes no arguments, got '$*'" gpu-bundle
  ninja_build release attnc AttncRuntimeShared attnc-conformance-tests
  pack "attnc-gpu-checks-linux-$(uname -m)" Tools Checks
}

help_wheel() {
  cat <<'HELP'
usage: tools/dev wheel [--output <folder>]

Builds release, and the package for Python from it: one wheel, of at most 45 MiB, for every CPython from 3.10 on, which
holds libattnc and the calls for JAX. Its tag says which systems it runs on, as auditwheel finds it. The wheel is then installed into an
environment that has numpy alone, and computes an example there. It is put into <folder> (default dist/).
HELP
}

make_wheel() {
  local output=$1 prefix=$scratch/prefix python=$root/.venv/bin/python built
  cmake --install build/release --prefix "$prefix" --component Tools >/dev/null
  cmake --install build/release --prefix "$prefix" --component Development >/dev/null
  strip_tree "$prefix"
  say "building the wheel"
  CXX=clang++-$llvm_major CMAKE_PREFIX_PATH=$prefix traced "$python" -m pip wheel --quiet --disable-pip-version-check \
    --no-deps --no-index --no-build-isolation --wheel-dir "$scratch/raw" -C build-dir="$scratch/build" runtime/python
  built=("$scratch"/raw/*.whl)
  # It copies what is not part of every system into the wheel, and names the oldest C library that will do.
  PATH=$root/.venv/bin:$PATH traced "$python" -m auditwheel repair --wheel-dir "$output" "${built[0]}" >"$scratch/repair.log" 2>&1 ||
    { cat "$scratch/repair.log" >&2; die "auditwheel refused the wheel"; }
}

# The wheel in an environment that holds numpy and what the wheel depends on, and nothing else.
try_wheel() {
  local wheel=$1 fresh=$scratch/fresh python=$root/.venv/bin/python from to package
  say "trying the wheel in an environment of its own"
  "$python" -m venv --without-pip "$fresh"
  "$python" -m pip --python "$fresh/bin/python" install --quiet --disable-pip-version-check --no-deps --no-index "$wheel"
  from=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  to=$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  for package in numpy numpy.libs nanobind_backend; do ln -s "$from/$package" "$to/"; done
  (cd "$scratch" && ATTNC_CACHE_DIR=$scratch/cache "$fresh/bin/python" -I "$root/test/python/try_wheel.py")
  # The frameworks that are here, behind what the wheel brought.
  echo "$from" > "$to/frameworks.pth"
  (cd "$scratch" && ATTNC_CACHE_DIR=$scratch/cache "$fresh/bin/python" -I "$root/test/python/try_frameworks.py")
}

cmd_wheel() {
  local output=dist size limit=$((45 * 1024 * 1024)) wheels
  if [[ ${1:-} == --output ]]; then
    [[ $# -gt 1 ]] || usage_error "--output wants a folder" wheel
    output=$2
    shift 2
  fi
  [[ $# -eq 0 ]] || usage_error "unexpected argument '$1'" wheel
  .venv/bin/python -c 'import nanobind, scikit_build_core, auditwheel, jaxlib' 2>/dev/null || "$self" setup --jax
  ninja_build release attnc AttncShared AttncRuntimeShared AttncRuntime AttncCuda
  make_scratch
  mkdir -p "$output"
  rm -f "$output"/attnc-*.whl
  make_wheel "$output"
  wheels=("$output"/attnc-*.whl)
  size=$(stat -c %s "${wheels[0]}")
  awk -v size="$size" -v wheel="${wheels[0]}" 'BEGIN { printf "%s: %.1f MiB\n", wheel, size / 1048576 }'
  [[ $size -le $limit ]] || die "the wheel is larger than 45 MiB"
  try_wheel "$(realpath "${wheels[0]}")"
}
