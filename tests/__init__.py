"""The tests of guided; `tests.reference` is a brute-force oracle for them."""
