"""Those who ask a watcher too much, for survival.py: scrapers, browsers, and clients of the stream that never read.

    survival_load.py scrapers|browsers|sluggards PORT TOKEN NUMBER [RATE]

Runs until it is told to end, and prints what it saw: once a second a line of JSON, and one more at the end. A watcher that is
not there is asked again: what failed is counted, by second.
"""
import array
import asyncio
import json
import signal
import sys
import time

METRICS = "/metrics"
REST = 8  # of the page (web/src/job.ts): at most one part in so many of its time is spent on fetching
TILES = ("self", "wait", "data")


class Tally:
    """What was seen in this second, and all latencies."""

    def __init__(self):
        self.latencies = array.array("f")
        self.counts = {}
        self.bad = []

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def done(self, seconds, status):
        self.latencies.append(seconds)
        self.count(f"status_{status}")

    def wrong(self, why):
        """An answer that is not what was asked for."""
        self.count("wrong")
        if len(self.bad) < 10:
            self.bad.append(why)

    def tell(self, **more):
        print(json.dumps({"at": time.monotonic(), **self.counts, **more}), flush=True)
        self.counts = {}

    def quantiles(self):
        ordered = sorted(self.latencies)
        if not ordered:
            return {}
        return {f"p{100 * q:g}_ms": round(1e3 * ordered[int(q * (len(ordered) - 1))], 2) for q in (0.5, 0.9, 0.99, 0.999, 1.0)}


class Client(asyncio.Protocol):
    """A connection that is kept: one GET after another."""

    def __init__(self, token):
        self.head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        self.transport = self.waiting = None

    def connection_made(self, transport):
        self.transport = transport
        self.buffer = bytearray()
        self.needed = None

    def data_received(self, data):
        self.buffer += data
        if self.needed is None:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            at = self.buffer.find(b"Content-Length: ", 0, end)
            self.needed = end + 4 + int(self.buffer[at + 16:self.buffer.find(b"\r\n", at)])
        if len(self.buffer) >= self.needed and self.waiting and not self.waiting.done():
            self.waiting.set_result(bytes(self.buffer))

    def connection_lost(self, _error):
        self.transport = None
        if self.waiting and not self.waiting.done():
            self.waiting.set_exception(ConnectionError("hung up"))

    async def get(self, port, path):
        """The whole answer."""
        if self.transport is None:
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
        self.buffer = bytearray()
        self.needed = None
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(b"GET " + path.encode() + b" HTTP/1.1\r\n" + self.head)
        return await self.waiting


async def ask(client, port, path, tally):
    """The body, or nothing where nobody answered well."""
    begin = time.monotonic()
    try:
        answer = await asyncio.wait_for(client.get(port, path), 20)
    except (OSError, asyncio.TimeoutError) as error:
        tally.count("failed_" + type(error).__name__)
        if client.transport:
            client.transport.abort()
            client.transport = None
        await asyncio.sleep(0.2)
        return None
    tally.done(time.monotonic() - begin, int(answer[9:12]))
    return answer[answer.find(b"\r\n\r\n") + 4:] if answer[9:12] == b"200" else None


async def scrape(port, token, tally, pace, offset):
    client = Client(token)
    due = time.monotonic() + offset
    while True:
        now = time.monotonic()
        if due > now:
            await asyncio.sleep(due - now)
        elif now - due > 1:
            due = now  # what was not asked in time is not made up for
        due += pace
        body = await ask(client, port, METRICS, tally)
        if body is not None and not (body.startswith(b"# HELP ringward_") and body.endswith(b"\n")):
            tally.wrong(body[-60:].decode(errors="replace"))


async def refresh(clients, port, job, tally):
    """What a page fetches when there is news: job, incidents and picture at once, then the pictures of the breakdown."""
    base = f"/api/v1/jobs/{job}"
    paths = [base, base + "/incidents", f"{base}/heat?metric={TILES[0]}&steps=240"]
    bodies = await asyncio.gather(*(ask(each, port, path, tally) for each, path in zip(clients, paths)))
    for tile in TILES[1:]:
        bodies.append(await ask(clients[0], port, f"{base}/heat?metric={tile}&steps=240", tally))
    for body in bodies:
        if body is not None and not body.endswith(b"}\n"):
            tally.wrong(body[-60:].decode(errors="replace"))


async def browse(port, token, tally, job):
    """A page: the stream, and what it fetches at each status."""
    clients = [Client(token) for _ in range(3)]
    rest_until = 0.0
    request = f"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            tally.count("streams")
            while line := await asyncio.wait_for(reader.readline(), 30):
                if line.startswith(b"HTTP/1.1 ") and b" 200 " not in line:
                    tally.count("stream_refused")
                if not line.startswith(b"event: "):
                    continue
                tally.count("event_" + line[7:].decode().strip())
                begin = time.monotonic()
                if begin < rest_until:
                    continue
                await refresh(clients, port, job, tally)
                rest_until = time.monotonic() + REST * (time.monotonic() - begin)
            tally.count("streams_ended")
            writer.close()
        except (OSError, asyncio.TimeoutError) as error:
            tally.count("stream_" + type(error).__name__)
        await asyncio.sleep(1)


async def dawdle(port, token, tally):
    """Asks for the stream and never reads; comes back when it is dropped."""
    import socket
    request = f"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    while True:
        slow = socket.socket()
        try:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            slow.connect(("127.0.0.1", port))
            slow.send(request)
            tally.count("sluggards")
            while True:
                await asyncio.sleep(1)
                slow.send(b"\r\n")  # fails once the other side has hung up
        except OSError:
            tally.count("sluggards_dropped")
        finally:
            slow.close()
        await asyncio.sleep(1)


async def main():
    kind, port, token, number = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    tally = Tally()
    if kind == "scrapers":
        rate = float(sys.argv[5])
        work = [scrape(port, token, tally, number / rate, at / rate) for at in range(number)]
    elif kind == "browsers":
        work = [browse(port, token, tally, sys.argv[5]) for _ in range(number)]
    else:
        work = [dawdle(port, token, tally) for _ in range(number)]
    ended = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    tasks = [asyncio.create_task(each) for each in work]
    while not ended.is_set():
        try:
            await asyncio.wait_for(ended.wait(), 1)
        except asyncio.TimeoutError:
            tally.tell()
    for task in tasks:
        task.cancel()
    tally.tell(end=True, answers=len(tally.latencies), bad=tally.bad, cpu_seconds=round(time.process_time(), 1), **tally.quantiles())


if __name__ == "__main__":
    asyncio.run(main())
