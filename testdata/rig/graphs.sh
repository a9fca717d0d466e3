#!/usr/bin/env bash
# Random graphs of the classes in models, written by the real serializations without peers (README.md, "Graphs"):
#
#   graphs.sh                            # the jars in ../models, and ../graphs
#   graphs.sh FOLDER SEED COUNT          # other bodies: COUNT of each dialect
#   graphs.sh FOLDER SEED COUNT PATTERN  # of the dialects whose name matches the extended regular expression
#
# Needs Java 17, Maven, zstd.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib.sh"

# A dialect: serialization, release, what is special about it (see Graphs), other versions of libraries.
dialects() {
  cat <<'END'
kryo 2.6.0 plain
kryo 2.6.0 registered
kryo 2.6.12 plain
kryo 2.6.12 registered
kryo 2.7.23 plain
kryo 2.7.23 registered
kryo 2.7.23 skewed
kryo2 2.7.23 plain
kryo2 2.7.23 registered
kryo2 2.7.23 skewed
kryo 3.2.16 plain
kryo 3.2.16 registered
kryo 3.2.16 skewed
kryo2 3.2.16 plain
kryo2 3.2.16 registered
kryo2 3.2.16 skewed
kryo 2.6.12 annotated
kryo 2.7.23 annotated
kryo 2.7.23 annotated-skewed
kryo2 2.7.23 annotated
kryo 3.2.16 annotated
kryo 3.2.16 annotated-skewed
kryo2 3.2.16 annotated
kryo 3.2.16-extensions-1.0.1 plain
kryo2 3.2.16-extensions-1.0.1 plain
fst 2.6.0 plain
fst 2.6.12 plain
fst 2.6.12 registered
fst 2.7.23 plain
fst 2.7.23 registered
fst 2.7.23 skewed
fst 3.2.16 plain
fst 3.2.16 registered
compactedjava 2.6.0 plain
compactedjava 2.7.23 plain
compactedjava 2.7.23 skewed
dubbo 2.6.0 plain
protostuff 2.7.0 plain
protostuff 2.7.1 plain
protostuff 2.7.23 plain
protostuff 2.7.23 skewed
protostuff 3.2.16 plain
protostuff 2.7.1 tagged
protostuff 2.7.23 tagged
protostuff 3.2.16 tagged
fury 3.2.16 plain
fury 3.2.16 skewed
fury-compatible 3.2.16 plain
fury-compatible 3.2.16 skewed
fury 3.2.16 plain fury-0.4.1
fury-compatible 3.2.16 plain fury-0.4.1
fury 3.2.16 plain fury-0.10.2
fury 3.2.16 skewed fury-0.10.2
fury-compatible 3.2.16 plain fury-0.10.2
fury-compatible 3.2.16 skewed fury-0.10.2
fury 3.2.16 plain fory-0.11.0
fury-compatible 3.2.16 plain fory-0.11.0
fst 2.7.23 plain fst-2.57
kryo 2.6.0 plain kryo-2.24
kryo 2.6.0 registered kryo-2.24
fst 2.6.0 plain fst-1.55
fst 2.6.0 registered fst-1.55
avro 2.7.23 plain
avro 2.7.23 reflected
avro 2.7.23 reflected-skewed
avro 3.2.16 plain
avro 3.2.16 reflected
avro 3.2.16 reflected-skewed
END
}

# The class path of a release with other versions of libraries.
libraries() { # release name
  local path
  class_path "$1" >/dev/null # Maven writes more than the path
  path=$(class_path "$1")
  case ${2:-} in
    fst-1.55) dubbox "$path" && path=$(dubbox_path "$path") ;;
    fury-0.10.*) later_fury "$path" fury "${2#fury-}" && path=$(later_fury_path "$path" fury "${2#fury-}") ;;
    fory-*) later_fury "$path" fory "${2#fory-}" && path=$(later_fury_path "$path" fory "${2#fory-}") ;;
    fury-*) path=$(artifact org.furyio fury-core "${2#fury-}"):$(without fury-core- <<<"$path") ;;
    fst-*) path=$(artifact de.ruedigermoeller fst "${2#fst-}"):$(without fst- <<<"$path") ;;
    kryo-2.24) dubbox "$path" && path=$(dubbox_path "$path") ;;
  esac
  echo "$path"
}

