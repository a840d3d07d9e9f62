"""The tokenizer of a GGUF file, with the few methods of a transformers tokenizer that are used."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from guided.decoding.models.llama_cpp.network import LlamaCppNetwork
from guided.errors import GuidedError, VocabularyError
from guided.vocabulary import Vocabulary

# llama.cpp's kinds of vocabularies and attributes of tokens, from its header.
NO_TOKENIZER, WORD_PIECE = 0, 3
UNKNOWN, UNUSED, CONTROL = 1, 2, 8
# What llama.cpp writes for a character that is not in the byte alphabet of a byte-level vocabulary.
UNSPELLABLE = b"[UNK_BYTE_0x"


class LlamaCppTokenizer:
    """Text to tokens, messages to text, and the vocabulary, all by the tables of one GGUF file.

    Attributes:
        chat_template: the Jinja template that writes messages, or None.
        bos_token_id, eos_token_id: the tokens around a text; None where the file names none.

    Args:
        network: what `LlamaCppNetwork` loaded.

    Raises:
        VocabularyError: the file has no tokenizer, or one whose tokens have no spelling.
    """

    def __init__(self, network: LlamaCppNetwork) -> None:
        self._network = network  # keeps the pointer below alive
        self._llama, self._vocab = network.llama, network.vocab
        kind = self._llama.llama_vocab_type(self._vocab)
        if kind == NO_TOKENIZER:
            raise VocabularyError(
                f"{network.path.name} holds no tokenizer", mend="use a file that was made with one"
            )
        if kind == WORD_PIECE:
            raise VocabularyError(
                "a WordPiece tokenizer cannot be used: its tokens do not say where blanks stand",
                mend="use a model with a byte-level or SentencePiece tokenizer",
            )
        self.chat_template = network.chat_template()
        self.bos_token_id = self._optional(self._llama.llama_vocab_bos(self._vocab))
        self.eos_token_id = self._optional(self._llama.llama_vocab_eos(self._vocab))

    def __call__(
        self, text: str, *, add_special_tokens: bool = True, verbose: bool = True
    ) -> dict[str, list[int]]:
        """Turn text into `input_ids`; names of special tokens in the text become these tokens.

        Args:
            text: any text.
            add_special_tokens: whether to put the token before it that the file asks for.
            verbose: without effect; transformers warns of long texts.
        """
        return {"input_ids": self._encode(text, add_special_tokens, parse_special=True)}

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        tokenize: bool = False,
        **values: Any,
    ) -> str:
        """Write messages by the file's template, as transformers renders it.

        Args:
            conversation: messages, each with a role and content.
            tools: descriptions of functions, for templates that know them.
            add_generation_prompt: whether to end with the beginning of an answer.
            tokenize: must be False.
            values: further variables of the template.

        Raises:
            ValueError: the file has no template, or the template refuses the messages.
        """
        from jinja2 import TemplateError
        from transformers.utils.chat_template_utils import render_jinja_template

        if tokenize:
            raise ValueError("the text is not tokenized here: call the tokenizer with it")
        if not self.chat_template:
            raise ValueError("the GGUF file has no chat template; give the prompt as text")
        names = {"bos_token": self.bos_token_id, "eos_token": self.eos_token_id}
        special = {name: self.token_name(token) for name, token in names.items()}
        try:
            written = render_jinja_template(
                [[dict(message) for message in conversation]],
                tools=None if tools is None else [dict(tool) for tool in tools],
                chat_template=self.chat_template,
                add_generation_prompt=add_generation_prompt,
                **{**special, **values},
            )[0]
        except TemplateError as error:
            raise ValueError(f"the chat template refuses the messages: {error}") from error
        return str(written[0])

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens as the model would write it: nothing in it is a special token."""
        return self._encode(text, add_special=False, parse_special=False)

    def token_name(self, token: int | None) -> str:
        """Return the text that stands for a token in the file; empty for None."""
        if token is None:
            return ""
        text = self._llama.llama_vocab_get_text(self._vocab, token)
        return text.decode(errors="replace") if text else ""

    def vocabulary(self) -> Vocabulary:
        """Read what each token spells, in bytes; end tokens are all those llama.cpp stops at.

        Cost: some microseconds a token.
        """
        llama, vocab = self._llama, self._vocab
        tokens: list[bytes | None] = []
        special: dict[str, int] = {}
        ends: list[int] = []
        for token in range(self._network.width):
            attributes = llama.llama_vocab_get_attr(vocab, token)
            is_end = llama.llama_vocab_is_eog(vocab, token)
            if is_end:
                ends.append(token)
            if is_end or attributes & (CONTROL | UNKNOWN):
                special[self.token_name(token)] = token
                tokens.append(None)
            else:
                tokens.append(None if attributes & UNUSED else self._spelling(token))
        return Vocabulary.from_tokens(tokens, ends, special, encode=self.encode)

    def _spelling(self, token: int) -> bytes | None:
        """Return the bytes of a token; None if it spells nothing that a text can hold."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._llama.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
            if length >= 0:
                spelled = buffer.raw[:length]
                return None if spelled.startswith(UNSPELLABLE) else spelled
            size = -length

    def _encode(self, text: str, add_special: bool, *, parse_special: bool) -> list[int]:
        data = text.encode()
        size = len(data) + 8  # mostly enough: a token spells a byte or more
        while True:
            buffer = (ctypes.c_int32 * size)()
            count = self._llama.llama_tokenize(
                self._vocab, data, len(data), buffer, size, add_special, parse_special
            )
            if count >= 0:
                return buffer[:count]
            if count == -(1 << 31):
                raise GuidedError(f"a text of {len(data)} bytes is too long for llama.cpp")
            size = -count

    @staticmethod
    def _optional(token: int) -> int | None:
        return token if token >= 0 else None
