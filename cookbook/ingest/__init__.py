"""Your own documents: from files and folders to an index on disk that every system can search.

``finding`` lists the files, ``text`` and ``formats`` read them, ``run`` brings an index up to date,
``index`` is how it lies on disk, ``search`` opens it for systems.
Taught in notebooks/62_your_own_documents.ipynb.
"""

from cookbook.ingest.index import index_folder
from cookbook.ingest.run import FileReport, Progress, Report, ingest
from cookbook.ingest.search import card_of, named, open_documents, passages_of

__all__ = [
    "FileReport",
    "Progress",
    "Report",
    "card_of",
    "index_folder",
    "ingest",
    "named",
    "open_documents",
    "passages_of",
]
