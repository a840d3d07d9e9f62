"""The weights of a GGUF file and what the file says of them."""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from guided.decoding.models.llama_cpp.library import collect_errors, import_llama, reason
from guided.errors import GuidedError

MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class CacheShape:
    """What the cache keeps of a sequence.

    Attributes:
        numbers: of keys and values of a token, over all layers.
        window: positions that a layer with a sliding window sees; 0 if there is no such layer.
        is_recurrent: whether some layer keeps a state of the whole past, so that a sequence can be
            copied and forgotten as a whole only.
    """

    numbers: int
    window: int
    is_recurrent: bool


class LlamaCppNetwork:
    """The weights of a GGUF file, in memory that llama.cpp has mapped or put on a GPU.

    Attributes:
        path: the file.
        llama: the module `llama_cpp`.
        handle: llama.cpp's pointer to the model.
        vocab: its pointer to the vocabulary.
        width: V, the width of the logits.
        description: architecture, size and kind of weights, such as "llama 135M Q4_1".
        generation_config: None; a GGUF file's tokenizer knows all end tokens.

    Args:
        path: the file; of a file in several parts, the first.
        device: where the weights go. None: to a GPU if this llama.cpp was built for one.

    Raises:
        GuidedError: llama-cpp-python is missing, the file cannot be loaded, or this llama.cpp was
            not built for the device.
    """

    generation_config = None

    def __init__(self, path: str | Path, *, device: torch.device | None = None) -> None:
        self.path = Path(path)
        check_file(self.path)
        self.llama: ModuleType = import_llama()
        parameters = self.llama.llama_model_default_params()
        parameters.n_gpu_layers = gpu_layers(self.llama, device)
        with collect_errors(self.llama) as errors:
            self.handle = self.llama.llama_model_load_from_file(str(self.path).encode(), parameters)
        if not self.handle:
            raise not_loadable(self.path, reason(errors))
        weakref.finalize(self, self.llama.llama_model_free, self.handle)
        if self.llama.llama_model_has_encoder(self.handle):
            raise not_loadable(self.path, "it has an encoder, and only decoders are run")
        if self.llama.llama_model_is_diffusion(self.handle):
            raise not_loadable(self.path, "it does not write from left to right")
        self.vocab = self.llama.llama_model_get_vocab(self.handle)
        self.width = int(self.llama.llama_vocab_n_tokens(self.vocab))
        self.description = self._describe()

    @property
    def device(self) -> torch.device:
        """Where logits are: always the CPU."""
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        """Of the logits: always float32."""
        return torch.float32

    @property
    def context(self) -> int | None:
        """The most positions that the model was trained for; None if the file does not say."""
        return int(self.llama.llama_model_n_ctx_train(self.handle)) or None

    def metadata(self, key: str) -> str | None:
        """Return a value of the file as text; None if it has no such key."""
        size = 256
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self.llama.llama_model_meta_val_str(self.handle, key.encode(), buffer, size)
            if length < size:
                return buffer.value.decode(errors="replace") if length >= 0 else None
            size = length + 1

    def chat_template(self) -> str | None:
        """Return the template that writes chat messages, in Jinja; None if the file has none."""
        text = self.llama.llama_model_chat_template(self.handle, None)
        return None if text is None else text.decode(errors="replace")

    def cache_shape(self) -> CacheShape:
        """Read what the cache keeps of a token."""
        llama, handle = self.llama, self.handle
        return CacheShape(
            numbers=llama.llama_model_n_layer(handle) * self._numbers_of_a_layer(),
            window=llama.llama_model_n_swa(handle),
            is_recurrent=bool(
                llama.llama_model_is_recurrent(handle) or llama.llama_model_is_hybrid(handle)
            ),
        )

    def _numbers_of_a_layer(self) -> int:
        """Count the numbers of keys and values of a token in the largest layer."""
        if self.llama.llama_model_is_recurrent(self.handle):
            return 0
        rank = self._number("attention.kv_lora_rank")
        if rank:  # a latent cache: one vector for all heads
            return rank + self._number("rope.dimension_count")
        heads = self._number("attention.head_count", 1)
        kv_heads = self._number("attention.head_count_kv", heads)
        usual = self._number("embedding_length") // max(1, heads)
        key = self._number("attention.key_length", usual)
        return kv_heads * (key + self._number("attention.value_length", key))

    def _number(self, key: str, default: int = 0) -> int:
        """Return a number of the architecture; of one for each layer, the largest."""
        text = self.metadata(f"{self.metadata('general.architecture')}.{key}")
        if text is None:
            return default
        return max((int(part) for part in text.strip("[]").split(",") if part.strip()), default=0)

    def _describe(self) -> str:
        buffer = ctypes.create_string_buffer(128)
        self.llama.llama_model_desc(self.handle, buffer, len(buffer))
        return buffer.value.decode(errors="replace")

    def __repr__(self) -> str:
        return f"<LlamaCppNetwork {self.description} from {self.path.name}>"


def gpu_layers(llama: ModuleType, device: torch.device | None) -> int:
    """Return how many layers go to a GPU; -1: all that there are, if there is one."""
    if device is None:
        return -1
    if device.type == "cpu":
        return 0
    if not llama.llama_supports_gpu_offload():
        raise GuidedError(
            f"this llama.cpp was built without a GPU, and the device asked for is {device}",
            mend="leave device out, or build llama-cpp-python for the GPU",
        )
    return -1


def check_file(path: Path) -> None:
    """Raise unless this looks like a GGUF file; llama.cpp says less of what it finds."""
    if not path.is_file():
        there = "it is a folder" if path.is_dir() else "there is no such file"
        raise GuidedError(
            f"no model can be loaded from {str(path)!r}: {there}", mend="check the path"
        )
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise not_loadable(path, error.strerror or str(error)) from error
    if magic != MAGIC:
        raise not_loadable(path, f"a GGUF file begins with {MAGIC!r}, this one with {magic!r}")


def not_loadable(path: Path, why: str) -> GuidedError:
    """Make the error for a file that is there and cannot be used."""
    return GuidedError(
        f"no model can be loaded from {str(path)!r}: {why}",
        mend="give the GGUF file of a causal language model that this llama.cpp knows",
    )
