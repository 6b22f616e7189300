"""The vector store. ``qdrant`` is the store itself; ``points`` is how a chunk lies in it, ``indexing`` what a
second run changes, ``clients`` how a folder or a server is opened.
Taught in notebooks/02_chunks_to_store.ipynb.
"""

from cookbook.stores.indexing import IndexReport
from cookbook.stores.points import Filters
from cookbook.stores.qdrant import POOL, RRF_K, QdrantBackend

__all__ = ["POOL", "RRF_K", "Filters", "IndexReport", "QdrantBackend"]
