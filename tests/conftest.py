"""Settings for all tests: random tests print how to repeat a failure and have no deadline."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# Triton kernels run in the interpreter where there is no GPU. It asks for this when it is imported,
# which other packages do, so it is said before all of them.
if not any(Path("/dev").glob("nvidia[0-9]*")):
    os.environ.setdefault("TRITON_INTERPRET", "1")

hypothesis.settings.register_profile(
    "guided",
    deadline=None,
    print_blob=True,
    derandomize=False,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.data_too_large,
    ],
)
hypothesis.settings.load_profile("guided")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of test data; skip where there is none."""
    default = Path(__file__).parents[1].parent / "shared" / "corpora"
    folder = Path(os.environ.get("GUIDED_CORPORA", default))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; name its folder by GUIDED_CORPORA")
    return folder
