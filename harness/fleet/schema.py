"""The tables of a fleet: created once by `harness fleet init`, their version checked by every connection."""

import re
from importlib import resources
from typing import Any

from harness.base.errors import HarnessError

VERSION = 1
"""Of the tables. A database with another one is left alone."""
SCHEMAS = ("harness", "harness_slots", "harness_board", "harness_mail", "harness_schedule")
QUEUE_SCHEMA = "harness"
"""Of the tables of pgqueuer."""


class FleetError(HarnessError):
    """The database of the fleet cannot be used now."""


async def version_of(connection: Any) -> int | None:
    """The version of the tables; None: there are none."""
    if await connection.fetchval("SELECT to_regclass('harness.version')") is None:
        return None
    return int(await connection.fetchval("SELECT number FROM harness.version"))


async def check(connection: Any, where: str) -> None:
    """Raises FleetError unless the database has the tables that this version of harness uses."""
    found = await version_of(connection)
    if found is None:
        raise FleetError(f"{where} has no tables of a fleet; run `harness fleet init` once.")
    if found < VERSION:
        raise FleetError(
            f"{where} has tables of an older harness ({found}, needed is {VERSION}); run `harness fleet init` once."
        )
    if found > VERSION:
        raise FleetError(
            f"{where} has tables of a newer harness ({found}, known is {VERSION}); update harness on this machine."
        )


async def create(connection: Any, where: str, role: str = "") -> bool:
    """Create the tables and those of pgqueuer, all or none; False: they are there already.

    Args:
        connection: of a role that may create schemas.
        role: may use the tables afterwards, but not change them.

    Raises FleetError.
    """
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
    from pgqueuer.queries import Queries

    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('harness fleet init', 0))")
        made = await version_of(connection) is None
        if made:
            await connection.execute(resources.files("harness.fleet").joinpath("schema.sql").read_text("utf-8"))
            await connection.execute("INSERT INTO harness.version VALUES ($1)", VERSION)
            environment = QueryBuilderEnvironment(queue_settings())
            await Queries(AsyncpgDriver(connection), environment).install(create_schema=False)
        await check(connection, where)
        if role:
            if not re.fullmatch(r"\w+", role):
                raise FleetError(f"{role!r} is not the name of a role; use letters, digits and _.")
            schemas = ", ".join(SCHEMAS)
            for privilege in (
                f"USAGE ON SCHEMA {schemas}",
                f"SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schemas}",
                f"USAGE ON ALL SEQUENCES IN SCHEMA {schemas}",
            ):
                await connection.execute(f'GRANT {privilege} TO "{role}"')
    return made


def queue_settings() -> Any:
    """The settings with which pgqueuer uses these tables."""
    from pgqueuer.domain.settings import DBSettings

    return DBSettings(db_schema=QUEUE_SCHEMA)
