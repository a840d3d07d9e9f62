"""A GGUF file as llama.cpp reads it: weights, tokenizer, and which tokens its cache holds."""

from guided.decoding.models.llama_cpp.cells import Cells
from guided.decoding.models.llama_cpp.network import LlamaCppNetwork
from guided.decoding.models.llama_cpp.tokenizer import LlamaCppTokenizer

__all__ = ["Cells", "LlamaCppNetwork", "LlamaCppTokenizer"]
