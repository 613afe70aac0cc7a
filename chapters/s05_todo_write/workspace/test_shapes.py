"""Run it: no output means that all is well."""

from shapes import area, perimeter

assert area(2, 3) == 6
assert perimeter(2, 3) == 10
