# shellcheck shell=bash
# What release.sh and image.sh share; they source this file. VERSION replaces the tag of the commit.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${VERSION:-$(git describe --tags --always)}
version=${version#v}
seconds=$(git log -1 --format=%ct)
go=${GO:-go}
export CGO_ENABLED=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program OS ARCH FILE builds the program.
program() {
	GOOS=$1 GOARCH=$2 "$go" build -trimpath -ldflags "-s -w -X main.version=$version" -o "$3" ./cmd/dubbo-wire
}

# licenses prints the licenses of all that is compiled into the program.
licenses() {
	echo "dubbo-wire, by the dubbo-wire authors. The program contains the Go standard library and these modules:"
	{
		printf 'Go %s\t%s\n' "$("$go" env GOVERSION)" "$("$go" env GOROOT)"
		GOOS=linux "$go" list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}' ./cmd/dubbo-wire | sort -u
	} | while IFS=$'\t' read -r module folder; do
		for file in "$folder"/LICEN[CS]E* "$folder"/COPYING* "$folder"/NOTICE*; do
			[ ! -f "$file" ] || printf '\n--- %s, %s\n\n%s\n' "$module" "${file##*/}" "$(<"$file")"
		done
	done
}
