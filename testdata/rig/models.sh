#!/usr/bin/env bash
# Writes ../models: rig.jar, the classes of the values in the captures, as an application's jar has them, and the optimizers;
# messages.jar, the classes that protoc has generated, and the services that take them;
# skew-provider.jar and skew-consumer.jar, the classes of which each side has its own version.
# Needs Java 17 and Maven. The same classes make the same jars.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
out=$here/../models
mkdir -p "$out"

(cd "$here" && mvn -q -B -pl dubbo-2.6,dubbo-2.7,dubbo-3 -am compile)

# Arguments of jar: the class files in some paths below a folder.
classes() { # folder path...
  (cd "$1" && find "${@:2}" -name '*.class' | LC_ALL=C sort | sed "s#.*#-C\n$1\n&#")
}

make_jar() { # name; arguments from standard input
  cat >"$work/models.args"
  jar --create --file "$out/$1.jar" --no-manifest --date=2020-01-01T00:00:00Z "@$work/models.args"
}

{
  classes "$here/common/target/classes" com org/apache q org/dubbowire/rig/{edge,zoo,consumeronly,provideronly} org/dubbowire/rig/run/Registered.class
  classes "$here/dubbo-2.6/target/classes" org/dubbowire/rig/alibaba/{Optimizer,ModelsOptimizer}.class
  classes "$here/dubbo-2.7/target/classes" org/dubbowire/rig/apache/{Optimizer,ModelsOptimizer,UsersOptimizer}.class
} | make_jar rig

{
  classes "$here/common/target/classes" org/dubbowire/rig/proto
  classes "$here/dubbo-3/target/classes" org/dubbowire/rig/notes
} | make_jar messages

classes "$here/common/target/classes" org/dubbowire/rig/skew | make_jar skew-provider
versions=$work/consumer-versions
rm -rf "$versions" && mkdir -p "$versions" && (cd "$here/common/target/classes" && cp -r --parents org/dubbowire/rig/skew "$versions")
consumer_versions "$versions"
classes "$versions" org/dubbowire/rig/skew | make_jar skew-consumer
