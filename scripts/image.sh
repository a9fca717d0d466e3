#!/usr/bin/env bash
# image.sh [FOLDER]: a container image of Linux programs, as an OCI image layout with all of PLATFORMS and as an archive of each for
# docker load. Needs Go and git, and no container engine.
set -euo pipefail
out=$(realpath -m "${1:-bin/image}")
source "$(dirname "$0")/build.sh"
rm -rf "$out"
licenses >"$work/copyright"
programs=()
for platform in ${PLATFORMS:-linux/amd64 linux/arm64}; do
	arch=${platform#*/}
	program linux "$arch" "$work/$arch"
	programs+=("$arch=$work/$arch")
done
"$go" run scripts/image.go -out "$out" -version "$version" -revision "$(git rev-parse HEAD)" -time "$seconds" -licenses "$work/copyright" "${programs[@]}"
