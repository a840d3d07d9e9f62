"""Tests of the regex front end: what a pattern matches, and what is refused."""
