"""Dense vectors and BM25 weights of chunks in one Qdrant collection, searched alone or fused.

In memory, in a folder or on a server it is the same class and the same calls. Every hit carries the
kind of its score, and equal scores are ordered by document and position, so results never shuffle.
Taught in notebooks/02_chunks_to_store.ipynb.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cookbook import lexical
from cookbook.errors import ConfigError, FingerprintMismatch, StoreError
from cookbook.schema import Chunk, Hit, ScoreKind
from cookbook.stores.clients import explained, open_client
from cookbook.stores.indexing import IndexReport, plan_index
from cookbook.stores.points import Filters, has_content, point_id, to_chunk, to_filter, to_payload, to_vectors

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

    from cookbook.embedders import Embedder, Fingerprint

DENSE, SPARSE = "dense", "bm25"  # the names of the two vectors of a point
#: Reciprocal rank fusion scores sum 1 / (RRF_K + rank), ranks from 1 (Cormack, Clarke and Buettcher
#: 2009), so a fused score lies below 2 / 61. Qdrant's own default would be a constant of 1.
RRF_K = 60
POOL = 50  # how many candidates of each kind a fused search ranks
_BATCH = 256  # points embedded and written at a time; a killed indexing run goes on behind the last batch


class QdrantBackend:
    """A named collection of chunks. Creation never wipes: what is there is opened and checked.

    ``path`` is a folder, ``url`` (or ``QDRANT_URL`` with ``QDRANT_API_KEY``) a server, neither is
    memory. Raises FingerprintMismatch when the collection was written with other vectors, StoreError
    when it cannot be opened. ``recreate=True`` deletes what the collection holds, and says so.
    """

    def __init__(
        self,
        name: str,
        dim: int,
        *,
        path: Path | str | None = None,
        url: str | None = None,
        fingerprint: Fingerprint | None = None,
        recreate: bool = False,
    ) -> None:
        self.name, self.dim = name, dim
        opened, give_back, self.where = open_client(path, url)
        self._opened: QdrantClient | None = opened
        self._close: Callable[[], object] = weakref.finalize(self, give_back)
        try:
            with explained(self.where):
                if recreate and opened.collection_exists(name):
                    print(f"deleting collection {name!r} with {self.count()} chunks at {self.where}")
                    opened.delete_collection(name)
                if not opened.collection_exists(name):
                    self._create()
                self._check_layout()
            if fingerprint is not None:
                self.expect(fingerprint)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------ the collection

    @property
    def _client(self) -> QdrantClient:
        if self._opened is None:
            raise StoreError(f"the store {self.name!r} was closed; open it again")
        return self._opened

    def _create(self) -> None:
        from qdrant_client import models

        self._client.create_collection(
            self.name,
            vectors_config={DENSE: models.VectorParams(size=self.dim, distance=models.Distance.COSINE)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            metadata={"terms": lexical.RULES},
        )

    def _metadata(self) -> dict[str, Any]:
        return self._client.get_collection(self.name).config.metadata or {}

    def _check_layout(self) -> None:
        params = self._client.get_collection(self.name).config.params
        dense = params.vectors.get(DENSE) if isinstance(params.vectors, Mapping) else None
        if dense is None or SPARSE not in (params.sparse_vectors or {}):
            raise StoreError(
                f"collection {self.name!r} at {self.where} was not made here; choose another name"
            )
        if dense.size != self.dim:
            raise FingerprintMismatch(
                f"collection {self.name!r} holds vectors of {dense.size} numbers, not {self.dim}; "
                "use the embedder it was written with, another name, or recreate=True"
            )
        if (rules := self._metadata().get("terms")) != lexical.RULES:
            raise StoreError(
                f"collection {self.name!r} was indexed with other BM25 rules ({rules}); index it again with recreate=True"
            )

    def expect(self, fingerprint: Fingerprint) -> None:
        """Bind an empty collection to an embedder; FingerprintMismatch if it is bound to another."""
        with explained(self.where):
            metadata = self._metadata()
            stored = metadata.get("fingerprint")
            if stored is None and self.count() == 0:
                self._client.update_collection(
                    self.name, metadata={**metadata, "fingerprint": fingerprint.key}
                )
            elif stored != fingerprint.key:
                raise FingerprintMismatch(
                    f"collection {self.name!r} was written with {stored or 'an unnamed embedder'}, this is "
                    f"{fingerprint.key}; use that embedder, another name, or recreate=True"
                )

    @property
    def version(self) -> str:
        """Another text after every change of what the collection holds, whoever made it."""
        with explained(self.where):
            return str(self._metadata().get("version", ""))

    def _changed(self) -> None:
        self._client.update_collection(self.name, metadata={**self._metadata(), "version": uuid4().hex})

    def count(self) -> int:
        """How many chunks the collection holds."""
        with explained(self.where):
            return self._client.count(self.name, exact=True).count

    def close(self) -> None:
        """Give the store back; a folder can then be opened by another process. May be called twice."""
        self._opened = None
        self._close()

    def __enter__(self) -> QdrantBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ writing

    def add(
        self,
        texts: Sequence[str],
        vectors: ArrayLike,
        ids: Sequence[str] | None = None,
        metadata: Sequence[Mapping[str, Any]] | None = None,
    ) -> int:
        """Add or replace texts with their vectors, shape (len(texts), dim); gives how many were kept.

        Without ``ids`` a text is its own identity, so adding it twice keeps one. Texts without a
        letter are left out. Raises ConfigError for lengths that differ and for vectors
        that are zero or not finite.
        """
        rows = to_vectors(vectors, len(texts), self.dim)
        names = [str(i) for i in ids] if ids is not None else [f"text-{point_id(text)[:8]}" for text in texts]
        extras = metadata if metadata is not None else [{}] * len(texts)
        if not len(names) == len(extras) == len(texts):
            raise ConfigError(
                f"{len(texts)} texts, {len(names)} ids and {len(extras)} metadata: give one for each text"
            )
        chunks = [
            Chunk(name, name, text, 0, len(text), metadata=extra)
            for name, text, extra in zip(names, texts, extras, strict=True)
        ]
        kept = [(chunk, row) for chunk, row in zip(chunks, rows, strict=True) if has_content(chunk.text)]
        self._write(kept)
        return len(kept)

    def index(self, chunks: Sequence[Chunk], embedder: Embedder) -> IndexReport:
        """Make the collection hold exactly ``chunks``, embedding only texts it does not hold yet.

        New and edited chunks are written, chunks no longer in the list are deleted, chunks without a
        letter are dropped; the report counts each. Running it again changes nothing.
        """
        self.expect(embedder.fingerprint)
        plan = plan_index(chunks, self._stored())
        vector_of = self._vectors_held(plan.moved)
        for first in range(0, len(plan.write), _BATCH):
            batch = plan.write[first : first + _BATCH]
            fresh = list(dict.fromkeys(chunk.text for chunk in batch if chunk.text not in vector_of))
            vector_of.update(zip(fresh, embedder.embed(fresh), strict=True))
            self._write([(chunk, vector_of[chunk.text]) for chunk in batch])
        if plan.delete:
            with explained(self.where):
                self._client.delete(self.name, [*plan.delete], wait=True)
                self._changed()
        return plan.report

    def _write(self, rows: Sequence[tuple[Chunk, NDArray[np.float32]]]) -> None:
        from qdrant_client import models

        points = []
        for chunk, row in rows:
            vectors: dict[str, Any] = {DENSE: row.tolist()}
            ids, weights = lexical.chunk_weights(chunk.text)
            if ids:  # a chunk of stop words has no terms
                vectors[SPARSE] = models.SparseVector(indices=ids, values=weights)
            points.append(
                models.PointStruct(id=point_id(chunk.chunk_id), vector=vectors, payload=to_payload(chunk))
            )
        if points:
            with explained(self.where):
                self._client.upsert(self.name, points, wait=True)
                self._changed()

    def _stored(self) -> dict[str, dict[str, Any]]:
        """The payload of every point, by point id."""
        found: dict[str, dict[str, Any]] = {}
        offset: Any = None
        with explained(self.where):
            while True:
                records, offset = self._client.scroll(self.name, limit=1000, offset=offset)
                found |= {str(record.id): record.payload or {} for record in records}
                if offset is None:
                    return found

    def _vectors_held(self, point_of: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
        """Dense vectors already in the collection, by text: a chunk that only moved is not embedded again."""
        if not point_of:
            return {}
        with explained(self.where):
            records = self._client.retrieve(self.name, list(point_of.values()), with_vectors=[DENSE])
        vectors = {
            str(r.id): np.asarray(r.vector[DENSE], np.float32) for r in records if isinstance(r.vector, dict)
        }
        return {text: vectors[i] for text, i in point_of.items()}

    # ------------------------------------------------------------ searching

    def search(
        self,
        vector: ArrayLike,
        top_k: int = 5,
        *,
        filters: Filters | None = None,
        exclude: Sequence[str] = (),
    ) -> list[Hit]:
        """The chunks nearest to ``vector``, shape (dim,), by cosine; fewer than ``top_k`` when there are fewer.

        ``exclude`` are chunk ids that must not come back; they and what ``filters`` leaves out take no place.
        """
        query = to_vectors(np.asarray(vector)[None], 1, self.dim)[0].tolist()
        return self._ranked(
            ScoreKind.COSINE, top_k, query=query, using=DENSE, query_filter=to_filter(filters, exclude)
        )

    def search_text(
        self, query: str, top_k: int = 5, *, filters: Filters | None = None, exclude: Sequence[str] = ()
    ) -> list[Hit]:
        """The chunks that share terms with ``query``, by BM25. A query without terms warns and finds nothing."""
        weights = _sparse(query)
        if weights is None:
            _top_k(top_k)
            return []
        return self._ranked(
            ScoreKind.BM25, top_k, query=weights, using=SPARSE, query_filter=to_filter(filters, exclude)
        )

    def search_hybrid(
        self,
        vector: ArrayLike,
        query: str,
        top_k: int = 5,
        *,
        filters: Filters | None = None,
        exclude: Sequence[str] = (),
        pool: int | None = None,
    ) -> list[Hit]:
        """The best ``pool`` chunks by cosine and by BM25, fused by reciprocal rank in one query.

        The pool (50, or ``top_k`` if that is more) decides the ranks; results for different ``top_k``
        are prefixes of each other as long as it stays the same. Within one list Qdrant ranks ties.
        """
        from qdrant_client import models

        pool = max(POOL, top_k) if pool is None else pool
        if pool < _top_k(top_k):
            raise ConfigError(f"the pool ({pool}) is smaller than top_k ({top_k}); raise it")
        keep = to_filter(filters, exclude)
        dense = to_vectors(np.asarray(vector)[None], 1, self.dim)[0].tolist()
        lists = [models.Prefetch(query=dense, using=DENSE, limit=pool, filter=keep)]
        if (weights := _sparse(query)) is not None:
            lists.append(models.Prefetch(query=weights, using=SPARSE, limit=pool, filter=keep))
        fuse = models.RrfQuery(rrf=models.Rrf(k=RRF_K + 1))  # Qdrant counts ranks from 0
        return self._ranked(ScoreKind.RRF, top_k, query=fuse, prefetch=lists)

    def _ranked(self, kind: ScoreKind, top_k: int, **query: Any) -> list[Hit]:
        """Run a query and cut it at ``top_k``, looking past the cut as long as scores there are equal."""
        limit = _top_k(top_k) + 10
        while True:
            with explained(self.where):
                points = self._client.query_points(self.name, limit=limit, with_payload=True, **query).points
            if len(points) < limit or _rounded(points[-1].score) < _rounded(points[top_k - 1].score):
                break
            limit *= 2
        hits = [Hit(to_chunk(point.payload or {}), point.score, kind) for point in points]
        hits.sort(key=lambda hit: (-_rounded(hit.score), hit.chunk.doc_id, hit.chunk.start, hit.chunk_id))
        return hits[:top_k]


def _rounded(score: float) -> float:
    """Scores that differ less than arithmetic does between two machines count as equal."""
    return round(score, 6)


def _top_k(top_k: int) -> int:
    if top_k < 1:
        raise ConfigError(f"top_k must be at least 1; got {top_k}")
    return top_k


def _sparse(query: str) -> models.SparseVector | None:
    from qdrant_client import models

    ids, weights = lexical.query_weights(query)
    if not ids:
        warnings.warn(f"{query!r} holds no searchable term, so BM25 finds nothing", stacklevel=3)
        return None
    return models.SparseVector(indices=ids, values=weights)
