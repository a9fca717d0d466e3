#!/usr/bin/env bash
# Writes generated.jar and written.tsv: what protoc generates of the .proto files here, and messages that Java wrote. Needs Java 17 and Maven.
set -euo pipefail
cd "$(dirname "$0")"
version=4.29.3
group=$HOME/.m2/repository/com/google/protobuf
for artifact in "protoc:$version:exe:linux-x86_64" "protobuf-java:$version"; do
  mvn -q -B dependency:get -Dartifact="com.google.protobuf:$artifact" -Dtransitive=false
done
jar=$group/protobuf-java/$version/protobuf-java-$version.jar
protoc=$group/protoc/$version/protoc-$version-linux-x86_64.exe
chmod +x "$protoc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/java" "$work/classes"
unzip -q "$jar" 'google/protobuf/*.proto' -d "$work/include"
"$protoc" --java_out="$work/java" -I. -I"$work/include" first.proto second.proto
javac -nowarn -cp "$jar" -d "$work/classes" Write.java $(find "$work/java" -name '*.java')
java -cp "$jar:$work/classes" Write >written.tsv
rm "$work"/classes/Write.class
(cd "$work/classes" && find . -name '*.class' ! -name '*Builder*.class' | LC_ALL=C sort | jar --create --file "$OLDPWD/generated.jar" --no-manifest --date=2020-01-01T00:00:00Z @/dev/stdin)
