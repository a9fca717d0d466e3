#!/usr/bin/env bash
# examples/spark in a real Spark of two executors, undisturbed and with killed processes.
# spark.sh DUBBO-WIRE FOLDER: installs Spark from PyPI into FOLDER; needs Java 17.
set -euo pipefail
wire=$(realpath "$1") here=$(realpath "$(dirname "$0")")
mkdir -p "$2"
folder=$(realpath "$2")
[ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
"$folder/python/bin/python" -c 'import pyspark, zstandard' 2>/dev/null || "$folder/python/bin/pip" -q install pyspark zstandard
exec "$folder/python/bin/python" "$here/spark.py" "$wire" "$folder"
