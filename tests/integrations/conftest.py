"""The tiny model of the decoding tests."""

from tests.decoding.conftest import model, one_thread

__all__ = ["model", "one_thread"]
