#!/usr/bin/env python3
"""Measures a folder of captures with dubbo-wire on the executors of Spark: one task for each host. README.md explains it.

    spark-submit dubbo_wire_job.py [options] CAPTURES OUTPUT [-- FLAGS of dubbo-wire calls and analyze]
"""
import argparse
import glob
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import uuid
from concurrent.futures import ThreadPoolExecutor

# Where a file appears when it is complete, under its last name, and renaming it means copying it.
OBJECT_STORES = {"s3a", "s3", "s3n", "gs", "oss", "cosn", "obs", "wasb", "wasbs"}
EMPTY_CAPTURE = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")


# --- Files ---


class LocalFiles:
    """Files that every machine sees under the same path."""

    def path(self, uri):
        return "/" + uri.removeprefix("file:").lstrip("/")

    def fetch(self, uri, to):
        os.symlink(self.path(uri), to)

    def store(self, file, uri, attempt):
        temporary = self.path(attempt + "/" + os.path.basename(uri))
        for name in temporary, self.path(uri):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        shutil.copyfile(file, temporary)
        os.replace(temporary, self.path(uri))

    def delete(self, uri):
        path = self.path(uri)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


class HadoopFiles:
    """Files of Hadoop's file systems, which a Java virtual machine reads and writes: that of the driver, or one beside the worker."""

    def __init__(self, gateway, conf):
        self.gateway, self.java, self.conf = gateway, gateway.jvm, conf

    def open(self, uri):
        path = self.java.org.apache.hadoop.fs.Path(uri)
        return path.getFileSystem(self.conf), path

    def qualified(self, uri):
        fs, path = self.open(uri)
        return fs.makeQualified(path).toString()

    def exists(self, uri):
        fs, path = self.open(uri)
        return fs.exists(path)

    def list(self, folder):
        """All files below a folder: (path in the folder, size, time of modification)."""
        fs, path = self.open(folder)
        if not fs.exists(path):
            return
        root = fs.makeQualified(path).toUri().getPath().rstrip("/") + "/"
        files = fs.listFiles(path, True)
        while files.hasNext():
            f = files.next()
            yield f.getPath().toUri().getPath().removeprefix(root), f.getLen(), f.getModificationTime()

    def read(self, uri):
        fs, path = self.open(uri)
        stream = fs.open(path)
        try:
            return self.java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def fetch(self, uri, to):
        fs, path = self.open(uri)
        fs.copyToLocalFile(False, path, self.java.org.apache.hadoop.fs.Path("file:" + to), True)

    def store(self, file, uri, attempt):
        fs, path = self.open(uri)
        local = self.java.org.apache.hadoop.fs.Path("file:" + file)
        if urllib.parse.urlsplit(uri).scheme in OBJECT_STORES:
            fs.copyFromLocalFile(False, True, local, path)
            return
        _, temporary = self.open(attempt + "/" + os.path.basename(uri))
        fs.copyFromLocalFile(False, True, local, temporary)
        fs.mkdirs(path.getParent())
        rename = self.java.org.apache.hadoop.fs.Options.Rename
        overwrite = self.gateway.new_array(rename, 1)
        overwrite[0] = rename.OVERWRITE
        self.java.org.apache.hadoop.fs.FileContext.getFileContext(path.toUri(), self.conf).rename(temporary, path, overwrite)

    def delete(self, uri):
        fs, path = self.open(uri)
        fs.delete(path, True)


_java = None  # of this worker


def files_at(uri, hadoop):
    """On an executor: what reads and writes the files of a scheme. hadoop is the driver's configuration as XML, and classes that executors have."""
    global _java
    if uri.startswith("file:"):
        return LocalFiles()
    if _java is None:
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        from pyspark import SparkFiles
        from pyspark.find_spark_home import _find_spark_home

        # YARN unpacks Spark into the container, elsewhere it is installed. Jars of --packages and --jars are with the added files.
        py4j = (glob.glob("__spark_libs__/py4j-*.jar") or glob.glob(_find_spark_home() + "/jars/py4j-*.jar"))[0]
        classes = [os.path.dirname(py4j) + "/*", SparkFiles.getRootDirectory() + "/*", os.environ.get("HADOOP_CONF_DIR", ""), hadoop["classes"]]
        port, token = launch_gateway(jarpath=py4j, classpath=":".join(filter(None, classes)), javaopts=["-Xmx256m"], die_on_exit=True,
                                     enable_auth=True, java_path=None)
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        conf = gateway.jvm.org.apache.hadoop.conf.Configuration(False)
        conf.addResource(gateway.jvm.java.io.ByteArrayInputStream(hadoop["conf"]))
        _java = HadoopFiles(gateway, conf)
    return _java


# --- A task, on an executor ---


