"""GoogleTest executables as lit tests: each test case counts as one."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

from grid_first import GridFirst

config.name = "attnc-unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.attnc_binary_dir, "test", "unit")
config.test_source_root = config.test_exec_root

config.test_format = GridFirst(".", "-tests")

for name in ("HOME", "TMP", "TEMP", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES") + (
    "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"
):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# The packages' LLVM is not instrumented: its allocators hand out what our copy of their templates has poisoned.
config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
# Undefined behaviour ends the program, as the other sanitizers' findings do, so that the test fails.
config.environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
config.environment["ATTNC_CACHE_DIR"] = os.path.join(config.attnc_binary_dir, "test", "cache")
config.environment["ATTNC_CONFORMANCE"] = (
    lit_config.params.get("conformance") or os.environ.get("ATTNC_CONFORMANCE") or "quick"
)
