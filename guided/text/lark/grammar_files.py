"""The files that `%grammar` names: where they are, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from guided.errors import LimitError
from guided.text.files import SUFFIXES, read_text, shipped_grammars
from guided.text.gbnf.checks import check
from guided.text.gbnf.reader import Reading as GbnfReading
from guided.text.gbnf.reader import read
from guided.text.lark.extensions import Extensions
from guided.text.lark.reading import Reading, read_grammar
from guided.text.lark.source import Source

MAX_FILES = 1_000


@dataclass(slots=True)
class GrammarFiles:
    """The files that a grammar embeds, and those that they embed in turn, each once.

    Attributes:
        lark, gbnf, schemas: what was read of each file, by the kind of it.
        are_outside: a file was read that is not shipped, and so may change.
    """

    folders: Sequence[Path]
    lark: dict[Path, Reading] = field(default_factory=dict)
    gbnf: dict[Path, GbnfReading] = field(default_factory=dict)
    schemas: dict[Path, str] = field(default_factory=dict)
    are_outside: bool = False

    def of(self, reading: Reading) -> Mapping[str, Path]:
        """Return the files that a grammar embeds, by the names that stand for them.

        Raises:
            GrammarError: there is no such file.
        """
        source = reading.source
        found = {}
        for name, written in reading.extensions.grammars.items():
            path = self._find(source, written)
            if path is None:
                raise source.error(
                    f'there is no grammar file "{written}", nor a shipped grammar of that name',
                    source.embedded[name],
                    length=len("%grammar"),
                    mend="give it relative to the file it stands in, which Grammar.from_file tells,"
                    " or to a folder of import_paths=[...]",
                )
            found[name] = path
        return found

    def _find(self, source: Source, written: str) -> Path | None:
        relative = Path(written)
        if "\0" in written or relative.is_absolute():
            return None
        folders = list(self.folders)
        if source.path is not None:
            folders.insert(0, Path(source.path).parent)
        for folder in folders:
            if (path := folder / relative).suffix in SUFFIXES and path.is_file():
                return path.resolve()
        if relative.name != written or relative.suffix:
            return None
        return shipped_grammars().get(written)


def read_files(reading: Reading, import_paths: Sequence[str | Path]) -> GrammarFiles:
    """Read the files that a grammar embeds, and those that they embed.

    Raises:
        GrammarError: there is no such file, or it is at fault.
        UnsupportedError, LimitError: as for any grammar.
    """
    files = GrammarFiles([Path(folder) for folder in import_paths])
    shipped = set(shipped_grammars().values())
    waiting = [reading]
    seen: set[Path] = set()
    while waiting:
        for path in files.of(waiting.pop()).values():
            if path in seen:
                continue
            if len(seen) >= MAX_FILES:
                raise LimitError("too many files are embedded", limit="files", value=MAX_FILES)
            seen.add(path)
            files.are_outside |= path not in shipped
            text = read_text(path)
            if path.suffix == ".json":
                files.schemas[path] = text
            elif path.suffix == ".gbnf":
                files.gbnf[path] = _read_gbnf(path, text)
            else:
                embedded = read_grammar(text, start="start", import_paths=import_paths, path=path)
                files.lark[path] = embedded
                files.are_outside |= embedded.files.are_outside
                waiting.append(embedded)
    return files


def embedded_extensions(reading: Reading, files: GrammarFiles) -> list[Extensions]:
    """Return the extensions of a grammar and of all that it embeds."""
    return [each.extensions for each in (reading, *files.lark.values())]


def _read_gbnf(path: Path, text: str) -> GbnfReading:
    reading = read(text)
    if errors := check(reading, "root"):
        error = errors[0]
        error.fact = f"{error.fact} (in {path})"
        raise error
    return reading
