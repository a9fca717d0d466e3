#!/usr/bin/env bash
# Builds providers and consumers for live tests: live.sh FOLDER RELEASE...
# Leaves in FOLDER/RELEASE what `java` takes as @provider.args and @consumer.args (all but the settings of a run and the main class: see
# internal/dev/e2e), and the classes: nothing in FOLDER changes when the rig is built again. `load` in place of a side
# (@load.args) writes no truth; with @http1.args before a side's, the truth has the messages of HTTP/1. Needs Java 17 and Maven, no root, and no network
# once Maven has the jars.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
base=$1
releases=("${@:2}")

# Maven is asked only when a source is newer than what it has made.
build_live() {
  local release module stamp stale=()
  for release in "${releases[@]}"; do
    module=$(module_of "$release") stamp=$work/live-$module
    [[ " ${stale[*]} " != *" $module "* ]] || continue
    if [ ! -e "$stamp" ] || [ ! -d "$work/provider-classes-$module" ] ||
      [ -n "$(find "$here/pom.xml" "$here/common" "$here/apache" "$here/alibaba" "$here/$module" -name target -prune -o -type f -newer "$stamp" -print -quit)" ]; then
      stale+=("$module")
      touch "$stamp.new" # before: what changes meanwhile is newer
    fi
  done
  [ ${#stale[@]} = 0 ] || build "${stale[@]}" >&2
  for module in "${stale[@]}"; do mv "$work/live-$module.new" "$work/live-$module"; done
  for release in "${releases[@]}"; do class_path "$release" >/dev/null; done
  build_tap
}

arguments() { # side classes
  printf '%s\n' "${opens[@]}"
  [ ! -e "$here/$module/jvm.options" ] || cat "$here/$module/jvm.options"
  printf '%s\n' -Ddubbo.application.logger=log4j -Ddubbo.service.shutdown.wait=1000 -Duser.timezone=UTC -Duser.language=en "-Dtruth.side=$1" \
    -cp "\"$folder/$2:$(class_path "$release")\""
}

lock # captures.sh and other tests build in the same place
build_live
for release in "${releases[@]}"; do
  module=$(module_of "$release") folder=$base/$release
  mkdir -p "$folder"
  for side in provider consumer; do
    rm -rf "$folder/$side" && cp -r "$work/$side-classes-$module" "$folder/$side"
    arguments $side $side >"$folder/$side.args"
  done
  rm -rf "$folder/load" && cp -r "$folder/provider" "$folder/load" && rm -rf "$folder/load/META-INF/dubbo" # the wrappers that write the truth
  arguments load load >"$folder/load.args"
  rm -rf "$folder/tap" && cp -r "$work/tap" "$folder/tap"
  printf '%s\n' --patch-module "\"java.base=$folder/tap\"" --add-exports java.base/sun.nio.ch=ALL-UNNAMED >"$folder/http1.args"
done
