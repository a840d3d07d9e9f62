"""A brute-force oracle for grammars, independent of the core and written to be plainly right."""

from tests.reference.arena import Arena
from tests.reference.matcher import (
    Matcher,
    Vocabulary,
    accepts,
    allowed_tokens,
    is_viable_prefix,
)

__all__ = ["Arena", "Matcher", "Vocabulary", "accepts", "allowed_tokens", "is_viable_prefix"]
