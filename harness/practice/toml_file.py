"""TOML files of the practice side: given as a path, or by the name of one that comes with the program."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from harness.base.regular_file import NotRegularError, read_regular
from harness.base.toml_text import toml_of
from harness.practice.toml_table import ScriptError, Table

MOST_BYTES = 20_000_000
"""Of a file; replies that make a window overflow have room."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file."""

    folder: str
    """Where those are that come with the program, in `harness.practice`."""
    called: str
    """In a sentence: "script file"."""

    def shipped(self) -> tuple[str, ...]:
        """Names of the files that come with the program."""
        files = (resources.files("harness.practice") / self.folder).iterdir()
        return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))

    def read(self, source: Path | str) -> tuple[str, str]:
        """The text of a file, and what it is called in a complaint. A file comes before a shipped one of its name.

        Raises ScriptError, one sentence.
        """
        path, name = Path(source), str(source)
        try:
            if name in self.shipped() and not path.exists():
                file = resources.files("harness.practice").joinpath(self.folder, f"{name}.toml")
                return file.read_text("utf-8"), f"{name}.toml"
            return read_regular(path, MOST_BYTES).decode().replace("\r\n", "\n"), name
        except FileNotFoundError as error:
            names = ", ".join(self.shipped())
            raise ScriptError(f"{name}: there is no such {self.called}; give a path, or one of {names}.") from error
        except (NotRegularError, IsADirectoryError) as error:
            what = f"no regular file of at most {MOST_BYTES:,} bytes"
            raise ScriptError(f"{name}: is {what}; a {self.called} is TOML.") from error
        except (OSError, ValueError) as error:  # a null byte in a path is a ValueError, and text that is not UTF-8 too
            raise ScriptError(f"{name}: cannot be read ({error}); a {self.called} is TOML in UTF-8.") from error


def table_of(text: str, name: str) -> Table:
    """The outermost table of TOML text. Raises ScriptError, one sentence."""
    try:
        return Table(toml_of(text), name)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ScriptError(f"{name}: is not valid TOML, {str(error)[:1].lower()}{str(error)[1:]}.") from error
    except RecursionError as error:
        raise ScriptError(f"{name}: is nested too deeply; write it in fewer levels.") from error
