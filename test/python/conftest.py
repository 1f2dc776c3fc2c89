"""What tests of the package for Python share."""

import os
import tempfile

# Tests that are run by hand do not touch the user's kernels either.
os.environ.setdefault("ATTNC_CACHE_DIR", os.path.join(tempfile.gettempdir(), "attnc-test-cache"))
