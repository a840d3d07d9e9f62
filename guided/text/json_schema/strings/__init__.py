"""Strings: patterns, lengths, formats, lists and what is excluded.

`spelling` says how JSON writes characters, with `unicode_escapes`. `contents` makes a node of a
string shape, with `lengths` and `formats`. `plain_texts`, `partition` and `byte_walk` find out what
strings have in common and how many there are.
"""
