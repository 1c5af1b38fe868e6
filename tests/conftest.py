"""Settings that hold for every test."""

import os

# Before torch is imported: the test workers are the parallelism.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# No deadline: a first example may import or compile. No randomness in CI: a change is judged on itself.
settings.register_profile("project", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("project")
