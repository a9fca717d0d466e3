#!/usr/bin/env bash
# Builds a provider and a consumer for live tests: live.sh RELEASE FOLDER
# Leaves in FOLDER what `java` takes as @provider.args and @consumer.args (all but the settings of a run and the main class: see
# internal/dev/e2e), and the classes: nothing in FOLDER changes when the rig is built again. `load` in place of a side
# (@load.args) writes no truth. Needs Java 17 and Maven, no root, and no network once Maven has the jars.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
release=$1 folder=$2
module=$(module_of "$release")
mkdir -p "$folder"

# Maven is asked only when a source is newer than what it has made.
build_live() {
  local stamp=$work/live-$module
  if [ ! -e "$stamp" ] || [ ! -d "$work/provider-classes-$module" ] ||
    [ -n "$(find "$here/pom.xml" "$here/common" "$here/apache" "$here/alibaba" "$here/$module" -name target -prune -o -type f -newer "$stamp" -print -quit)" ]; then
    touch "$stamp.new" # before: what changes meanwhile is newer
    build "$module" >&2
    mv "$stamp.new" "$stamp"
  fi
  class_path "$release" >/dev/null
}

arguments() { # side classes
  printf '%s\n' "${opens[@]}"
  [ ! -e "$here/$module/jvm.options" ] || cat "$here/$module/jvm.options"
  printf '%s\n' -Ddubbo.application.logger=log4j -Ddubbo.service.shutdown.wait=1000 -Duser.timezone=UTC -Duser.language=en "-Dtruth.side=$1" \
    -cp "\"$folder/$2:$(class_path "$release")\""
}

lock # captures.sh and other tests build in the same place
build_live
for side in provider consumer; do
  rm -rf "$folder/$side" && cp -r "$work/$side-classes-$module" "$folder/$side"
  arguments $side $side >"$folder/$side.args"
done
rm -rf "$folder/load" && cp -r "$folder/provider" "$folder/load" && rm -rf "$folder/load/META-INF/dubbo" # the wrappers that write the truth
arguments load load >"$folder/load.args"
