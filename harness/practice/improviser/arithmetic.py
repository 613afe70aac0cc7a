"""Sums, worked out without running anything."""

import ast
import operator
import re
from collections.abc import Callable, Mapping

Number = int | float
_LARGEST_POWER = 1_000
_LARGEST = 10**300
_OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_WORDS = (
    (re.compile(r"\bplus\b|足す|たす|＋"), "+"),
    (re.compile(r"\bminus\b|引く|ひく|－"), "-"),
    (re.compile(r"\b(?:times|multiplied by)\b|掛ける|かける|×|✕"), "*"),
    (re.compile(r"\b(?:divided by|over)\b|割る|わる|÷|／"), "/"),
    (re.compile(r"\^"), "**"),
)
_EXPRESSION = re.compile(r"[-+]?\(*\s*-?\d[\d.\s()]*(?:(?:\*\*|//|[-+*/%])\s*[-+(\s]*\d[\d.\s)]*)+")


def expression_in(text: str) -> str | None:
    """An arithmetic expression in a sentence, None when there is none."""
    for pattern, sign in _WORDS:
        text = pattern.sub(f" {sign} ", text)
    found = _EXPRESSION.search(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text))
    return found[0].strip(" .") if found and len(found[0]) <= 200 else None


def value_of(expression: str) -> Number | None:
    """The value; None where there is none (division by zero) or where it is beyond all use."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (ValueError, ArithmeticError, SyntaxError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(left), _value(right)))
        case _:
            raise ValueError("not arithmetic")


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > _LARGEST_POWER or abs(base) > _LARGEST_POWER or (base < 0 and not float(exponent).is_integer()):
        raise ValueError("too large")
    return _bounded(base**exponent)


def _bounded(number: Number) -> Number:
    if abs(number) > _LARGEST:
        raise ValueError("too large")
    return number
