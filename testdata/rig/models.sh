#!/usr/bin/env bash
# Writes ../models/rig.jar: the classes of the values in the captures, as an application's jar has them, and the optimizers.
# Needs Java 17 and Maven. The same classes make the same jar.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../models
date=2020-01-01T00:00:00Z # of every entry
mkdir -p "$out"

(cd "$here" && mvn -q -B -pl dubbo-2.6,dubbo-2.7 -am compile)

classes() { # folder path...
  local folder=$1
  shift
  (cd "$here/$folder/target/classes" && find "$@" -name '*.class' | LC_ALL=C sort | sed "s#.*#-C\n$here/$folder/target/classes\n&#")
}

{
  classes common com org/apache q org/dubbowire/rig/{edge,zoo,consumeronly,provideronly} org/dubbowire/rig/run/Registered.class
  classes dubbo-2.6 org/dubbowire/rig/alibaba/Optimizer.class
  classes dubbo-2.7 org/dubbowire/rig/apache/Optimizer.class
} >"$here/work/models.args"
jar --create --file "$out/rig.jar" --no-manifest --date="$date" "@$here/work/models.args"
