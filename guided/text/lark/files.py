"""Where the grammars that `%import` names are found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guided.errors import GrammarError
from guided.text.files import read_text
from guided.text.lark.extensions import refuse_imported
from guided.text.lark.sizes import check_references
from guided.text.lark.source import Source


class Files:
    """Finds imported grammars, and remembers those it read: `load` is a loader of lark's.

    A relative import is looked for beside the grammar that has it, then in `folders`; another one
    in `folders`, then among the grammars that come with lark (common, unicode, python, lark).
    """

    def __init__(self, source: Source, folders: Sequence[str | Path]) -> None:
        self.source = source
        self.folders = [Path(folder) for folder in folders]
        self.read: list[Source] = []

    @property
    def are_outside(self) -> bool:
        """True if a file was read that does not come with lark, and so may change."""
        return any(each.path is not None and Path(each.path).exists() for each in self.read)

    def load(self, beside: Any, name: str) -> tuple[Any, str]:
        """Return the path and the text of the grammar file `name`, such as `common.lark`.

        Args:
            beside: the folder of the grammar that imports it, for a relative import, else None;
                a resource of lark's own where that is the grammar.
            name: its path.
        """
        from lark.load_grammar import stdlib_loader

        folders = list(self.folders)
        if isinstance(beside, str) and beside:
            folders.insert(0, Path(beside))
        for folder in folders:
            path = folder / name
            if path.is_file():
                found = Source.of(read_text(path), path)
                self.read.append(found)
                refuse_imported(found)
                check_references(found)
                return str(path), found.text
        try:
            resource, text = stdlib_loader(beside if not isinstance(beside, str) else None, name)
        except OSError:
            raise self._not_found(name) from None
        self.read.append(Source.of(text, resource.path))
        return resource, text

    def _not_found(self, name: str) -> GrammarError:
        importing = self.source
        dotted = name.removesuffix(".lark").replace("/", ".")
        if dotted not in importing.text and self.read:
            importing = self.read[-1]
        index = importing.text.find(dotted)
        if self.folders or importing.path:
            mend = "give the folder of it as import_paths=[...]"
        else:
            mend = "give import_paths=[folder], or read the grammar by Grammar.from_file"
        return importing.error(
            f'no grammar "{dotted}" to import is found',
            index if index >= 0 else None,
            length=len(dotted),
            mend=mend,
        )
