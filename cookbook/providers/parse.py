"""What a reply may look like: JSON schemas going out, strict parsing coming back.

Nothing here guesses. A reply is one of the allowed verdicts, or one JSON object that fits the
schema, or it raises an error that quotes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cookbook.errors import ConfigError, ReplyTruncated, ReplyUnparsable
from cookbook.providers.call import Reply
from cookbook.schema import Messages

Model = TypeVar("Model", bound=BaseModel)

MAX_TEXT = 400
"""Characters of a string whose schema sets no limit: small models otherwise write until cut off."""
MAX_ITEMS = 20
"""Items of a list whose schema sets no limit."""


# ---------------------------------------------------------------- what we ask for


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema, closed (no further keys, all keys required) and bounded."""
    schema: dict[str, Any] = _bounded(model.model_json_schema())
    return schema


def _bounded(node: Any) -> Any:
    if isinstance(node, list):
        return [_bounded(item) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("properties"), dict):
        named = {name: _bounded(sub) for name, sub in node["properties"].items()}
        rest = {key: _bounded(sub) for key, sub in node.items() if key not in ("properties", "title")}
        return {**rest, "properties": named, "required": list(named), "additionalProperties": False}
    bounded = {key: _bounded(sub) for key, sub in node.items() if key not in ("title", "default")}
    if node.get("type") == "string" and "enum" not in node and "const" not in node:
        bounded.setdefault("maxLength", MAX_TEXT)
    if node.get("type") == "array":
        bounded.setdefault("maxItems", MAX_ITEMS)
    return bounded


def with_schema(messages: Messages, schema: Mapping[str, Any]) -> Messages:
    """The messages with the schema told in words, for a provider that is not known to enforce it."""
    *before, last = messages
    told = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"
    return [*before, {**last, "content": f"{last['content']}\n\n{told}"}]


# ---------------------------------------------------------------- before any parsing


_THINK = re.compile(r"<think>.*?</think>", re.DOTALL)


def without_thinking(reply: Reply, max_tokens: int) -> str:
    """The reply's text without ``<think>`` blocks; ReplyTruncated when one never closes."""
    text = _THINK.sub("", reply.text)
    if "<think>" in text:
        raise ReplyTruncated(
            f"{reply.model} was still thinking when it reached max_tokens={max_tokens}; raise max_tokens"
        )
    return text.strip() if text != reply.text else text


def require_whole(reply: Reply, max_tokens: int) -> None:
    """ReplyTruncated when the reply was cut off, even if the part that came would parse."""
    if reply.truncated:
        raise ReplyTruncated(
            f"{reply.model} was cut off at max_tokens={max_tokens}: {_quote(reply.text, 60)}; raise max_tokens"
        )


# ---------------------------------------------------------------- objects


def parse_reply(text: str, schema: type[Model], *, model: str) -> Model:
    """The last JSON object of the reply as ``schema``; ReplyUnparsable when there is none or it does not fit.

    Accepts fences and chatter around the object. Types are strict and unknown keys are refused.
    """
    found = last_object(text)
    if found is None:
        raise ReplyUnparsable(f"{model} did not reply with a JSON object: {_quote(text)}")
    try:
        return schema.model_validate_json(json.dumps(found), strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the object"
        raise ReplyUnparsable(
            f"{model} replied with JSON that does not fit {schema.__name__} "
            f"({where}: {first['msg']}): {_quote(text)}"
        ) from None


def last_object(text: str) -> dict[str, Any] | None:
    """The last top-level JSON object in a text, None when there is none or when a broken one is in it.

    A reply may quote an object (an example, a passage) before it gives its own, so the last one
    counts. An object inside a broken one, or inside a list, is not the reply and is not taken.
    """
    found: dict[str, Any] | None = None
    position = 0
    while (match := _OPENING.search(text, position)) is not None:
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except ValueError:
            if match["holds_object"]:
                return None
            position = match.start() + 1  # a bracket in prose
            continue
        except RecursionError:
            return None
        if isinstance(value, dict):
            found = value
        elif match["holds_object"]:
            return None
    return found


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_OPENING = re.compile(r"(?:\[[\s\[]*)?(?P<holds_object>\{)|\[")
_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_no_constant)


# ---------------------------------------------------------------- one-word verdicts

_BLANKS = re.compile(r"\s+")
_MARKUP = "\\s*_`\"'“”‘’#>()\\[\\]"
_VERDICT = re.compile(
    rf"[{_MARKUP}]*(?P<head>[^\W_]+(?:[ _-][^\W_]+)*)[{_MARKUP}]*"  # the words themselves, inside markup
    rf"(?:[.!]?[{_MARKUP}]*|(?:[,;:.!][{_MARKUP}]*|\s[-–—]\s|\n)(?P<reason>[^\W\d_].*))",
    re.DOTALL,
)
_HEDGES = frozenset(
    ["but", "however", "although", "though", "or", "maybe", "perhaps", "unless", "except", "unsure"]
)


def variants_of(labels: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """``{"yes": "relevant", ...}``: which words state which label; ConfigError if one states two."""
    variants: dict[str, str] = {}
    for label, group in labels.items():
        for variant in group:
            words = _words(variant)
            if not words or variants.setdefault(words, label) != label:
                raise ConfigError(
                    f"the variant {variant!r} does not tell the labels {', '.join(labels)} apart"
                )
    return variants


def parse_label(text: str, labels: Mapping[str, Sequence[str]], *, model: str = "the model") -> str:
    """The label that the reply states in so many words, case, markup and punctuation aside.

    The whole reply, or all of it before the first comma, full stop or line break, must be one of
    the label's variants; a reason after it may not hedge or name another label. Anything else
    ("cannot tell", "yes and no", "yes?", "") is ReplyUnparsable.
    """
    variants = variants_of(labels)
    match = _VERDICT.fullmatch(_BLANKS.sub(_one_blank, text.strip()))
    label = variants.get(_words(match["head"])) if match else None
    if match is None or label is None:
        raise ReplyUnparsable(f"{model} gave no verdict out of {', '.join(variants)}: {_quote(text)}")
    reason = _words(match["reason"] or "")
    longest_first = "|".join(map(re.escape, sorted(variants, key=len, reverse=True)))
    named = re.findall(rf"\b(?:{longest_first})\b", reason)
    if any(variants[other] != label for other in named) or _HEDGES & set(reason.split()):
        raise ReplyUnparsable(f"{model} gave more than one verdict: {_quote(text)}")
    return label


def label_of_token(token: str, variants: Mapping[str, str]) -> str | None:
    """The label that one token states (" Yes", "YES", "yes."), None when it states none."""
    return variants.get(_words(token))


def _words(text: str) -> str:
    """Lower-case words with single spaces: ``NO_RETRIEVE.`` and ``no retrieve`` are the same words."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _one_blank(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def _quote(text: str, limit: int = 200) -> str:
    return repr(text[:limit])
