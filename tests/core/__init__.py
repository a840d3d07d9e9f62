"""The core by examples: what its builders, matchers and errors do; tests/laws has the laws."""
