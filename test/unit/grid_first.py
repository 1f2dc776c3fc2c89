"""The order of tests; a module, since lit hands its formats to other processes."""

import lit.formats


class GridFirst(lit.formats.GoogleTest):
    """Begins with the conformance grid, whose shards take minutes: begun last, one core waits for the other's."""

    def getTestsInDirectory(self, *arguments):
        for test in super().getTestsInDirectory(*arguments):
            if "conformance" in test.path_in_suite:
                test.previous_elapsed = max(test.previous_elapsed, 3600.0)
            yield test
