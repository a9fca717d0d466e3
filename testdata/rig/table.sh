# The captures: one line each, NAME and what differs from the defaults of record() in captures.sh.
# shellcheck shell=bash

capture() { # wanted name settings...
  if [ -z "$wanted_name" ] || [ "$wanted_name" = "$1" ]; then
    found=yes
    record "$@"
  fi
}

all_captures() {
  wanted_name=$1
  capture hessian2
  capture edge-hessian2 workloads=edge heartbeat=1000
}
