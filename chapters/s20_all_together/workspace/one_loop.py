"""The loop that you write: whatever happens is put into one queue, and one loop takes from it."""

import asyncio
from itertools import count

ORDER = "user", "answer", "result", "end", "mail", "clock"


class Loop:
    def __init__(self, turn, budget):
        self.turn, self.budget = turn, budget
        self.queue, self.numbers = asyncio.PriorityQueue(), count()
        self.parts = {}

    def put(self, kind, text):
        self.queue.put_nowait((ORDER.index(kind), next(self.numbers), text))

    def start(self, name, part):
        self.parts[name] = asyncio.create_task(self.watched(name, part))

    async def watched(self, name, part):
        try:
            await part(self.put)
        except Exception as error:  # noqa: BLE001
            self.put("end", f"{name} has failed: {error!r}")

    async def run(self):
        while self.budget > 0:
            taken = [await self.queue.get()]
            while not self.queue.empty():
                taken.append(self.queue.get_nowait())
            self.budget -= await self.turn([text for _, _, text in taken])

    async def close(self):
        for name, task in reversed(self.parts.items()):
            task.cancel()
            await asyncio.wait([task])
            print(name, "has ended")


async def clock(put):
    while True:
        await asyncio.sleep(5)
        put("clock", "it is time to look at the water")


async def command(put):
    process = await asyncio.create_subprocess_shell("sleep 3; exit 7")
    put("end", f"the command ends with {await process.wait()}")


async def user(put):
    while line := await asyncio.to_thread(input):
        put("user", line)
    raise EOFError("an empty line")


async def turn(texts):
    print("a turn reads:", " · ".join(texts))
    await asyncio.sleep(4)  # here the model would work
    return 1


async def main():
    loop = Loop(turn, budget=4)
    for part in user, command, clock:
        loop.start(part.__name__, part)
    await loop.run()
    await loop.close()


if __name__ == "__main__":
    asyncio.run(main())
