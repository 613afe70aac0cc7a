"""The tables of a fleet: created once by `harness fleet init`, their version checked by every connection."""

import re
from importlib import resources
from typing import Any

from harness.base.errors import HarnessError

SCRIPTS = ("schema.sql", "schema_2.sql")
"""What makes the tables of each version from those of the one before."""
VERSION = len(SCRIPTS)
"""Of the tables. Only `create` uses a database with another one."""
SCHEMAS = ("harness", "harness_slots", "harness_board", "harness_mail", "harness_schedule", "harness_tasks")
GRANTEES = """
SELECT grantee::text FROM information_schema.role_table_grants
WHERE table_schema = 'harness' AND table_name = 'scopes' AND privilege_type = 'INSERT'
    AND grantee NOT IN (current_user, 'PUBLIC')
"""
"""The roles that could use the tables of an older version."""
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
    """Create the tables and those of pgqueuer, or what an older version lacks, all or none; False: nothing is missing.

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
        found = await version_of(connection) or 0
        for script in SCRIPTS[found:]:
            await connection.execute(resources.files("harness.fleet").joinpath(script).read_text("utf-8"))
        if found == 0:
            await connection.execute("INSERT INTO harness.version VALUES ($1)", VERSION)
            environment = QueryBuilderEnvironment(queue_settings())
            await Queries(AsyncpgDriver(connection), environment).install(create_schema=False)
        elif found < VERSION:
            await connection.execute("UPDATE harness.version SET number = $1", VERSION)
        await check(connection, where)
        if role and not re.fullmatch(r"\w+", role):
            raise FleetError(f"{role!r} is not the name of a role; use letters, digits and _.")
        earlier = [row["grantee"] for row in await connection.fetch(GRANTEES)] if 0 < found < VERSION else []
        for name in dict.fromkeys((*filter(None, (role,)), *earlier)):
            schemas, quoted = ", ".join(SCHEMAS), '"{}"'.format(name.replace('"', '""'))
            for privilege in (
                f"USAGE ON SCHEMA {schemas}",
                f"SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schemas}",
                f"USAGE ON ALL SEQUENCES IN SCHEMA {schemas}",
            ):
                await connection.execute(f"GRANT {privilege} TO {quoted}")
    return found < VERSION


def queue_settings() -> Any:
    """The settings with which pgqueuer uses these tables."""
    from pgqueuer.domain.settings import DBSettings

    return DBSettings(db_schema=QUEUE_SCHEMA)
