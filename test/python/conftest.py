"""What tests of the package for Python share."""

import os
import tempfile

# Tests that are run by hand do not touch the user's kernels either.
os.environ.setdefault("ATTNC_CACHE_DIR", os.path.join(tempfile.gettempdir(), "attnc-test-cache"))
# On GPUs, JAX would round what it multiplies to TF32, and is what results are compared with.
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
