#!/usr/bin/env bash
# release.sh [FOLDER]: release archives with the program, completion and manual pages, .deb and .rpm packages of the Linux ones with
# the service of packaging, and their checksums. VERSION and PLATFORMS replace the tag of the commit and the list of platforms. Needs Go, git and GNU tar; nfpm comes
# from the Go module proxy.
set -euo pipefail
out=$(realpath -m "${1:-bin/release}")
source "$(dirname "$0")/build.sh"
case $version in
[0-9]*.*) number=$version ;;
*) number=0.0.0~$version ;; # packages need a number
esac
day=$(git log -1 --format=%cs)

rm -rf "$out"
mkdir -p "$out" "$work/share/completion"
"$go" build -trimpath -o "$work/host" ./cmd/dubbo-wire
"$work/host" man --date "$day" "$work/share/man/man1"
"$work/host" completion bash >"$work/share/completion/dubbo-wire.bash"
"$work/host" completion zsh >"$work/share/completion/_dubbo-wire"
"$work/host" completion fish >"$work/share/completion/dubbo-wire.fish"
"$work/host" completion powershell >"$work/share/completion/dubbo-wire.ps1"
cp -r README.md docs examples "$work/share/"

# What packages have in addition: compressed manual pages, and the licenses of what is compiled into the program.
mkdir -p "$work/doc"
licenses >"$work/doc/copyright"
printf 'dubbo-wire (%s) stable; urgency=medium\n\n  * Release of commit %s.\n\n -- The dubbo-wire authors <dubbo-wire@localhost>  %s\n' \
	"$number" "$(git log -1 --format=%h)" "$(date -u -R -d "@$seconds")" | gzip -9n >"$work/doc/changelog.gz"
cp -r "$work/share/man/man1" "$work/doc/man1"
gzip -9n "$work/doc/man1/"*

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
	os=${platform%/*} arch=${platform#*/}
	name=dubbo-wire_${version}_${os}_$arch
	folder=$work/$name
	cp -r "$work/share" "$folder"
	file=$folder/dubbo-wire
	[ "$os" != windows ] || file=$file.exe
	program "$os" "$arch" "$file"
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$seconds" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	[ "$os" = linux ] || continue
	cat >"$work/nfpm.yaml" <<-END
		name: dubbo-wire
		arch: $arch
		platform: linux
		version: "$number"
		maintainer: The dubbo-wire authors <dubbo-wire@localhost>
		description: |
		  measures Apache Dubbo calls in packet captures
		  dubbo-wire reads packet captures or a network interface, and shows what
		  uses the bandwidth: services and methods, their serialization, and how
		  large and how fast their messages are. It contains a systemd service,
		  which is not started at installation.
		mtime: "$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)"
		section: net
		priority: optional
		contents:
		  - {src: "$file", dst: /usr/bin/dubbo-wire, file_info: {mode: 0755}}
		  - {src: packaging/dubbo-wire.service, dst: /usr/lib/systemd/system/dubbo-wire.service, file_info: {mode: 0644}}
		  - {src: packaging/default, dst: /etc/default/dubbo-wire, type: config|noreplace, file_info: {mode: 0644}}
		  - {src: "$work/doc/man1/*.1.gz", dst: /usr/share/man/man1/, file_info: {mode: 0644}}
		  - {src: "$folder/completion/dubbo-wire.bash", dst: /usr/share/bash-completion/completions/dubbo-wire, file_info: {mode: 0644}}
		  - {src: "$folder/completion/_dubbo-wire", dst: /usr/share/zsh/site-functions/_dubbo-wire, file_info: {mode: 0644}}
		  - {src: "$folder/completion/dubbo-wire.fish", dst: /usr/share/fish/vendor_completions.d/dubbo-wire.fish, file_info: {mode: 0644}}
		  - {src: "$work/doc/copyright", dst: /usr/share/doc/dubbo-wire/copyright, file_info: {mode: 0644}}
		  - {src: "$work/doc/changelog.gz", dst: /usr/share/doc/dubbo-wire/changelog.gz, file_info: {mode: 0644}}
		scripts: {postinstall: packaging/postinstall.sh, preremove: packaging/preremove.sh, postremove: packaging/postremove.sh}
	END
	for packager in deb rpm; do
		"$go" run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4 package --config "$work/nfpm.yaml" --packager $packager --target "$out/$name.$packager"
	done
done
cd "$out"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
ls -l
