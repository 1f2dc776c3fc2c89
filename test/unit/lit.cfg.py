"""GoogleTest executables as lit tests: each test case counts as one."""

import os

import lit.formats

config.name = "attnc-unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.attnc_binary_dir, "test", "unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "-tests")

for name in ("HOME", "TMP", "TEMP", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["ATTNC_CACHE_DIR"] = os.path.join(config.attnc_binary_dir, "test", "cache")
config.environment["ATTNC_CONFORMANCE"] = (
    lit_config.params.get("conformance") or os.environ.get("ATTNC_CONFORMANCE") or "quick"
)
