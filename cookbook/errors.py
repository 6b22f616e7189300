"""Every error a reader can meet, each with one line that says what to do.

The command line prints ``str(error)`` and exits non-zero; a notebook shows the same sentence.
"""


class CookbookError(Exception):
    """Base of all errors raised on purpose. The message is one line and names the next step."""


class ConfigError(CookbookError):
    """A setting, a name or an argument is wrong (PROVIDER, corpus, system, k, an empty question)."""


class MissingKey(ConfigError):
    """A hosted provider was called and the environment variable with its key is not set."""


class MissingExtra(ConfigError):
    """An optional library is not installed. The message names the pip command that brings it."""


class Unreadable(CookbookError):
    """A file holds no text that can be read. The message is the reason, as the report of a run shows it."""


class WeightsError(CookbookError):
    """Model weights are missing, incomplete, or do not have the published SHA-256."""


class StoreError(CookbookError):
    """A vector store cannot be opened or used as asked (locked path, wrong embedder, no collection)."""


class FingerprintMismatch(StoreError):
    """The collection was written with another embedder, or another setting of the same one."""


class WrongScoreKind(CookbookError):
    """A threshold fitted for one kind of score was applied to another kind."""


class CallError(CookbookError):
    """A model call did not give a usable reply. A call error is never a verdict."""


class ReplayMiss(CallError):
    """No recording exists for this exact call. There is no silent fallback to another model."""


class ProviderUnavailable(CallError):
    """The provider timed out, refused the connection, or answered with an error status."""


class ContextOverflow(CallError):
    """The prompt plus the requested reply is longer than the model's window; found before the call."""


class TooLongToJudge(CookbookError):
    """A question or a claim leaves an encoder no room for the passage beside it: on this text it has no verdict."""


class ReplyTruncated(CallError):
    """The reply hit the token limit (or a thinking block never closed). Raise the limit, do not retry."""


class ReplyUnparsable(CallError):
    """The reply is not one of the allowed verdicts, or not valid for the schema."""


class BudgetExhausted(CookbookError):
    """The request used all its calls. Raised before the call that would exceed the budget."""


#: What makes a verdict "failed". A replay miss, a missing key or a prompt that does not fit a model's window is
#: the operator's problem and must surface; it says nothing about the passage that was to be judged.
GRADER_FAILURES = (ReplyUnparsable, ReplyTruncated, ProviderUnavailable, TooLongToJudge)


class NotebookFailed(CookbookError):
    """A notebook stopped with an error while it was executed."""


class LabNotPassed(CookbookError):
    """``LabVerdict.require()`` on a verdict that is not passed. The message is the verdict's."""
