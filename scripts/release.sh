#!/usr/bin/env bash
# release.sh [FOLDER]: release archives with the program, completion and manual pages, .deb and .rpm packages of the Linux ones, and
# their checksums. VERSION and PLATFORMS replace the tag of the commit and the list of platforms. Needs Go, git and GNU tar; nfpm comes
# from the Go module proxy.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-bin/release}")
version=${VERSION:-$(git describe --tags --always)}
version=${version#v}
case $version in
[0-9]*.*) number=$version ;;
*) number=0.0.0~$version ;; # packages need a number
esac
day=$(git log -1 --format=%cs)
seconds=$(git log -1 --format=%ct)
go=${GO:-go}
export CGO_ENABLED=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out" "$work/share/completion"
"$go" build -trimpath -o "$work/host" ./cmd/dubbo-wire
"$work/host" man --date "$day" "$work/share/man/man1"
"$work/host" completion bash >"$work/share/completion/dubbo-wire.bash"
"$work/host" completion zsh >"$work/share/completion/_dubbo-wire"
"$work/host" completion fish >"$work/share/completion/dubbo-wire.fish"
"$work/host" completion powershell >"$work/share/completion/dubbo-wire.ps1"
cp -r README.md docs "$work/share/"

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
	os=${platform%/*} arch=${platform#*/}
	name=dubbo-wire_${version}_${os}_$arch
	folder=$work/$name
	cp -r "$work/share" "$folder"
	program=$folder/dubbo-wire
	[ "$os" != windows ] || program=$program.exe
	GOOS=$os GOARCH=$arch "$go" build -trimpath -ldflags "-s -w -X main.version=$version" -o "$program" ./cmd/dubbo-wire
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$seconds" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	[ "$os" = linux ] || continue
	cat >"$work/nfpm.yaml" <<-END
		name: dubbo-wire
		arch: $arch
		platform: linux
		version: "$number"
		maintainer: The dubbo-wire authors <dubbo-wire@localhost>
		description: Measures Apache Dubbo calls in packet captures, by serialization and method.
		mtime: "$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)"
		contents:
		  - {src: "$program", dst: /usr/bin/dubbo-wire, file_info: {mode: 0755}}
		  - {src: "$folder/man/man1/*.1", dst: /usr/share/man/man1/}
		  - {src: "$folder/completion/dubbo-wire.bash", dst: /usr/share/bash-completion/completions/dubbo-wire}
		  - {src: "$folder/completion/_dubbo-wire", dst: /usr/share/zsh/site-functions/_dubbo-wire}
		  - {src: "$folder/completion/dubbo-wire.fish", dst: /usr/share/fish/vendor_completions.d/dubbo-wire.fish}
	END
	for packager in deb rpm; do
		"$go" run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4 package --config "$work/nfpm.yaml" --packager $packager --target "$out/$name.$packager"
	done
done
cd "$out"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
ls -l
