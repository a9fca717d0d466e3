package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// completionFolder has what the tests of shells complete.
func completionFolder(t *testing.T) string {
	dir := t.TempDir()
	data := testkit.Get(t, "mixed").Bytes(t)
	for _, name := range []string{"trace.pcap", "trace.pcap12", "notes.txt", "other.pcapng.zst", "rotated/trace.pcap0"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, data, 0o666))
	}
	return dir
}

// shellOutput runs a shell's script in a folder.
func shellOutput(t *testing.T, dir string, command ...string) string {
	testkit.Needs(t, "interactive shells")
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("no %s", command[0])
	}
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "LC_ALL=C.UTF-8", "TERM=dumb")
	timer := time.AfterFunc(5*time.Minute, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// completions are what lines are completed to in each shell, and what not; a line ends where the key is pressed.
var completions = []struct {
	line      string
	want, not []string
}{
	{"dubbo-wire ", []string{"analyze", "capture", "completion"}, []string{"man", "trace.pcap"}},
	{"dubbo-wire analyze --form", []string{"--format"}, []string{"--method"}},
	{"dubbo-wire analyze --format ", []string{"table", "markdown", "csv", "json"}, []string{"trace.pcap"}},
	{"dubbo-wire analyze trace.pcap --method e", []string{"echoNode", "existUser"}, []string{"add"}},
	{"dubbo-wire analyze trace.pcap --service org.apache", []string{"org.apache.dubbo.benchmark.service.UserService"}, nil},
	{"dubbo-wire analyze --by client,se", []string{"client,serialization", "client,service", "client,server"}, []string{"client,method"}},
	{"dubbo-wire calls --status ", []string{"20", "31", "100"}, []string{"21"}},
	{"dubbo-wire --exact calls --serialization k", []string{"kryo"}, []string{"hessian2"}},
	{"dubbo-wire capture ", []string{"any", "lo"}, []string{"trace.pcap"}},
	{"dubbo-wire completion ", []string{"bash", "zsh", "fish"}, []string{"trace.pcap"}},
}

func checkCompletions(t *testing.T, of func(line string) []string) {
	if testing.Short() {
		t.Skip("every line starts a shell, and the program")
	}
	if _, err := os.Stat("/sys/class/net/lo"); err != nil {
		t.Skip("made for Linux: names of interfaces")
	}
	for _, c := range completions {
		got := of(c.line)
		for _, want := range c.want {
			assert.Contains(t, got, want, c.line)
		}
		for _, not := range c.not {
			assert.NotContains(t, got, not, c.line)
		}
	}
}

// withoutBashCompletion stands for the package bash-completion: what the script takes from it.
const withoutBashCompletion = `
_get_comp_words_by_ref() { while [[ $1 == -* ]]; do shift 2; done; cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
_filedir() { COMPREPLY=(); shopt -s extglob; local f; for f in "$cur"*; do if [ -d "$f" ] || eval "[[ \$f == *.@($1) ]]"; then COMPREPLY+=("$f"); fi; done; }
__ltrim_colon_completions() { :; }
`

func TestCompletionBash(t *testing.T) {
	dir := completionFolder(t)
	start := "source <(dubbo-wire completion bash)\ncompopt() { :; }\n"
	if system := "/usr/share/bash-completion/bash_completion"; exists(system) {
		start = "source " + system + "\n" + start
	} else {
		start = withoutBashCompletion + start
	}
	of := func(line string) []string {
		script := start + `
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
read -ra COMP_WORDS <<<"$1"
[ "${1: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]}-1))
__start_dubbo-wire
printf '%s\n' "${COMPREPLY[@]}"
`
		out := shellOutput(t, dir, "bash", "--norc", "--noprofile", "-c", script, "bash", line)
		var list []string
		for l := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimSpace(l), " ") // a description follows
			list = append(list, name)
		}
		return list
	}
	checkCompletions(t, of)
	got := of("dubbo-wire analyze ")
	assert.Subset(t, got, []string{"trace.pcap", "trace.pcap12", "other.pcapng.zst", "rotated"})
	assert.NotContains(t, got, "notes.txt")
}

func TestCompletionFish(t *testing.T) {
	dir := completionFolder(t)
	of := func(line string) []string {
		out := shellOutput(t, dir, "fish", "--no-config", "-c", `dubbo-wire completion fish | source; complete -C $argv[1]`, line)
		var list []string
		for l := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimRight(l, "\n"), "\t")
			list = append(list, name)
		}
		return list
	}
	checkCompletions(t, of)
	assert.Contains(t, of("dubbo-wire analyze tr"), "trace.pcap")
}

// zsh completes in its line editor only, which wants a terminal: zpty is one. What completion adds is written to a file.
const zshList = `
zmodload zsh/zpty || exit 9
cat > start.zsh <<'END'
PS1=
autoload -Uz compinit && compinit -u -d $PWD/.dump
source <(dubbo-wire completion zsh)
bindkey '^I' complete-word
over() { exit }
comppostfuncs=( over )
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	typeset -a hits
	builtin compadd -A hits "$@"
	print -rl -- $hits >> list.txt
	builtin compadd "$@"
}
print READ""Y
END
: > list.txt
zpty z zsh -f -i
zpty -w z 'source start.zsh'
zpty -r z out '*READY*' || exit 8
zpty -w -n z "$1"$'\t'
for i in {1..100}; do zpty -t z || break; zpty -rt z out; sleep 0.1; done
cat list.txt
`

func TestCompletionZsh(t *testing.T) {
	dir := completionFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list.zsh"), []byte(zshList), 0o666))
	of := func(line string) []string {
		return strings.Fields(shellOutput(t, dir, "zsh", "-f", "list.zsh", line))
	}
	checkCompletions(t, of)
	got := of("dubbo-wire analyze ")
	assert.Subset(t, got, []string{"trace.pcap", "trace.pcap12", "other.pcapng.zst"})
	assert.NotContains(t, got, "notes.txt")
}
