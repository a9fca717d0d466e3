#!/usr/bin/env python3
"""Runs the job of examples/spark over captures of 12 hosts in a local cluster: undisturbed; while a dubbo-wire, a Python worker and an executor are
killed; and again after the driver was killed. All must make the same files, those of examples/xargs, and the sums of one run over all captures.

    spark.py DUBBO-WIRE FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

import zstandard

wire, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "spark"
root = pathlib.Path(__file__).resolve().parents[2]
captures = folder / "captures"
failures = []


def check(good, text):
    print(("ok    " if good else "WRONG ") + text, flush=True)
    if not good:
        failures.append(text)


def capture(name):
    with open(root / f"testdata/captures/{name}.pcap.zst", "rb") as f:
        return zstandard.ZstdDecompressor().stream_reader(f).read()


def rotated(data, parts):
    """A capture as a rotated set: cut between packets, whatever connections they belong to."""
    ends, at = [24], 24
    while at < len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        ends.append(at)
    cuts = [ends[i * (len(ends) - 1) // parts] for i in range(parts + 1)]
    return [data[:24] + data[a:b] for a, b in zip(cuts, cuts[1:])]


def make_captures():
    names = ["fleet", "kryo", "hessian2", "fst", "exhausted", "avro", "gson", "msgpack", "edge-kryo"]
    for i, name in enumerate(names):
        host = captures / f"web-{i:02d}"
        host.mkdir(parents=True)
        for n, part in enumerate(rotated(capture(name), 3)):
            (host / f"trace-{n}.pcap").write_bytes(part)
    for host, file, data in (("early", "trace.pcap", capture("protostuff")[:-7]), ("empty", "trace.pcap", b""), ("other 100%", "it's %41.pcap", b"no capture")):
        (captures / host).mkdir()
        (captures / host / file).write_bytes(data)


def files(output):
    return {str(p.relative_to(output)): p.read_bytes() for p in pathlib.Path(output).rglob("*") if p.is_file()}


def spark(output, flags=()):
    """Starts the job. Its dubbo-wire takes a second longer, so that there is time to kill something."""
    log = open(f"{output}.log", "a")
    return subprocess.Popen([pathlib.Path(sys.executable).parent / "spark-submit", "--master", "local-cluster[2,1,1024]", "--conf", "spark.ui.enabled=false",
                             "--conf", "spark.executor.memory=1g", root / "examples/spark/dubbo_wire_job.py", "--dubbo-wire", folder / "slow", "--merge", "5",
                             captures, output, "--", *flags], stderr=log, stdout=log, start_new_session=True,
                            env=os.environ | {"PATH": str(pathlib.Path(sys.executable).parent) + ":" + os.environ["PATH"]})


def family(pid):
    """The processes that a process started: (pid, command)."""
    processes = [line.split(None, 2) for line in subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True).stdout.splitlines()]
    found, todo = [], [str(pid)]
    while todo:
        parent = todo.pop()
        for p in processes:
            if p[1] == parent:
                found.append((int(p[0]), p[2]))
                todo.append(p[0])
    return found


def kill(job, what):
    """Kills one process of the job whose command contains a text, as soon as there is one."""
    while job.poll() is None:
        if pids := [pid for pid, command in family(job.pid) if what in command]:
            try:
                os.kill(pids[-1], signal.SIGKILL)
                return True
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    return False


def wait_for(job, output, n):
    while job.poll() is None and len(list(pathlib.Path(output).glob("_status/*"))) < n:
        time.sleep(0.05)


def groups(report):
    """The groups of a report without the number of the frame with the largest body, which counts from the first input on."""
    all = json.loads(pathlib.Path(report).read_text())
    for g in all["groups"]:
        g.get("largest", {}).pop("frame", None)
    return all["groups"], all["coverage"], all["wire"], all["seconds"]


shutil.rmtree(folder, ignore_errors=True)
make_captures()
(folder / "slow").write_text(f'#!/bin/sh\nsleep 1\nexec {wire} "$@"\n')
(folder / "slow").chmod(0o755)

undisturbed = folder / "undisturbed"
code = spark(undisturbed).wait()
want = files(undisturbed)
check(code == 4, f"exit code 4: {code}")
log = (folder / "undisturbed.log").read_text()
for text in ("early: exit 4: early/trace.pcap: packet ", "empty: exit 4: empty/trace.pcap is empty", "other 100%: exit 4: other 100%/it's %41.pcap is not a pcap"):
    check(text in log, "log: " + text)
check(len([f for f in want if f.startswith("calls/") and f.count("/") == 1]) == 10 and "report.json" in want, f"{len(want)} files")
check(not [f for f in want if f.startswith("_") and not f.startswith("_status/")], "nothing temporary is left")

subprocess.run(["sh", root / "examples/xargs/fleet.sh", captures, folder / "xargs"], env=os.environ | {"DUBBO_WIRE": wire}, stderr=subprocess.DEVNULL)
check({f: b for f, b in files(folder / "xargs").items() if f[0] != "_"} == {f: b for f, b in want.items() if f[0] != "_"}, "the files of examples/xargs")

every = sorted(str(p.relative_to(captures)) for p in captures.rglob("*.pcap"))
subprocess.run([wire, "analyze", "--format", "json", "--buckets", "-o", folder / "all.json", *every], cwd=captures, stderr=subprocess.DEVNULL)
check(groups(folder / "all.json") == groups(undisturbed / "report.json"), "the groups, coverage and bytes of one run over all captures")

disturbed = folder / "disturbed"
job = spark(disturbed)
for n, what in ((1, "/dubbo-wire calls"), (2, "pyspark.daemon"), (4, "CoarseGrainedExecutorBackend"), (6, "../dubbo-wire")):
    wait_for(job, disturbed, n)
    check(kill(job, what), f"killed {what} after {len(list(disturbed.glob('_status/*')))} hosts")
code = job.wait()
check(code == 4, f"exit code 4: {code}")
check(files(disturbed) == want, "the same files after kills")
log = (folder / "disturbed.log").read_text()
check("was ended by SIGKILL" in log and "Lost executor" in log, "Spark ran the killed tasks again")

again = folder / "again"
job = spark(again)
wait_for(job, again, 4)
os.killpg(job.pid, signal.SIGKILL)
job.wait()
time.sleep(2)
done = {f: (again / f).stat().st_mtime_ns for f in files(again) if f.startswith("_status/")}
check(4 <= len(done) < 12 and not (again / "report.json").exists(), f"killed the driver after {len(done)} hosts")
code = spark(again).wait()
check(code == 4, f"exit code 4: {code}")
check(files(again) == want, "the same files in a second run")
check(all((again / f).stat().st_mtime_ns == t for f, t in done.items()), "which did only the hosts that were missing")

before = {f: (undisturbed / f).stat().st_mtime_ns for f in want}
code = spark(undisturbed).wait()
check(code == 4 and {f: (undisturbed / f).stat().st_mtime_ns for f in files(undisturbed)} == before, "a run over finished output writes nothing")

code = spark(folder / "wrong", flags=["--wrong"]).wait()
log = (folder / "wrong.log").read_text()
check(code == 2 and "unknown flag: --wrong" in log and "Lost task" not in log, "wrong flags end the job in its first task")
sys.exit(bool(failures))
