"""Guesses of the next tokens, and the trees that a model checks in one forward.

protocol     `Drafter`                     propose, observe
draft        tokens and parents            what one drafter proposes
tree         drafts to one tree            with what the grammar forbids cut off
pace         seconds and chances           learned: what rows cost, what guesses are worth
selection    trees to smaller trees        the guesses that pay
speculation  jobs to trees                 all of it, a step at a time
choice       names to drafters             the option `speculate`

forced, prompt, states (counts), lookahead (pool), assistant: the drafters.
"""

from guided.decoding.drafts.draft import Distribution, Draft
from guided.decoding.drafts.protocol import Drafter, Source, Speculate

__all__ = ["Distribution", "Draft", "Drafter", "Source", "Speculate"]
