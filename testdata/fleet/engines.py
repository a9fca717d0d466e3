#!/usr/bin/env python3
"""The queries of docs/sql in DuckDB, ClickHouse (chdb) and Spark over Parquet files, compared with each other and with a report of dubbo-wire.

    engines.py QUERIES CALLS.parquet-GLOB REPORT.json TIMES ENGINE...

REPORT.json is `dubbo-wire analyze --parts --format json` of the same captures, each of which has TIMES files. Counts, sums, smallest and largest must be equal, percentiles within 1 %;
groups with streaming calls, whose messages are not apart in a row, are compared by their calls. Ends with status 1 if something differs.
"""
import datetime
import json
import pathlib
import sys


def duckdb(pattern):
    import duckdb

    engine = duckdb.connect()
    engine.execute("SET TimeZone = 'UTC'")
    engine.execute(f"CREATE VIEW calls AS SELECT * FROM read_parquet('{pattern}')")

    def run(sql):
        result = engine.execute(sql)
        return [c[0] for c in result.description], result.fetchall()

    return run, engine.close


def clickhouse(pattern):
    import chdb.session

    engine = chdb.session.Session()
    engine.query("CREATE DATABASE fleet ENGINE = Atomic")
    engine.query(f"CREATE VIEW fleet.calls AS SELECT * FROM file('{pattern}', 'Parquet')")
    engine.query("USE fleet")

    def run(sql):
        text = str(engine.query(sql.strip().rstrip(";") + " SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_decimals = 0", "JSONCompact"))
        result = json.loads(text)
        return [c["name"] for c in result["meta"]], result["data"]

    return run, engine.close


def spark(pattern):
    from pyspark.sql import SparkSession

    engine = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC")
              .config("spark.sql.shuffle.partitions", "4").config("spark.executor.memory", "1g").getOrCreate())
    engine.sparkContext.setLogLevel("ERROR")
    engine.read.parquet(pattern).createOrReplaceTempView("calls")

    def run(sql):
        result = engine.sql(sql)
        return result.columns, [tuple(r) for r in result.collect()]

    return run, engine.stop


ENGINES = {"duckdb": duckdb, "clickhouse": clickhouse, "spark": spark}


def plain(v):
    """A value as all engines give it."""
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(v, str) and len(v) >= 19 and v[4] == "-" and v[10] == " " and v[13] == ":":
        return (v + ".")[:20].ljust(20, ".") + (v[20:] if len(v) > 20 else "").ljust(6, "0")
    if isinstance(v, bool) or v is None or isinstance(v, str):
        return v
    f = float(v)
    return int(f) if f.is_integer() else f"{f:.6g}"


def check(report, times, answers):
    """Differences between the report, times over, and the answers to some of the queries."""
    wrong = []

    def same(what, have, want, within=0.0):
        if have is None or want is None:
            if have != want:
                wrong.append(f"{what}: {have}, not {want}")
        elif abs(float(have) - float(want)) > within * abs(float(want)) + 0.0006:
            wrong.append(f"{what}: {have}, not {want}")

    def sums(what, have, want):
        same(what, have, want * times)

    def rows(name):
        columns, data = answers[name]
        return [dict(zip(columns, r)) for r in data]

    sizes = {(r["protocol"], r["serialization"], r["service"], r["method"], r["direction"]): r for r in rows("sizes")}
    ranking = {(r["protocol"], r["serialization"], r["service"], r["method"]): r for r in rows("ranking")}
    parts = {(r["protocol"], r["serialization"], r["service"], r["method"]): r for r in rows("composition")}
    streaming = set(map(tuple, answers["streaming"][1]))
    for g in report["groups"]:
        key = (g["protocol"], g["serialization"], g["service"], g["method"])
        sums(f"{key} calls", ranking[key]["calls"], g["calls"])
        if key in streaming:
            continue
        sums(f"{key} wire", ranking[key]["wire_bytes"], g["request"]["wireBytes"]["total"] + g["response"]["wireBytes"]["total"])
        for p in g.get("parts", []):
            if p["path"] != "missing":
                sums(f"{key} {p['path']}", parts[key][p["path"] + "_bytes"], p["bytes"])
        for direction, of in ("request", g["request"]), ("response", g.get("responseOk", g["response"])):
            row = sizes.get(key + (direction,))
            if row is None:
                same(f"{key} {direction}", 0, of["count"])
                continue
            sums(f"{key} {direction} count", row["messages"], of["count"])
            sums(f"{key} {direction} total", row["total"], of["bodyBytes"]["total"])
            same(f"{key} {direction} mean", row["mean"], of["bodyBytes"]["mean"])
            same(f"{key} {direction} min", row["smallest"], of["bodyBytes"]["min"])
            same(f"{key} {direction} max", row["largest"], of["bodyBytes"]["max"])
            for p in "p50", "p90", "p99":
                same(f"{key} {direction} {p}", row[p], of["bodyBytes"][p], 0.01)
    same("rows of the ranking", len(ranking), len(report["groups"]))
    sums("errors", sum(r["calls"] for r in rows("errors")), sum(g["errors"] for g in report["groups"]))
    sums("errors by peers", sum(r["errors"] for r in rows("peers")), sum(g["errors"] for g in report["groups"]))
    sums("calls by peers", sum(r["calls"] for r in rows("peers")), sum(g["calls"] for g in report["groups"]))
    return wrong


STREAMING = "SELECT DISTINCT protocol, serialization, service, method FROM calls WHERE request_messages > 1 OR response_messages > 1"


def main():
    queries, pattern, report, times = sys.argv[1:5]
    texts = {p.stem: p.read_text() for p in sorted(pathlib.Path(queries).glob("*.sql"))}
    texts["streaming"] = STREAMING
    report = json.loads(pathlib.Path(report).read_text())
    first, failed = None, False
    for name in sys.argv[5:]:
        run, stop = ENGINES[name](pattern)
        answers, ordered = {}, {}
        for query, sql in texts.items():
            columns, data = run(sql)
            answers[query] = columns, data
            ordered[query] = [tuple(map(plain, r)) for r in data]
        wrong = check(report, int(times), answers)
        if first is None:
            first = name, ordered
        for query in texts:
            ours, theirs = ordered[query], first[1][query]
            if query == "streaming":
                ours, theirs = sorted(ours), sorted(theirs)
            if ours != theirs:
                pair = next(((a, b) for a, b in zip(ours, theirs) if a != b), (len(ours), len(theirs)))
                wrong.append(f"{query}: {pair[0]}, but {first[0]} says {pair[1]}")
        print(f"{name}: {sum(len(a) for a in ordered.values())} rows, {len(wrong)} differences")
        for line in wrong[:20]:
            print("  " + line, flush=True)
        failed = failed or bool(wrong)
        stop()
    sys.exit(failed)


main()
