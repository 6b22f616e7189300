"""The name under which published notebooks read the exact cache: ``cookbook._cache.stats()["entries"]``."""

from cookbook.cache import stats

__all__ = ["stats"]