# Dubbo with later Fury, or with Fory.
later_fury_path() { # class path, name, version
  echo "$work/$2-classes:$(artifact "org.apache.$2" "$2-core" "$3"):$(without fury-core- dubbo-serialization-fury- <<<"$1")"
}

later_fury() { # class path, name, version
  local name=$2 classes=$work/$2-classes
  rm -rf "$classes" && mkdir -p "$classes/META-INF/dubbo/internal" "$work/$name-source"
  sed "s/fury/$name/g; s/Fury/${name^}/g; s/Later${name^}/LaterFury/g; s/rig\.$name/rig.fury/" "$here/fury/LaterFury.java" >"$work/$name-source/LaterFury.java"
  javac --release 17 -Xlint:-options -cp "$(later_fury_path "$1" "$2" "$3")" -d "$classes" "$work/$name-source/LaterFury.java"
  printf 'fury=org.dubbowire.rig.fury.LaterFury\nfury-compatible=org.dubbowire.rig.fury.LaterFury$Compatible\n' \
    >"$classes/META-INF/dubbo/internal/org.apache.dubbo.common.serialize.Serialization"
}

models=$here/models/target/classes
later=$here/models/target/later-classes
annotated=$work/annotated-classes
later_annotated=$work/annotated-later-classes
reflected=$work/reflected-classes
later_reflected=$work/reflected-later-classes
stuff=$work/protostuff-classes

# Classes with the annotations of Kryo, some that only Kryo 4 has, and with those of protostuff.
compile_annotated() {
  local five
  five=$(artifact com.esotericsoftware kryo 5.4.0):$(artifact com.esotericsoftware.kryo kryo 2.24.0)
  rm -rf "$annotated" "$later_annotated" "$stuff"
  compile "$stuff" "$models:$(artifact io.protostuff protostuff-api 1.5.9)" protostuff
  compile "$annotated" "$models:$five" java
  compile "$annotated" "$models:$(artifact com.esotericsoftware kryo 4.0.2)" kryo4
  compile "$later_annotated" "$annotated:$models:$five" later
}

# Classes that Avro's reflection can write.
compile_reflected() {
  local avro
  avro=$(artifact org.apache.avro avro 1.8.2):$(artifact org.codehaus.jackson jackson-core-asl 1.9.13):$(artifact org.codehaus.jackson jackson-mapper-asl 1.9.13)
  rm -rf "$reflected" "$later_reflected"
  compile "$reflected" "$avro" ../reflected/java
  compile "$later_reflected" "$reflected:$avro" ../reflected/later
}

compile() { # folder class-path source-folder
  find "$here/models/src/annotated/$3" -name '*.java' -print0 | xargs -0 javac --release 8 -g:none -Xlint:-options -cp "$1:$2" -d "$1"
}

# The schemas that the Avro of a release makes of the classes.
schemas() { # release file
  local path
  path=$reflected:$(class_path "$1")
  rm -rf "$work/schemas-classes"
  javac --release 17 -cp "$path" -d "$work/schemas-classes" "$here/models/src/reflected/schemas/Schemas.java"
  java -cp "$work/schemas-classes:$path" Schemas Scalars Person Address Leaf Middle Base Shapes Containers Arrays Lost Holder Tree Mode Phantom 2>/dev/null >"$2"
}

pack() { # jar folder...: the classes of all folders, of the first one that has them
  local jar=$1 folder all=$work/graphs-classes
  shift
  rm -rf "$all" && mkdir "$all"
  for folder in "$@"; do cp -rn "$folder/." "$all"; done
  (cd "$all" && find org -name '*.class' | LC_ALL=C sort) | sed "s#.*#-C\n$all\n&#" >"$work/graphs.args"
  jar --create --file "$jar" --no-manifest --date=2020-01-01T00:00:00Z "@$work/graphs.args"
}

