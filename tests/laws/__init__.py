"""Laws that hold for every grammar and every vocabulary, tried on random ones."""
