#!/usr/bin/env python3
"""Writes the seeds of corpus/csv, npz, recording, telemetry, host_files, step_csv, agent,
horovod_timeline and rank_log (a first byte of most chooses the fuzzer's options).

    make_corpus.py [FOLDER]     (default: corpus beside this file)

Only the standard library is needed, so that anyone can add a seed.
"""
import gzip
import io
import pathlib
import re
import sqlite3
import struct
import sys
import tempfile
import zipfile

CSV = {
    "header": b"\0a,b,c\n1,x,\n2,y,3.5\n4,x,NA\n",
    "headerless": b"\0" + b"1,x\n2,y\n3,x\n",
    "quotes": b'\0a,b\n"x,1","y\n""z"""\n" 2" ,5" pipe\n',
    "crlf_bom": b"\0\xef\xbb\xbfa;b\r\n1;2\r\n\r\n3;4\r\n",
    "tabs": b"\0a\tb\n1e300\t-1e300\n-1e308\t1e-308\n",
    "numbers": b"\0+1,-.5,5.\n1e400,1e-400,0x1\n1_0,--1,+-1\n",
    "infinite": b"\0a,b\n1,inf\n2,3\n",
    "stray_text": b"\x08" + b"1,2\n3,4\nx,5\n",
    "categorical": b"\x11" + b"1,2\n2,2.0\n3,x\n4,\n",
    "label": b"\x22" + b"normal,1\nattack,2\n,3\n",
    "many_levels": b"\0k,v\n" + b"".join(b"l%d,%d\n" % (i % 150, i) for i in range(400)),
    "latin1": b"\0k,v\ncaf\xe9,1\n%25\xff,2\ncaf\xe9,3\n",
    "open_quote": b'\0a,b\n1,"x\n2,y\n',
    "utf16": b"\0\xff\xfea\0,\0b\0\n\0",
    "gzip": b"\0" + gzip.compress(b"a,b\n1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0),
    "gzip_cut": b"\0" + gzip.compress(b"a,b\n1,2\n" * 9, mtime=0)[:-6],
}


def npy(descr, shape, data, order=False, version=1):
    header = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def npz(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data, method)
    return out.getvalue()


ROWS = npy("<f8", (3, 2), struct.pack("<6d", 1, 2, 3, float("nan"), 5, 7))
LABELS = npy("|u1", (3,), bytes([0, 1, 0]))
NPZ = {
    "stored": b"\1" + npz({"X": ROWS, "y": LABELS}),
    "deflated": b"\1" + npz({"X": ROWS, "y": LABELS}, zipfile.ZIP_DEFLATED),
    "series": b"\0" + npz({"train": ROWS, "test": ROWS, "test_label": LABELS}),
    "lonely": b"\1" + npz({"data": ROWS}),
    "nothing": b"\1" + npz({}),
    "cut": b"\1" + npz({"X": ROWS})[:-30],
    "labels_short": b"\1" + npz({"X": ROWS, "y": npy("|b1", (2,), b"\1\0")}),
    "big_endian": b"\2" + npy(">i4", (2, 2), struct.pack(">4i", 1, 2, 3, -4)),
    "half": b"\2" + npy("<f2", (4,), struct.pack("<4e", 1, -2, 6e-8, 3)),
    "fortran": b"\2" + npy("<i2", (2, 3), struct.pack("<6h", *range(6)), True),
    "version_2": b"\2" + npy("<u8", (2, 1), struct.pack("<2Q", 1, 2**64 - 1), version=2),
    "huge_shape": b"\2" + npy("<f8", (2**40, 2**20), b"1234"),
    "huge_fortran": b"\2" + npy("<f8", (2**30, 2), b"1234" * 4, True),
    "objects": b"\2" + npy("|O", (3,), b""),
    "three_dimensions": b"\2" + npy("<f4", (1, 1, 1), b"1234"),
}


def planes(code, *values):
    """A blob of recording/pack.h, not compressed."""
    rows = [struct.pack("<" + code, v) for v in values]
    return b"\0" + bytes(row[i] for i in range(struct.calcsize(code)) for row in rows)


START = 1767607200 * 10**9
PROGRESS = (planes("Q", 0, 5) + planes("Q", 0, 1)[1:] + planes("q", 3, 0)[1:] + planes("Q", 9, 0)[1:] + b"\x83\0")
SAMPLES = planes("f", 1.5, float("nan"))
# What fills a recording of two ranks, after its tables.
ROWS = [
    ("metric_rows", [(0, "step_seconds"), (7, "own")]),
    ("event_rows", [(0, 1, START, *[None] * 7, "job", None, None),
                    (1, 4, START, *[None] * 8, 2, PROGRESS),
                    (3, 3, START + 9, 3, 1, 0, START + 9, *[None] * 6),
                    (4, 5, START + 9, *[None] * 4, 1, 0, 9, *[None] * 3),
                    (5, 6, START + 9, *[None] * 7, "[[0,1]]", None, None),
                    (6, 2, START + 9, *[None] * 10)]),
    ("sample_rows", [(3 * 4096, 0, 2, SAMPLES), (3 * 4096 + 1, 7, 2, SAMPLES)]),
    ("rank_rows", [(0, 0, "a", 0, 0), (0, 1, "b", 0, 1)]),
    ("call_rows", [(0, START, 6, 0)]),
    ("rule_rows", [(0, "a = 1")]),
    ("finding_rows", [(1, 1, "rank-slow", "cusum", "[[1,1]]", "b", -1, "data", 3, 2, START, 0.5, 1.5, 2.5, 2.0, 0, "e")]),
    ("cause_rows", [(1, 1, "compute", "slow-rank", "s", "[[1,1]]", "[[0,0]]", 0.9, "r", "restart", 2, 3, START, START,
                     1, 2.0, 1.5, START)]),
    ("host_rows", [(1, 0, "b")]),
    ("evidence_rows", [(1, 0, "f", 3, "t")]),
    ("minute_rows", [(29460120, 0, 1, 1, 1.5, 1.5, 1.5)]),
    ("span_rows", [(29460120, 0, 6, 0, 0, 1)]),
]


def recording(rows):
    """A recording with small pages. Its tables are those of src/recording/schema.cc, to the letter."""
    schema = (pathlib.Path(__file__).resolve().parents[2] / "src" / "recording" / "schema.cc").read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.rwrec"
        database = sqlite3.connect(path)
        database.execute("PRAGMA page_size = 512")
        for statement in re.findall(r'R"sql\((CREATE TABLE.*?)\)sql"', schema, re.S):
            database.execute(statement)
        for table, values in rows:
            database.executemany(f"INSERT INTO {table} VALUES({','.join('?' * len(values[0]))})", values)
        database.execute(f"PRAGMA application_id = {0x52775263}")
        database.execute("PRAGMA user_version = 1")
        database.commit()
        database.close()
        return path.read_bytes()


RECORDING = {
    "whole": b"\0" + recording(ROWS),
    "empty": b"\0" + recording([]),
    "cut": b"\0" + recording(ROWS)[:-700],
    "samples": b"\1\2" + SAMPLES,
    "samples_of_nobody": b"\1\0\0",
    "progress": b"\2\2" + PROGRESS,
}

HEADER, STEPS, METRICS, COLLECTIVES = range(4)  # parts of a recorder's segment


def patch(part, byte, value):
    """One word of a segment: `byte` from the beginning of the part, a multiple of 8."""
    return struct.pack("<HBQ", byte // 8, part, value % 2**64)


TELEMETRY = {
    "sound": b"\0",
    "cut_in_header": b"\1",
    "cut_in_rings": b"\x80",
    "in_the_making": b"\0" + patch(HEADER, 0, 0),
    "version": b"\0" + patch(HEADER, 8, 2),
    "rank": b"\0" + patch(HEADER, 40, -1),
    "capacity": b"\0" + patch(HEADER, 216, 2**63),
    "offset": b"\0" + patch(HEADER, 208, -8),
    "record_bytes": b"\0" + patch(HEADER, 200, 1),
    "head": b"\0" + patch(HEADER, 448, 2**63) + patch(HEADER, 384, -1),
    "names": b"\0" + patch(HEADER, 344, -1) + patch(HEADER, 704, 0x0A0A0A0A0A0A0A0A),
    "phase": b"\0" + patch(HEADER, 584, 255),
    "in_mid_change": b"\0" + patch(HEADER, 576, 7) + patch(HEADER, 640, 7) + patch(HEADER, 672, -1),
    "torn": b"\0" + patch(STEPS, 0, 0) + patch(METRICS, 64, 9) + patch(COLLECTIVES, 128, 0),
    "metric": b"\0" + patch(METRICS, 24, -1) + patch(COLLECTIVES, 56, -1),
}


def step_rows(steps, ranks=4, slow=()):
    """Rows of one file for all ranks, healthy but for `slow` ranks in the second half."""
    rows = [b"step,rank,timestamp,step_ms,sync_ms,loss,local_grad_norm,memory_bytes"]
    for step in range(steps):
        for rank in range(ranks):
            late = rank in slow and 2 * step > steps
            rows.append(b"%d,%d,%d,%d,%d,%.2f,0.5,1e9" % (step, rank, 1000 + step, 1000 + 500 * bool(slow) + step % 7,
                                                       100 if late else 300 + 500 * bool(slow), 1 + rank / 9))
    return b"\n".join(rows) + b"\n"


STEP_CSV = {
    "healthy": b"\0" + step_rows(30),
    "slow_rank": b"\0" + step_rows(90, slow=(2,)),
    "one_rank": b"\1step,step_seconds,loss\n0,1,2\n1,1,nan\n2,inf,-1\n",
    "two_files": b"\3step_s,loss\n1,2\n1,2\n1,2\nstep_s,loss\n1,2\n1,2\n1,2\n",
    "no_unit": b"\0worker,batch_time_norm\n0,400\n1,500\n0,400\n1,1e-40\n",
    "torn": b"\1step,step_ms\n0,1\n1\nx,2\n2,3,4\n3,",
    "far_rank": b"\0rank,step_s\n0,1\n1000000,1\n1000001,1\n-1,1\n0.5,1\n",
    "far_times": b"\0rank,step,timestamp,step_s\n0,1,99999999999,1\n0,2,9e9,1e38\n0,3,-1,1\n0,4,0,3e38\n",
    "far_steps": b"\0rank,step,step_s\n0,9e15,1\n0,-8e15,1\n0,8e15,1\n0,1e300,1\n0,nan,1\n",
    "twice": b"\0rank,step,step_s\n0,5,1\n0,5,2\n1,4,1\n0,3,1\n",
    "no_table": b"\1a,b\n1,2\n",
    "quotes": b'\0"rank","step","step_s"\n"0","1","1"\n0,"2",1\n',
}


# The first line is also taken as a key or a path.
HOST_FILES = {
    "stat": b"cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 2 3 400 50 6 7 80 9 9\ncpu3 1 0 0 5 0 0 0 0 0 0\nintr 5\n",
    "process": b"47 (a) b) R 1 2 2 0 -1 4194304 100 0 12 0 500 70 0 0 20 0 3 0 9 1 256 1 1 1 0 0 0 0 0 0 0 0 0 0 17 5 0 0\n",
    "schedstat": b"123 456 7\n",
    "pressure": b"some avg10=0.00 avg60=1.00 avg300=0.50 total=1234\nfull avg10=0.00 total=9\n",
    "meminfo": b"MemAvailable:\nMemTotal:  10 kB\nMemAvailable:   7 kB\n",
    "limit": b"9223372036854771712\n",
    "max": b"max\n",
    "net_dev": b"Inter-| Receive\n lo: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\neth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
    "snmp": b"Ip: A\nIp: 1\nTcp: MaxConn RetransSegs\nTcp: -1 42\n",
    "cgroup": b"9:cpu,memory:/a:b\n0::/../../x\n",
    "mountinfo": b"/srv/me\n1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n2 1 0:5 / /srv rw - nfs4 server:/srv rw\n",
}


def varint(number):
    """As protobuf writes it."""
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def fields(*pairs):
    """Fields of a protobuf message: numbers as varints, floats as doubles, bytes with their length."""
    out = b""
    for number, value in pairs:
        if isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            out += varint(number << 3) + varint(value % 2**64)
    return out


def sight(rank, *more, world=4, pid=7):
    return (1, fields((1, b"job"), (2, rank), (3, world), (4, pid), (5, 9), (6, 10**11), (7, 2), (9, 16), (10, 5), (11, 5),
                      (12, 3), *more))


STEP = (15, fields((1, 10**11), (2, 4), (3, 1), (5, 50 * 10**6), (6, b"".join(map(varint, (0, 1, 45 * 10**6, 0, 9, 0, 0, 0))))))
LOSS = (16, fields((1, 4), (2, 0), (3, 1), (4, 1.5)))
AGENT = {
    "sights": b"\1" + fields(sight(0, STEP, LOSS), sight(1, STEP, LOSS)),
    "ended": b"\1" + fields(sight(0, (9, 6)), sight(1, (9, 2))),
    "machine": b"\1" + fields(sight(0, STEP, (17, fields((1, 13), (2, 0.5))), (17, fields((1, 99), (2, 0.5))))),
    "backwards": b"\1" + fields(sight(0, (15, fields((1, 5), (2, 9), (3, 1))), (15, fields((1, -5), (2, 1), (3, 1))))),
    "far": b"\1" + fields(sight(2**31 - 2, STEP, world=2**31 - 1), sight(-1), (1, fields((6, 2**63 - 1)))),
    "unknown": b"\1" + fields((99, b"later"), sight(0, (500, 1), STEP)),
    "message": b"\0" + fields((1, 1), (3, b"node"), (4, 1), (5, 1), (6, 10**11), (7, 1), (11, b"\x28\xb5\x2f\xfd\x20\0\1\0\0")),
    "newer": b"\0" + fields((1, 2), (3, b"node"), (4, 1), (5, 1)),
    "answer": b"\2" + fields((1, 5), (2, 1), (3, 10**11), (4, 10**11)),
}


def timeline(*records, head=b"\7[\n"):
    return head + b",".join(b"{" + record + b"}" for record in records)


def allreduce(pid, came, end, ticks=True):
    mark = lambda phase, ts, name=b"": b'"ph": "%s", %s"ts": %d, "pid": %d' % (phase, name and b'"name": "%s", ' % name, ts, pid)
    return [mark(b"B", came[0], b"NEGOTIATE_ALLREDUCE"), *(mark(b"X", ts, b"%d" % rank) for rank, ts in enumerate(came) if ticks),
            mark(b"E", max(came)), mark(b"B", max(came), b"ALLREDUCE"), mark(b"E", end)]


NAMED = b'"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "allreduce.noname.1"}'
TIMELINE = {
    "rounds": timeline(*allreduce(1, [10, 14], 20), *allreduce(1, [30, 38], 45), *allreduce(1, [50, 51], 60)),
    "cached": timeline(*allreduce(1, [10, 14], 20, False), *allreduce(1, [30, 38], 45, False), *allreduce(1, [50, 51], 60, False)),
    "no_names": timeline(NAMED, *allreduce(1, [10, 14], 20), *allreduce(1, [30, 38], 45)),
    "back": timeline(*allreduce(1, [9000000, 9000004], 9000020), *allreduce(1, [30, 38], 45), *allreduce(1, [50, 51], 60)),
    "half": timeline(*allreduce(1, [10, 14, 12], 20))[:-9],
    "barrier": timeline(b'"ph": "B", "name": "NEGOTIATE_BARRIER", "ts": 1, "pid": 2', b'"ph": "E", "ts": 2, "pid": 2'),
    "garbage": b"\1[\n{\"ph\": \"a\nb\"}{{{ x \xff {\"ph\": 1e999, \"ts\": -1}",
}
STALL = (b"[0]<stderr>:tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and wait for more than 10 seconds\n"
         b"[0]<stderr>:Missing ranks:\n[0]<stderr>:1: [a]\n[0]<stderr>:2!: [b ...]\n")
RANK_LOG = {
    "stall": b"\5" + STALL + b"[0]<stderr>:a [missing ranks: 1, 2]\n",
    "traceback": b"\0[1,1]<stderr>:Traceback (most recent call last):\n[1,1]<stderr>:  File \"x\"\n[1,1]<stderr>:ValueError: y\n",
    "file_of_a_rank": b"\x80Killed\nTerminated\n",
    "tags": b"\3Sun Nov 29 17:40:00 2026[1,2]<stdout>:a[1,3]<stderr>:b\n[default3]: c\n\x1b[31m[4] d\x1b[0m\r\n",
    "weak_tags": b"\0000: Killed\n11: Bus error\n",
    "launchers": b"\0MPI_ABORT was invoked on rank 3\nprocess rank 2 exited on signal 9\nsrun: error: n: task 1: Killed\n",
    "bytes": b"\2\xff\xfe\0\0[\xc3]<stdout>:\xe2\x82\n",
}


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus"
    for folder, seeds in (("csv", CSV), ("npz", NPZ), ("recording", RECORDING), ("telemetry", TELEMETRY),
                          ("host_files", HOST_FILES), ("step_csv", STEP_CSV), ("agent", AGENT),
                          ("horovod_timeline", TIMELINE), ("rank_log", RANK_LOG)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (root / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