def run(task, job):
    """Runs the commands of a task over its inputs and stores their outputs. Returns the task's name, the largest exit code, and what
    dubbo-wire wrote to standard error.

    A raised exception makes Spark try again; what dubbo-wire finds wrong with captures or flags is a result.
    """
    from pyspark import SparkFiles, TaskContext

    try:
        folders = [f for name in ("SPARK_EXECUTOR_DIRS", "LOCAL_DIRS", "SPARK_LOCAL_DIRS") for f in re.split("[,:]", os.environ.get(name, "")) if f]
        with tempfile.TemporaryDirectory(prefix="dubbo-wire-", dir=random.choice(folders) if folders else None) as folder:
            for name in job["files"]:
                os.symlink(os.path.abspath(SparkFiles.get(name)), os.path.join(folder, name))
            return run_in(folder, task, job["hadoop"].value)
    except Exception as e:
        if TaskContext.get().attemptNumber() + 1 < job["attempts"]:
            raise
        return task["name"], FAILED, [" ".join(str(e).split())[:1000]]


FAILED = 99  # the code of a task that could not do its work, as opposed to one whose captures are damaged


def run_in(folder, task, hadoop):
    """Does a task in a folder with the files that all tasks need."""
    inputs, outputs = os.path.join(folder, "inputs"), os.path.join(folder, "outputs")
    os.mkdir(inputs)
    for uri, _, name in task["inputs"]:
        to = os.path.join(inputs, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        files_at(uri, hadoop).fetch(uri, to)
    for name in task["outputs"]:
        os.makedirs(os.path.dirname(os.path.join(outputs, name)), exist_ok=True)

    code, lines = 0, []
    for command in task["commands"]:
        done = subprocess.run(["../dubbo-wire", *command], cwd=inputs, input=EMPTY_CAPTURE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=end_with_parent)
        if done.returncode < 0:
            raise OSError(f"dubbo-wire was ended by {signal.Signals(-done.returncode).name}")
        code = max(code, done.returncode)
        for line in done.stderr.decode(errors="replace").splitlines():
            if (line := line.removeprefix("dubbo-wire: ")) not in lines:
                lines.append(line)
        if done.returncode == 2:
            return task["name"], code, lines
    for uri, size, name in task["inputs"]:
        if os.path.getsize(os.path.join(inputs, name)) != size:
            raise OSError(f"{uri} has changed since the job began")
    made = [name for name in task["outputs"] if os.path.exists(os.path.join(outputs, name))]
    if len(made) < len(task["outputs"]) and code != 1:
        raise OSError(f"dubbo-wire ended with {code}, but made only {made}")

    store = files_at(task["to"], hadoop)
    attempt = f"{task['to']}/_attempts/{uuid.uuid4()}"
    if "status" in task:
        # The status is deleted first and written last: it never stands beside files of another run.
        store.delete(task["to"] + "/" + task["status"])
    for name in task["outputs"]:
        if name in made:
            store.store(os.path.join(outputs, name), task["to"] + "/" + name, attempt)
        else:
            store.delete(task["to"] + "/" + name)
    if "status" in task:
        if code == 1 and not made:
            code = 4  # nothing could be read
        status = os.path.join(folder, "status")
        with open(status, "w") as f:
            json.dump({"key": task["key"], "exit": code, "lines": lines}, f, indent=1)
        store.store(status, task["to"] + "/" + task["status"], attempt)
    store.delete(attempt)
    return task["name"], code, lines


def end_with_parent():
    """Spark kills workers, for example of the slower of two attempts; dubbo-wire must not continue without one."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


# --- The job, on the driver ---


def arguments(argv):
    own, flags = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    p = argparse.ArgumentParser(prog="dubbo_wire_job.py", usage="spark-submit %(prog)s [options] CAPTURES OUTPUT [-- FLAGS]", allow_abbrev=False,
                                description="FLAGS are passed to dubbo-wire calls and analyze. CAPTURES and OUTPUT are paths of Hadoop: file:, hdfs:, s3a: ...")
    p.add_argument("captures")
    p.add_argument("output")
    p.add_argument("--dubbo-wire", default=shutil.which("dubbo-wire"), metavar="FILE", help="the program, for the executors' system (default: that of PATH)")
    p.add_argument("--host", default="^([^/]+)/", metavar="REGEX", help="the first group is the host, in the path below CAPTURES (default: %(default)s)")
    p.add_argument("--files", default="(?i)cap", metavar="REGEX", help="names of captures (default: %(default)s)")
    p.add_argument("--side", choices=["client", "server"], help="count calls on that side only, so that those that two hosts recorded count once")
    p.add_argument("--addresses", metavar="FILE", help="lines of HOST ADDRESS..., for --side: the addresses of each host, if its captures do not have them")
    p.add_argument("--classpath", action="append", default=[], metavar="JAR", help="a jar of the application, or provider=JAR or consumer=JAR; may be repeated")
    p.add_argument("--register", action="append", default=[], metavar="FILE", help="registered classes; may be repeated")
    p.add_argument("--analyze", default="", metavar="FLAGS", help="more flags for the reports: --analyze='--by side,method --parts'")
    p.add_argument("--merge", type=int, default=200, metavar="N", help="merge N reports in a task (default: %(default)s)")
    args = p.parse_args(own)
    if args.dubbo_wire is None or not os.path.isfile(args.dubbo_wire):
        p.error("--dubbo-wire FILE: there is no such program")
    if args.merge < 2:
        p.error("--merge must be at least 2")
    args.flags, args.ship = flags, {"dubbo-wire": args.dubbo_wire}
    if args.side:
        args.flags += ["--side", args.side]
    for flag in "classpath", "register":
        for value in getattr(args, flag):
            side, equals, path = value.rpartition("=")
            name = os.path.basename(path)
            if not os.path.isfile(path) or args.ship.setdefault(name, path) != path:
                p.error(f"--{flag} {value}: must be a file with a name of its own")
            args.flags += [f"--{flag}", side + equals + "../" + name]
    args.self = {}
    if args.addresses:
        try:
            with open(args.addresses) as f:
                for host, *addresses in filter(None, map(str.split, f)):
                    args.self[host] = [a for address in addresses for a in ("--self", address)]
        except OSError as e:
            p.error(f"--addresses {args.addresses}: {e.strerror}")
    return args


def by_host(found, args):
    """The captures of each host, and the other files, by their paths in the folder."""
    hosts, left_out = {}, []
    for name, size, time in sorted(found):
        if re.search(r"(^|/)[._]", name) or not re.search(args.files, os.path.basename(name)):
            left_out.append(name)
            continue
        m = re.search(args.host, name)
        if not m or not m[1] or "/" in m[1] or m[1][0] in "._":
            sys.exit(usage(f"{name}: --host {args.host} finds no name for its host"))
        hosts.setdefault(m[1], []).append((name, size, time))
    return hosts, left_out


def host_tasks(hosts, args, captures, output, jobs, shipped):
    """A task for each host, those with the most bytes first."""
    tasks = []
    for host, files in hosts.items():
        flags = args.flags + args.self.get(host, []) + ["--jobs", str(jobs)]
        names = ["--", *(name for name, _, _ in files)]
        commands = [["calls", *flags, f"--node={host}", "-o", f"../outputs/calls/{host}.parquet", *names],
                    ["analyze", *flags, *shlex.split(args.analyze), "--format", "json", "--buckets", "-o", f"../outputs/reports/{host}.json", *names]]
        tasks.append({"name": host, "commands": commands, "inputs": [(f"{captures}/{name}", size, name) for name, size, _ in files],
                      "outputs": [f"calls/{host}.parquet", f"calls/_coverage/{host}.parquet", f"reports/{host}.json"], "to": output,
                      "status": f"_status/{host}.json", "key": hashlib.sha256(json.dumps([shipped, commands, files]).encode()).hexdigest()})
    return sorted(tasks, key=lambda t: -sum(size for _, size, _ in t["inputs"]))


def merge_tasks(reports, per_task, output, level):
    """Tasks that merge reports, (path in the output, size), in groups of neighbours: all at once if they are few."""
    last = len(reports) <= per_task
    tasks = []
    for i in range(0, len(reports), per_task):
        group = reports[i : i + per_task]
        name = "report.json" if last else f"_merge/{level}-{i:06d}.json"
        command = ["analyze", "--format", "json", "--buckets", "-o", f"../outputs/{name}", "--", *(n for n, _ in group)]
        tasks.append({"name": name, "commands": [command], "inputs": [(f"{output}/{n}", size, n) for n, size in group], "outputs": [name], "to": output})
    return tasks


def usage(text):
    print(f"dubbo_wire_job.py: {text}", file=sys.stderr)
    return 2


def main(argv):
    args = arguments(argv)
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkConf, SparkContext

    sc = SparkContext.getOrCreate(SparkConf().setIfMissing("spark.app.name", "dubbo-wire"))
    try:
        return job(args, sc)
    except Py4JJavaError as e:
        return usage(f"Spark: {str(e.java_exception).splitlines()[0]}")
    finally:
        sc.stop()


def job(args, sc):
    """Does all hosts that are not done yet, and merges their reports. Returns the exit code."""
    files = HadoopFiles(sc._gateway, sc._jsc.hadoopConfiguration())
    captures, output = files.qualified(args.captures), files.qualified(args.output)
    if f"{output}/".startswith(f"{captures}/"):
        return usage("OUTPUT must not be in CAPTURES")
    if not files.exists(captures):
        return usage(f"{captures}: there is no such folder")
    hosts, left_out = by_host(files.list(captures), args)
    if not hosts:
        return usage(f"{captures}: no captures (--files {args.files}) among {len(left_out)} files")
    if left_out:
        print(f"left out {len(left_out)} files that are not named as captures: {left_out[0]} ...", file=sys.stderr)
    have = {name: size for name, size, _ in files.list(output)}
    other = sorted(name for name in have if re.match("(calls|calls/_coverage|reports|_status)/[^/]+$", name) and os.path.basename(name).rsplit(".", 1)[0] not in hosts)
    if other:
        return usage(f"{output}/{other[0]} is of a host without captures in {captures}; remove it, or choose another folder")

    conf = sc._jvm.java.io.StringWriter()
    files.conf.writeXml(conf)
    hadoop = {"conf": conf.toString().encode(), "classes": sc.getConf().get("spark.executor.extraClassPath", "")}
    local = re.match(r"local(\[[^,]*\])?$", sc.master)
    shared = {"hadoop": sc.broadcast(hadoop), "files": list(args.ship), "attempts": 1 if local else int(sc.getConf().get("spark.task.maxFailures", "4"))}
    shipped = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in args.ship.items():
            with open(path, "rb") as f:
                shipped[name] = hashlib.sha256(f.read()).hexdigest()
            sc.addFile(shutil.copy(path, os.path.join(folder, name)))

        def done(tasks):
            return sc.parallelize(tasks, len(tasks)).map(lambda task: run(task, shared)).collect() if tasks else []

        return measure(args, sc, files, hosts, have, captures, output, shipped, done)


def measure(args, sc, files, hosts, have, captures, output, shipped, done):
    tasks = host_tasks(hosts, args, captures, output, sc.getConf().get("spark.task.cpus", "1"), shipped)

    # What an earlier run has done from the same captures, with the same flags and program, stays.
    with ThreadPoolExecutor(16) as pool:
        stored = [t for t in tasks if t["status"] in have]
        statuses = dict(zip((t["name"] for t in stored), pool.map(lambda t: json.loads(files.read(f"{output}/{t['status']}")), stored)))
    results = {t["name"]: (s["exit"], s["lines"]) for t in tasks if (s := statuses.get(t["name"])) and s["key"] == t["key"]}
    todo = [t for t in tasks if t["name"] not in results]

    if todo:
        # Wrong flags end here, not once for each host.
        address = [] if "--self" in " ".join(args.flags) else ["--self", "192.0.2.1"]
        check = [["calls", *args.flags, *address, "-"], ["analyze", *args.flags, *address, *shlex.split(args.analyze), "-"]]
        [(_, code, lines)] = done([{"name": "flags", "commands": check, "inputs": [], "outputs": [], "to": output}])
        if code > 1:
            return usage("\n".join(lines))
        files.delete(f"{output}/report.json")
        results |= {name: (code, lines) for name, code, lines in done(todo)}

    codes = [code for code, _ in results.values()]
    if todo or "report.json" not in have:
        if {2, FAILED}.isdisjoint(codes):
            codes += merged(args, files, output, done)
        else:
            print("no report: not all hosts are done; run the job again", file=sys.stderr)
    for folder in "_attempts", "_merge":
        files.delete(f"{output}/{folder}")
    for host, (code, lines) in sorted(results.items()):
        for line in lines if code > 1 else []:
            print(f"{host}: {'not done' if code in (2, FAILED) else f'exit {code}'}: {line}", file=sys.stderr)
    print(f"{len(hosts)} hosts, {len(todo)} in this run, {sum(c == 1 for c, _ in results.values())} without calls", file=sys.stderr)
    return next(2 if c == FAILED else c for c in (FAILED, 2, 3, 4, 0, 1) if c in codes)


def merged(args, files, output, done):
    """Merges the reports of all hosts. Returns exit codes."""
    reports, level = sorted((name, size) for name, size, _ in files.list(output) if re.match("reports/[^/]+$", name)), 0
    while reports:
        tasks = merge_tasks(reports, args.merge, output, level)
        results = done(tasks)
        for name, code, lines in results:
            # The hosts have said what is wrong with their captures.
            for line in lines:
                if code not in (0, 1, 4) or not line.startswith(("reports/", "_merge/")):
                    print(f"{name}: {line}", file=sys.stderr)
        codes = {code for _, code, _ in results}
        if len(tasks) == 1 or not codes <= {0, 1, 4}:
            return sorted(codes)
        reports, level = sorted((name, size) for name, size, _ in files.list(output) if name.startswith(f"_merge/{level}-")), level + 1
    return [1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
