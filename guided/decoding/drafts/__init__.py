"""Guesses of the next tokens, and the trees that a model checks in one forward.

draft       tokens and parents           what one drafter proposes
protocol    `Drafter`                    propose, observe
"""

from guided.decoding.drafts.draft import Distribution, Draft
from guided.decoding.drafts.protocol import Drafter

__all__ = ["Distribution", "Draft", "Drafter"]
