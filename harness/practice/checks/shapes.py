"""The shape of a request: its fields and their types, by the parameter types of the `anthropic` SDK.

pydantic's `TypeAdapter` reads the same types, but takes any iterable where the API takes a list, ignores unknown fields
and needs a quarter of a second to prepare. Here a type is read when a request first needs it, and a problem is put as
the API puts it: the path to the field, with the tag of each block on the way, then one sentence.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from harness.events import Json

_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number"}
_LISTS = (Iterable, Sequence, list)


@cache
def request_fields() -> Mapping[str, Any]:
    """The fields of a request with their types. Takes a second where the SDK is not loaded yet."""
    from anthropic.types.beta.message_create_params import MessageCreateParamsBase

    fields = {**_fields(MessageCreateParamsBase), "stream": bool}
    del fields["betas"]  # a header
    return fields


def request_problems(body: Json, *, without: Iterable[str] = (), also: Iterable[str] = ()) -> Iterator[str]:
    """The problems with the shape of a request body.

    Args:
        body: the request.
        without: fields that are not required here.
        also: fields that are accepted here, whatever they hold.
    """
    known = request_fields()
    fields = {**known, **{name: NotRequired[_bare(known[name])] for name in without}, **dict.fromkeys(also, object)}
    return (one for one in _object_problems(body, fields, "") if not _is_newer(one, body.get("messages")))


def messages_problems(messages: Any) -> Iterator[str]:
    """The problems with the shape of the messages of a request."""
    return (
        one for one in _problems(messages, request_fields()["messages"], "messages") if not _is_newer(one, messages)
    )


_UNKNOWN_BLOCK = re.compile(r"messages\.(\d+)\.content\.\d+: Input tag '")


def _is_newer(problem: str, messages: Any) -> bool:
    """Whether the problem is only that the SDK does not know a block of a reply, which a newer API may have sent."""
    found = _UNKNOWN_BLOCK.match(problem)
    return found is not None and messages[int(found[1])].get("role") == "assistant"


@cache
def _fields(kind: Any) -> Mapping[str, Any]:
    """The fields of a typed dictionary with their types."""
    return get_type_hints(kind, include_extras=True)


def _bare(kind: Any) -> Any:
    """A type without the words around it that say whether a field is required."""
    while get_origin(kind) in (Required, NotRequired):
        kind = get_args(kind)[0]
    return kind


def _problems(value: Any, kind: Any, at: str) -> Iterator[str]:
    kind = _bare(kind)
    origin = get_origin(kind)
    if is_typeddict(kind):
        if isinstance(value, dict):
            yield from _object_problems(value, _fields(kind), f"{at}.")
        else:
            yield f"{at}: Input should be a valid dictionary"
    elif origin in (Union, UnionType):
        yield from _union_problems(value, get_args(kind), at)
    elif origin is Literal:
        if value not in get_args(kind):
            yield f"{at}: Input should be {_either(get_args(kind))}"
    elif origin in _LISTS:
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from _problems(item, get_args(kind)[0], f"{at}.{number}")
        else:
            yield f"{at}: Input should be a valid list"
    elif origin is dict:
        if not isinstance(value, dict):
            yield f"{at}: Input should be a valid dictionary"
    elif kind in _SCALARS and not _is(value, kind):
        yield f"{at}: Input should be a valid {_SCALARS[kind]}"


def _object_problems(value: Json, fields: Mapping[str, Any], prefix: str, *, closed: bool = True) -> Iterator[str]:
    for name in value:
        if closed and name not in fields:
            yield f"{prefix}{name}: Extra inputs are not permitted"
    for name, kind in fields.items():
        if name in value:
            yield from _problems(value[name], kind, f"{prefix}{name}")
        elif get_origin(kind) is Required:
            yield f"{prefix}{name}: Field required"


def _union_problems(value: Any, members: Sequence[Any], at: str) -> Iterator[str]:
    """The problems by the member that the value is most like."""
    objects = [member for member in members if is_typeddict(member)]
    lists = [member for member in members if get_origin(member) in _LISTS]
    if value is None and NoneType in members:
        return
    if objects and (isinstance(value, dict) or not lists):
        if not isinstance(value, dict):
            if not any(_is(value, member) for member in members):
                yield f"{at}: Input should be a valid dictionary"
        elif len(objects) > 1:
            yield from _tagged_problems(value, tuple(objects), at)
        else:
            open_ended = any(get_origin(member) is dict for member in members)
            yield from _object_problems(value, _fields(objects[0]), f"{at}.", closed=not open_ended)
    elif lists and not any(_is(value, member) for member in members):
        yield from _problems(value, lists[0], at)
    elif not lists and not any(_is(value, member) for member in members):
        yield from _problems(value, next(member for member in reversed(members) if member is not NoneType), at)


def _tagged_problems(value: Json, members: tuple[Any, ...], at: str) -> Iterator[str]:
    """Of a value that one of several typed dictionaries describes: that with its `type`, or of a message its `role`."""
    by, tagged, usual = _tags(members)
    tag = value.get(by, usual) if by else None
    if by is None:
        return
    if tag is None:
        yield f"{at}.{by}: Field required"
    elif isinstance(tag, str) and tag in tagged:
        yield from _object_problems(value, _fields(tagged[tag]), f"{at}." if by == "role" else f"{at}.{tag}.")
    elif by == "role":
        yield f"{at}.role: Input should be {_either(tuple(tagged))}"
    else:
        known = ", ".join(f"'{name}'" for name in sorted(tagged))
        yield f"{at}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {known}"


@cache
def _tags(members: tuple[Any, ...]) -> tuple[str | None, Mapping[str, Any], str | None]:
    """The tag field of typed dictionaries, the dictionary for each tag, and the tag that may be left out."""
    by = next((name for name in ("type", "role") if all(name in _fields(member) for member in members)), None)
    tagged, usual = dict[str, Any](), None
    for member in members if by else ():
        kind = _fields(member)[by or ""]
        options = get_args(_bare(kind)) if get_origin(_bare(kind)) in (Union, UnionType) else (_bare(kind),)
        tags = [tag for option in options if get_origin(option) is Literal for tag in get_args(option)]
        tagged |= dict.fromkeys(tags, member)
        usual = usual if get_origin(kind) is Required else tags[0]
    return by, tagged, usual


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a plain type, or one of the words of a literal."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind in _SCALARS and isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _either(words: Sequence[Any]) -> str:
    quoted = [f"'{word}'" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