graphs() { # folder seed count serialization release special [libraries]
  local folder=$1 seed=$2 count=$3 serialization=$4 release=$5 special=$6 classes=$models options=() name module
  module=$(module_of "$release")
  name=$serialization-$release${7:+-$7}
  [ "$special" = plain ] || name+=-$special
  [[ $name =~ $pattern ]] || return 0
  case $special in annotated* | tagged) count=${count:-40} ;; reflected*) count=${count:-100} ;; *) count=${count:-170} ;; esac
  case $special in
    skewed) classes=$later:$models ;;
    annotated) classes=$annotated:$models ;;
    tagged) classes=$stuff:$models ;;
    annotated-skewed) classes=$later_annotated:$annotated:$models ;;
    reflected) classes=$reflected:$models ;;
    reflected-skewed) classes=$later_reflected:$reflected:$models ;;
  esac
  # The numbers of registered classes: README.md, "Optimizers with Dubbo 3". Kryo 5 takes some generic fields for others, which must be an
  # exception and not a crash.
  case $release in 3.*) options=(-XX:+UnlockExperimentalVMOptions -XX:hashCode=2 -Dkryo.unsafe=false) ;; esac
  if ! java -Xmx512m -Xss1m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.timezone=UTC -Duser.language=en "${opens[@]}" --add-opens java.base/java.util.regex=ALL-UNNAMED "${options[@]}" \
    -cp "$classes:$work/consumer-classes-$module:$(libraries "$release" "${7:-}")" org.dubbowire.rig.run.Graphs "$name" "$release" "$serialization" "$seed" "$count" "$special" \
    >"$folder/$name.jsonl" 2>"$work/graphs.log"; then
    tail -20 "$work/graphs.log" >&2
    return 1
  fi
  if [ "$special" = registered ]; then
    sed -n 's/^registered //p' "$work/graphs.log" >"$folder/registered-${release%%.*}.txt"
  fi
  echo "$name: $(wc -l <"$folder/$name.jsonl") bodies"
  sed -n '/ values cannot be written/,$p' "$work/graphs.log" | cut -c1-200
}

collect() { # name file...: one file, in which the bodies of equal values are neighbours
  local name=$1
  shift
  sed -E 's/^([^:]*:[^:]*:[^:]*:[^:]*:([0-9]+),)/\2 \1/' "$@" | sort -s -n -k 1,1 | cut -d' ' -f 2- | zstd -19 --long=24 -q -f -o "$folder/$name.jsonl.zst"
  rm "$@"
}

lock
[ -n "${RIG_BUILT:-}" ] || for module in dubbo-2.6 dubbo-2.7 dubbo-3; do build $module; done
compile_annotated
compile_reflected
folder=${1:-$here/../graphs}
pattern=${4:-}
mkdir -p "$folder"
dialects | while read -r dialect; do
  # shellcheck disable=SC2086
  graphs "$folder" "${2:-1}" "${3:-}" $dialect
done
if [ $# -eq 0 ]; then
  pack "$here/../models/graphs.jar" "$models"
  pack "$here/../models/graphs-later.jar" "$later" "$models"
  pack "$here/../models/annotated.jar" "$annotated"
  pack "$here/../models/annotated-later.jar" "$later_annotated" "$annotated"
  schemas 2.7.23 "$here/../models/reflected-2.avsc"
  schemas 3.2.16 "$here/../models/reflected-3.avsc"
  pack "$here/../models/reflected.jar" "$reflected"
  pack "$here/../models/reflected-later.jar" "$later_reflected" "$reflected"
  collect reflected "$folder"/avro-*.jsonl
  pack "$here/../models/tagged.jar" "$stuff"
  collect annotated "$folder"/*-annotated*.jsonl
  collect graphs "$folder"/*.jsonl
fi
