#!/usr/bin/env python3
"""What a fleet costs: the figures of docs/scale.md, measured on this machine.

    scale.py DUBBO-WIRE GENCAPTURE FOLDER [cost] [queries] [merge] [simulate] [--calls N] [--keep]

cost      CPU seconds, memory, rows and bytes a GB of capture
queries   docs/sql over 10 to 10,000 files, small and large, as they are written and compacted
merge     analyze of 10 to 10,000 saved reports
simulate  docs/sql over N calls (100 million), sampled from those of the committed captures

Without a name it does all four. CPU seconds are user and system, memory is the peak of the process. CPU seconds double or treble while other programs use
all processors. FOLDER needs 16 GB free for 100 million calls; --keep leaves the simulated calls and the real ones in it.
"""
import argparse
import base64
import copy
import json
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
TEXTS = {p.stem: p.read_text() for p in sorted((ROOT / "docs/sql").glob("*.sql"))}
MEMORY = "4GB"


def measured(command, codes=(0,)):
    """Runs a command, and returns its CPU seconds, peak memory in MiB and standard output."""
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        out = p.stdout.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in codes:
        sys.exit(f"{command}: exit code {p.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def table(*rows):
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        print("  ".join(str(v).ljust(w) if i == 0 else str(v).rjust(w) for i, (v, w) in enumerate(zip(r, widths))).rstrip())
    print(flush=True)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def size(folder):
    return sum(p.stat().st_size for p in folder.rglob("*.parquet"))


# Cost


def cost(wire, gencapture, folder):
    import duckdb

    rows = [("mix", "command", "CPU s/GB", "peak MiB", "calls/GB", "output MB/GB", "bytes/call")]
    for mix in "default", "small", "triple":
        pcap, out = folder / f"{mix}.pcap", folder / "cost.parquet"
        subprocess.run([gencapture, "-o", pcap, "-mix", mix, "-size", "1GB"], check=True, stdout=subprocess.DEVNULL)
        gb = pcap.stat().st_size / 1e9
        measured([wire, "calls", pcap, "-o", out, "--node", "host-1"])
        calls = duckdb.connect().execute(f"SELECT COUNT(*) FROM '{out}'").fetchone()[0]
        for name, command in {
            "analyze": ["analyze", pcap, "--format", "json", "--buckets", "-o", folder / "cost.json"],
            "analyze --parts": ["analyze", pcap, "--parts", "--format", "json", "--buckets", "-o", folder / "cost.json"],
            "calls -o x.parquet": ["calls", pcap, "-o", out],
            "calls --format jsonl": ["calls", pcap, "--format", "jsonl", "-o", folder / "cost.jsonl"],
        }.items():
            runs = [measured([wire, *command, "--jobs", "1"]) for _ in range(1 if "jsonl" in name else 3)]
            written = command[-1].stat().st_size
            command[-1].unlink()
            rows.append((mix, name, f"{min(r[0] for r in runs) / gb:.2f}", f"{max(r[1] for r in runs):.0f}", f"{calls / gb:,.0f}", f"{written / gb / 1e6:.1f}", f"{written / calls:.1f}"))
        pcap.unlink()
        pathlib.Path(f"{pcap}.truth.json").unlink()
    table(*rows)


# Queries


def query(pattern, name, temp):
    """Runs in a process of its own, so that its peak memory is that of one text."""
    import duckdb

    db = duckdb.connect(config={"memory_limit": MEMORY, "threads": 2, "temp_directory": temp})
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"CREATE VIEW calls AS SELECT * FROM read_parquet('{pattern}')")
    cpu, wall = time.process_time(), time.monotonic()
    error, answer = None, []
    try:
        answer = db.execute(TEXTS.get(name, name)).fetchall()
    except duckdb.Error as e:
        error = str(e).splitlines()[0]
    json.dump({"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "rows": len(answer), "error": error}, sys.stdout)


def ask(folder, pattern, name, rounds=1):
    """Returns the least CPU and wall time and the largest memory of some rounds."""
    temp = folder / "temp"
    best = None
    for _ in range(rounds):
        r = json.loads(subprocess.run([sys.executable, str(HERE), "query", str(pattern), name, str(temp)], check=True, stdout=subprocess.PIPE).stdout)
        if best:
            r = {**r, "cpu": min(r["cpu"], best["cpu"]), "wall": min(r["wall"], best["wall"]), "peak": max(r["peak"], best["peak"])}
        best = r
    shutil.rmtree(temp, ignore_errors=True)
    return best


def captures(wire, folder):
    """Writes the calls of each committed capture to a file."""
    if folder.exists():
        return
    fresh(folder)
    for pcap in sorted((ROOT / "testdata/captures").glob("*.pcap*")):
        subprocess.run([wire, "calls", pcap, "-o", folder / f"{pcap.name}.parquet", "--node", "host"], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(folder / "_coverage", ignore_errors=True)


def links(files, folder, n):
    """Makes n files of some: hard links, so that what they cost is not the disk's."""
    fresh(folder)
    for i in range(n):
        os.link(files[i % len(files)], folder / f"{i:06}.parquet")
    return folder / "*.parquet"


COMPACT = """COPY (SELECT *, CAST(date_trunc('day', time) AS DATE) AS day FROM calls) TO '{to}' (FORMAT parquet, PARTITION_BY (day), COMPRESSION zstd, OVERWRITE_OR_IGNORE)"""


def queries(wire, gencapture, folder):
    import duckdb

    real = folder / "real"
    captures(wire, real)
    small = sorted(real.glob("*.parquet"))
    pcap = folder / "large.pcap"
    subprocess.run([gencapture, "-o", pcap, "-mix", "small", "-size", "300MB"], check=True, stdout=subprocess.DEVNULL)
    large = folder / "large.parquet"
    subprocess.run([wire, "calls", pcap, "-o", large, "--node", "host"], check=True)
    pcap.unlink()
    pathlib.Path(f"{pcap}.truth.json").unlink()
    texts = ["SELECT COUNT(*) FROM calls", *TEXTS]
    rows = [("files", "of", "rows", "MB", *[t if t in TEXTS else "count" for t in texts])]
    points = {t: [] for t in texts}
    for files, kind, n in (small, "captures", 10), (small, "captures", 100), (small, "captures", 1000), (small, "captures", 10000), ([large], "large", 1), ([large], "large", 10):
        pattern = links(files, folder / "links", n)
        count = duckdb.connect().execute(f"SELECT COUNT(*) FROM read_parquet('{pattern}')").fetchone()[0]
        line = [f"{n:,}", kind, f"{count:,}", f"{size(folder / 'links') / 1e6:.1f}"]
        for t in texts:
            r = ask(folder, pattern, t, 3 if n <= 100 else 1)
            points[t].append((1, n, count, r["cpu"]))
            line.append(f"{r['cpu']:.2f}/{r['wall']:.1f}")
        rows.append(tuple(line))
        print(*line, flush=True)
        if n == 1000:
            fresh(folder / "days")
            r = ask(folder, pattern, COMPACT.format(to=folder / "days"))
            line = ["compacted", f"in {r['cpu']:.1f} s", f"{r['peak']:.0f} MiB", f"{size(folder / 'days') / 1e6:.1f}"]
            for t in texts:
                one = ask(folder, folder / "days/*/*.parquet", t, 3)
                line.append(f"{one['cpu']:.2f}/{one['wall']:.1f}")
            rows.append(tuple(line))
            print(*line, flush=True)
    print("CPU seconds/wall seconds")
    table(*rows)
    fits = [("text", "s", "ms/file", "s/million rows", "largest error")]
    for t in texts:
        a, b, c, off = fit(points[t])
        fits.append((t if t in TEXTS else "count", f"{a:.2f}", f"{b * 1e3:.2f}", f"{c * 1e6:.3f}", f"{off:.0%}"))
    print("CPU seconds = constant + files + rows")
    table(*fits)
    for name in "links", "days":
        shutil.rmtree(folder / name)
    large.unlink()


def fit(points):
    """Least squares of the relative errors of y = a + b files + c rows; the constants are not negative. Returns them and the largest relative error."""
    best = None
    for mask in range(1, 8):
        used = [i for i in range(3) if mask >> i & 1]
        m = [[sum(p[i] * p[j] / p[3] ** 2 for p in points) for j in used] + [sum(p[i] / p[3] for p in points)] for i in used]
        n = len(used)
        for i in range(n):
            if abs(m[i][i]) < 1e-30:
                break
            for k in range(n):
                if k != i:
                    f = m[k][i] / m[i][i]
                    m[k] = [x - f * y for x, y in zip(m[k], m[i])]
        else:
            x = [0.0] * 3
            for i, u in enumerate(used):
                x[u] = m[i][n] / m[i][i]
            if min(x) < 0:
                continue
            errors = [abs(sum(v * p[i] for i, v in enumerate(x)) / p[3] - 1) for p in points]
            if best is None or sum(e * e for e in errors) < best[0]:
                best = sum(e * e for e in errors), (*x, max(errors))
    return best[1]


# Saved reports


def merge(wire, gencapture, folder):
    saved = folder / "saved.json"
    rows = [("reports", "groups", "fingerprints", "MB", "CPU s", "peak MiB", "groups of the sum")]

    def one(base, n, prints, hosts, max_groups=None):
        reports = fresh(folder / "reports")
        rng = random.Random(1)
        for i in range(n):
            r = copy.copy(base)
            # Nanoseconds tell the inputs apart.
            r["inputs"] = [{**base["inputs"][0], **{key: base["inputs"][0][key][:23] + f"{i:06}Z" for key in ("firstTime", "lastTime")}}]
            r["saved"] = {**base["saved"], "fingerprints": base64.b64encode(rng.randbytes(12 * prints)).decode()}
            if hosts:
                r["groups"] = [{**g, "service": f"{g['service']}{i}"} for g in base["groups"]]
            (reports / f"{i:06}.json").write_text(json.dumps(r))
        mb = sum(p.stat().st_size for p in reports.iterdir()) / 1e6
        command = [wire, "analyze", *sorted(reports.iterdir()), "--format", "json", "-o", folder / "sum.json"]
        if max_groups:
            command += ["--max-groups", str(max_groups)]
        cpu, peak, _ = measured(command)
        groups = len(json.loads((folder / "sum.json").read_text())["groups"])
        rows.append((f"{n:,}", f"{len(base['groups'])}{' of their own' if hosts else ''}", f"{prints:,}", f"{mb:.0f}", f"{cpu:.1f}", f"{peak:.0f}", groups))
        print(*rows[-1], flush=True)

    # A host's report, of 40 methods.
    pcap = folder / "host.pcap"
    subprocess.run([gencapture, "-o", pcap, "-size", "100MB"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([wire, "analyze", pcap, "--format", "json", "--buckets", "-o", saved], check=True)
    pcap.unlink()
    base = json.loads(saved.read_text())
    for n in 10, 100, 1000, 10_000:
        one(base, n, 100, False)
    one(base, 1000, 100, True, 100_000)
    one(base, 1000, 100, True, 1000)
    few = {**base, "groups": base["groups"][:1]}
    for n in 10, 100:
        one(base, n, 100_000, False)
    table(*rows)
    shutil.rmtree(folder / "reports")
    for name in "saved.json", "sum.json":
        (folder / name).unlink()


# Simulation

# A call of the captures, as one of 1,000 servers within a day, each with 20 clients: sizes within a factor of two, latencies within a factor of four.
SIMULATED = """
COPY (
    WITH drawn AS (
        SELECT i, CAST(hash(i) % (SELECT COUNT(*) FROM real) AS BIGINT) AS n, hash(i, 1) % 1000 AS h, (hash(i, 1) + hash(i, 2) % 20) % 1000 AS peer,
            pow(2, (hash(i, 3) % 2001) / 1000.0 - 1) AS s, pow(2, (hash(i, 4) % 4001) / 1000.0 - 2) AS l
        FROM range({start}, {end}) t(i)
    )
    SELECT real.* EXCLUDE (n) REPLACE (
        TIMESTAMPTZ '2026-11-21 00:00:00+00' + to_microseconds(CAST(86400000000 * (i - {start}) / ({end} - {start}) AS BIGINT)) AS time,
        'host-' || h AS host, 'eth0' AS file, CAST(hash(i, 5) % 500 AS BIGINT) AS connection, i AS id, i * 2 AS request_frame, i * 2 + 1 AS response_frame,
        '10.1.' || peer // 250 || '.' || peer % 250 AS client_ip, '10.0.' || h // 250 || '.' || h % 250 AS server_ip, CAST(hash(i, 6) % 28000 + 32768 AS BIGINT) AS client_port,
        CAST(request_body_bytes * s AS BIGINT) AS request_body_bytes, CAST(response_body_bytes * s AS BIGINT) AS response_body_bytes,
        CAST(request_body_bytes * s AS BIGINT) + request_frame_bytes - request_body_bytes AS request_frame_bytes,
        CAST(response_body_bytes * s AS BIGINT) + response_frame_bytes - response_body_bytes AS response_frame_bytes,
        CAST(request_body_bytes * s AS BIGINT) + request_wire_bytes - request_body_bytes AS request_wire_bytes,
        CAST(response_body_bytes * s AS BIGINT) + response_wire_bytes - response_body_bytes AS response_wire_bytes,
        CAST(request_values_bytes * s AS BIGINT) AS request_values_bytes, CAST(response_values_bytes * s AS BIGINT) AS response_values_bytes,
        round(latency_micros * l) AS latency_micros, round(wait_micros * l) AS wait_micros
    )
    FROM drawn JOIN real USING (n)
) TO '{to}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 131072)
"""


STEP = 2_000_000


def draw(part):
    """Writes a file of calls. Returns its CPU seconds."""
    import duckdb

    folder, calls, start = part
    cpu = time.process_time()
    with duckdb.connect(config={"memory_limit": "2GB", "threads": 1}) as db:
        db.execute("SET TimeZone = 'UTC'")
        db.execute(f"CREATE TABLE real AS SELECT *, row_number() OVER () - 1 AS n FROM read_parquet('{folder}/real/*.parquet')")
        db.execute(SIMULATED.format(start=start, end=min(start + STEP, calls), to=folder / f"unfinished/{start // STEP:06}.parquet"))
    return time.process_time() - cpu


def simulate(wire, folder, calls, keep):
    need = calls * 80
    if shutil.disk_usage(folder).free < 2 * need:
        sys.exit(f"simulate: {2 * need / 1e9:.0f} GB of disk needed")
    real, simulated = folder / "real", folder / "simulated"
    if not simulated.exists():
        fresh(folder / "unfinished")
        captures(wire, real)
        parts = [(folder, calls, start) for start in range(0, calls, STEP)]
        with multiprocessing.Pool(os.cpu_count()) as pool:
            seconds = sum(pool.imap_unordered(draw, parts))
        print(f"{calls:,} calls in {seconds:.0f} s of CPU: {size(folder / 'unfinished') / 1e9:.2f} GB", flush=True)
        (folder / "unfinished").rename(simulated)
    rows = [("text", "CPU s", "wall s", "peak MiB", "rows", "")]
    for t in TEXTS:
        r = ask(folder, simulated / "*.parquet", t)
        rows.append((t, f"{r['cpu']:.1f}", f"{r['wall']:.1f}", f"{r['peak']:.0f}", f"{r['rows']:,}", r["error"] or ""))
        print(*rows[-1], flush=True)
    table(*rows)
    if not keep:
        shutil.rmtree(simulated)


def main():
    if sys.argv[1:2] == ["query"]:
        return query(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wire")
    parser.add_argument("gencapture")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", metavar="cost|queries|merge|simulate")
    parser.add_argument("--calls", type=int, default=100_000_000)
    parser.add_argument("--keep", action="store_true")
    a = parser.parse_args()
    folder = a.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for part in a.parts or ["cost", "queries", "merge", "simulate"]:
        print(f"== {part}", flush=True)
        if part == "simulate":
            simulate(a.wire, folder, a.calls, a.keep)
        else:
            {"cost": cost, "queries": queries, "merge": merge}[part](a.wire, a.gencapture, folder)
    if not a.keep:
        shutil.rmtree(folder / "real", ignore_errors=True)


main()
