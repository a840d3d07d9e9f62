"""The cache: a pool of pages, the block tables of sequences, and the tensors behind them."""

from guided.decoding.pages.cache import CacheOptions, PageCache
from guided.decoding.pages.pool import TRASH, PagePool
from guided.decoding.pages.storage import KVDtype, LayerLayout, LayerPages
from guided.decoding.pages.tables import PageCopy, Table, Tables

__all__ = [
    "TRASH",
    "CacheOptions",
    "KVDtype",
    "LayerLayout",
    "LayerPages",
    "PageCache",
    "PageCopy",
    "PagePool",
    "Table",
    "Tables",
]
