# What the scripts of the rig share: tools, builds, the namespace. The caller has set here.
# shellcheck shell=bash
[ -z "${RIG_TRACE:-}" ] || set -x
work=$here/work
port=20880
mkdir -p "$work"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT # its status would become the script's

install_tools() {
  local missing=()
  command -v tcpdump >/dev/null || missing+=(tcpdump)
  command -v dumpcap >/dev/null || missing+=(wireshark-common)
  command -v zstd >/dev/null || missing+=(zstd)
  command -v ip >/dev/null || missing+=(iproute2)
  command -v ethtool >/dev/null || missing+=(ethtool)
  command -v jq >/dev/null || missing+=(jq)
  if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
  fi
}

# The module of a Dubbo release.
module_of() {
  case $1 in
    2.*-*) echo "dubbo-$(cut -d. -f1,2 <<<"$1")-${1##*-}" ;; # a protocol whose jars are no concern of the others
    2.*) echo "dubbo-$(cut -d. -f1,2 <<<"$1")" ;;
    grpc-* | libthrift-* | tls-go-*) echo "${1%-*}" ;;
    *) echo "dubbo-${1%%.*}" ;;
  esac
}

# Classes of generations: side-classes-MODULE below the work folder.
build() { # module...
  local module side classes modules=
  for module in "$@"; do
    if [ -e "$here/$module/go.mod" ]; then
      (cd "$here/$module" && CGO_ENABLED=0 go build -trimpath -o "$work/$module" .)
    else
      modules+=",$module"
    fi
  done
  [ -z "$modules" ] || (cd "$here" && mvn -q -B -pl "${modules#,}" -am compile)
  for module in ${modules//,/ }; do
    # Each side lacks one package, so that classes exist which the other side does not know.
    for side in provider consumer; do
      classes=$work/$side-classes-$module
      rm -rf "$classes" && mkdir "$classes" && cp -r "$here"/{models,common,"$module"}/target/classes/. "$classes"
    done
    rm -rf "$work/provider-classes-$module/org/dubbowire/rig/consumeronly" "$work/consumer-classes-$module/org/dubbowire/rig/provideronly"
    consumer_versions "$work/consumer-classes-$module"
  done
}

# The JDK's class through which all bytes of TCP go, with a tap.
build_tap() {
  rm -rf "$work/tap"
  javac -nowarn -XDignore.symbol.file --patch-module java.base="$here/tap" -d "$work/tap" "$here"/tap/sun/nio/ch/*.java 2>&1 | { grep error || true; }
}

# The consumer's versions of the classes of which each side has its own.
consumer_versions() { # folder with the provider's
  find "$here/skew" -name '*.java' -print0 | xargs -0 javac --release 17 -cp "$1" -d "$1"
}

# The jars of one Dubbo release, in Maven's order. They are looked up again when the module's pom has changed.
class_path() {
  local file=$work/classpath-$1 module without=none
  module=$(module_of "$1")
  if [ -e "$here/$module/go.mod" ]; then
    (cd "$here/$module" && go version -m "$work/$module" | awk 'NR == 1 {print $2} $1 == "dep" {print $2 "@" $3}' | paste -sd:) >"$file"
    return
  fi
  case $1 in
    3.[01].*) without=dubbo-serialization-fury ;; # needs 3.2
  esac
  [ "$file" -nt "$here/$module/pom.xml" ] || # the last of the modules that Maven goes through writes the file that stays
    (cd "$here" && mvn -q -B -pl "$module" -am compile -Dmaven.main.skip dependency:build-classpath -D"$module.version=${1#"$module-"}" \
      -DexcludeGroupIds=org.dubbowire -DexcludeArtifactIds=$without -Dmdep.outputFile="$file" -Dmdep.includeScope=runtime)
  cat "$file"
}

artifact() { # group artifact version
  local file=$HOME/.m2/repository/${1//.//}/$2/$3/$2-$3.jar
  [ -e "$file" ] || (cd "$here" && mvn -q -B dependency:get -Dartifact="$1:$2:$3" -Dtransitive=false >/dev/null)
  echo "$file"
}

without() { # prefixes of file names
  local prefix pattern=
  for prefix in "$@"; do pattern+="|/$prefix[0-9]"; done
  tr : '\n' | grep -vE "${pattern#|}" | paste -sd:
}

# The class path of Dubbo 2.6.0 with the Kryo and the FST of Dubbox 2.8.4: their libraries, and the classes that differ, which dubbox compiles.
dubbox_path() { # class path
  local libraries
  libraries=$(artifact com.esotericsoftware.kryo kryo 2.24.0):$(artifact com.esotericsoftware.minlog minlog 1.2):$(artifact org.objenesis objenesis 2.1)
  libraries+=:$(artifact de.javakaffee kryo-serializers 0.26):$(artifact de.ruedigermoeller fst 1.55)
  echo "$work/dubbox-classes:$libraries:$(without kryo- kryo-serializers- minlog- objenesis- reflectasm- fst- <<<"$1")"
}

dubbox() { # class path
  rm -rf "$work/dubbox-classes" && mkdir "$work/dubbox-classes"
  find "$here/dubbox" -name '*.java' -print0 | xargs -0 javac --release 17 -Xlint:-options -cp "$(dubbox_path "$1")" -d "$work/dubbox-classes"
}

# One run at a time: namespaces and work files are shared. It stays locked while a script starts itself again in the namespace.
lock() {
  if [ -z "${RIG_LOCKED:-}" ]; then
    exec 9>"$work/lock"
    flock 9
    export RIG_LOCKED=yes
  fi
}

# A network namespace of our own: the loopback address stays 127.0.0.1 (Dubbo replaces it by an outer address if it sees
# one), and nothing else is on the port.
in_namespace() {
  if [ "$(ip netns identify)" != dubborig ]; then
    local namespace
    for namespace in dubborig dubborig-a dubborig-b; do
      ip netns delete $namespace 2>/dev/null || true # left by an earlier run
      ip netns add $namespace
    done
    ip -n dubborig link set lo up
    exec ip netns exec dubborig "$here/$(basename "$0")" "$@"
  fi
}

# What Java 17 must open for serializers that reflect on JDK classes.
opens=()
for package in java.lang java.lang.reflect java.lang.invoke java.util java.util.concurrent java.util.concurrent.atomic java.text java.net java.io java.nio \
  java.math java.time java.time.chrono java.time.zone java.security sun.security.action sun.util.calendar; do
  opens+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
opens+=(--add-opens java.sql/java.sql=ALL-UNNAMED)
for package in java.awt java.awt.font java.awt.geom sun.font; do # classes that FST 1 registers
  opens+=(--add-opens "java.desktop/$package=ALL-UNNAMED")
done

wait_for() { # file pattern seconds [pid of the process that writes it]
  local deadline=$((SECONDS + $3))
  while [ $SECONDS -lt $deadline ]; do
    grep -q "$2" "$1" 2>/dev/null && return 0
    [ -z "${4:-}" ] || kill -0 "$4" 2>/dev/null || break
    sleep 0.1
  done
  echo "no '$2' in $1:" >&2
  tail -20 "$1" >&2
  return 1
}
