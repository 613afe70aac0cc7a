"""`harness fleet`: the database that machines share."""

import asyncio
import os
from argparse import Namespace

from harness.fleet.database import VARIABLE, FleetDatabase
from harness.fleet.schema import FleetError


def fleet(options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    url = os.environ.get(VARIABLE, "")
    if not url:
        raise FleetError(f"{VARIABLE} is not set; set it to the address of the database, postgresql://….")
    database = FleetDatabase(url)
    made = asyncio.run(database.initialize(options.role))
    print(f"{database.where} {'is ready' if made else 'was ready before'}.")
    return 0
