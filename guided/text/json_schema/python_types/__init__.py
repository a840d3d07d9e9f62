"""Python types as schemas: dataclasses, typed dictionaries, pydantic models and the like.

`types` is where to begin; `schemas` adds to what pydantic says of a type, and imports pydantic.
"""
