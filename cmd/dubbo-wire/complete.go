package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/sizes"
)

// captureFiles are the extensions of captures and saved reports. rotatedFile matches the extension of a file of a rotated
// set, where tcpdump appends a number: trace.pcap1.
var (
	captureFiles = []string{"pcap", "pcapng", "cap", "gz", "zst", "json"}
	rotatedFile  = regexp.MustCompile(`\.((?:pcap|pcapng|cap)[0-9]+)$`)
)

const valuesAnnotation = "values"

// flagValues sets the values that a command's flag may have, for completion.
func flagValues(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.Flags().SetAnnotation(flag, valuesAnnotation, values) // it exists
}

// completing reports whether a shell asks for completion. Only then completion is set up: cobra never frees a registered
// completion and its commands, and tests run many command lines in one process.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeFlags registers the completion of every flag of every command.
func completeFlags(root *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"by":            completeBy,
		"sort":          nil, // set per command, by flagValues
		"format":        nil,
		"status":        fixed(statusCodes()...),
		"serialization": fixed(serializations()...),
		"protocol":      fixed(protocolNames()...),
		"golden":        cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt),
		"write":         cobra.FixedCompletions([]string{"pcapng"}, cobra.ShellCompDirectiveFilterFileExt),
		"budgets":       cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"raw":           cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"interface":     completeInterfaces,
		"classpath":     completeClassPath,
		"jdk":           cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"jars":          cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"java":          cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"proto":         cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"register":      cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"optimizer":     completeOptimizer,
		"avro-schema":   cobra.FixedCompletions([]string{"avsc", "json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	for _, kind := range []string{"service", "method", "client", "server", "host", "port"} {
		values[kind] = ofCapture(kind)
	}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			complete := values[f.Name]
			if f.Name == "output" {
				complete = completeOutput
			}
			if own := f.Annotations[valuesAnnotation]; own != nil {
				complete = fixed(own...)
			}
			if complete == nil {
				complete = cobra.NoFileCompletions // numbers, durations and texts: do not offer file names
			}
			if f.NoOptDefVal == "" {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails only where one is registered already
			}
		})
		if takesFiles(cmd) && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeFile
		}
	}
}

// takesFiles reports whether a command's arguments are captures. Its usage line says so.
func takesFiles(cmd *cobra.Command) bool {
	_, args, _ := strings.Cut(cmd.Use, " ")
	for _, word := range []string{"FILE", "BEFORE", "IN"} {
		if strings.HasPrefix(strings.TrimLeft(args, "["), word) {
			return true
		}
	}
	return false
}

// completeFile leaves files to the shell, which knows how to quote them. The shell takes extensions, not patterns, so the
// numbered extensions are those found in the folder.
func completeFile(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if label, file, ok := strings.Cut(begun, "="); ok && !strings.ContainsAny(label, `/\.`) {
		return labelled(label, file), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	endings := slices.Clone(captureFiles)
	folder, _ := filepath.Split(begun)
	if dir, err := os.Open(filepath.Clean(folder)); err == nil {
		names, _ := dir.Readdirnames(10_000)
		_ = dir.Close()
		for _, name := range names {
			if m := rotatedFile.FindStringSubmatch(name); m != nil && !slices.Contains(endings, m[1]) && len(endings) < 1000 {
				endings = append(endings, m[1])
			}
		}
	}
	return endings, cobra.ShellCompDirectiveFilterFileExt
}

// labelled completes name=FILE, which shells do not recognise as a file.
func labelled(label, begun string) []string {
	return filesBegunWith(label+"=", begun, func(name string) bool {
		return slices.Contains(captureFiles, strings.TrimPrefix(filepath.Ext(name), ".")) || rotatedFile.MatchString(name)
	})
}

// filesBegunWith returns the folders and the wanted files whose path starts with begun, with before in front.
func filesBegunWith(before, begun string, want func(name string) bool) []string {
	folder, start := filepath.Split(begun)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, start) || start == "" && strings.HasPrefix(name, "."):
		case e.IsDir():
			list = append(list, before+folder+name+"/")
		case want(name):
			list = append(list, before+folder+name)
		}
	}
	return list
}

// completeOutput completes files with the extensions of the command's formats. A command without formats writes captures.
func completeOutput(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	format := cmd.Flags().Lookup("format")
	if format == nil {
		return []string{"pcapng"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return output.Extensions(format.Annotations[valuesAnnotation]), cobra.ShellCompDirectiveFilterFileExt
}

// fixed completes the last of several values that are joined by commas. A description may follow a value after a tab.
func fixed(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return joinedWith(begun, values), cobra.ShellCompDirectiveNoFileComp
	}
}

// joinedWith returns the values that were not chosen yet, each after the chosen ones and a comma.
func joinedWith(begun string, values []string) []string {
	at := strings.LastIndexByte(begun, ',') + 1
	chosen := strings.Split(begun[:at], ",")
	out := make([]string, 0, len(values))
	for _, v := range values {
		name, _, _ := strings.Cut(v, "\t")
		if !slices.Contains(chosen, name) && strings.HasPrefix(name, begun[at:]) {
			out = append(out, begun[:at]+v)
		}
	}
	return out
}

// completeBy completes keys. No space follows, because most groupings have several.
func completeBy(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return joinedWith(begun, sizes.KeyNames()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func statusCodes() []string {
	var list []string
	for _, p := range protocols.All() {
		for code := 0; p.StatusText != nil && code < 1000; code++ {
			if text := p.StatusText(code); text != "" {
				entry := strconv.Itoa(code) + "\t" + strings.ToLower(strings.ReplaceAll(text, "_", " "))
				if !slices.Contains(list, entry) { // protocols share some
					list = append(list, entry)
				}
			}
		}
	}
	return list
}

func serializations() []string {
	var list []string
	for _, f := range formats.All() {
		if !slices.ContainsFunc(list, func(have string) bool { return strings.HasPrefix(have, f.Name+"\t") }) {
			list = append(list, fmt.Sprintf("%s\tid %d, %s", f.Name, f.ID, f.Releases))
		}
	}
	return list
}

func protocolNames() []string {
	var list []string
	for _, p := range protocols.All() {
		if p.NewDecoder != nil { // the others have no calls
			list = append(list, p.Name)
		}
	}
	return list
}

func completeInterfaces(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{capture.AnyInterface + "\tall interfaces"}
	if list, err := capture.Interfaces(); err == nil {
		for _, i := range list {
			if i.Name == capture.AnyInterface {
				continue
			}
			about := "down"
			if i.Up {
				about = strings.Join(append([]string{"up"}, i.Addrs...), " ")
			}
			names = append(names, i.Name+"\t"+about)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// expressionWords are the words of kernel filters.
var expressionWords = []string{"port", "portrange", "host", "net", "tcp", "src", "dst", "and", "or", "not"}

// commandNames returns the commands and topics, for help.
func commandNames(root *cobra.Command, args []string) []string {
	var names []string
	for _, c := range root.Commands() {
		if len(args) == 0 && !c.Hidden && !strings.HasPrefix(c.Name(), "__") {
			names = append(names, c.Name()+"\t"+c.Short)
		}
	}
	return names
}

// shells are the shells that completion supports, each with the commands that enable it now and permanently.
var shells = []struct {
	name, now, always string
	script            func(root *cobra.Command, w io.Writer, descriptions bool) error
}{
	{
		"bash", "source <(dubbo-wire completion bash)", "dubbo-wire completion bash > /etc/bash_completion.d/dubbo-wire",
		func(root *cobra.Command, w io.Writer, d bool) error { return root.GenBashCompletionV2(w, d) },
	},
	{
		"zsh", "source <(dubbo-wire completion zsh)", `dubbo-wire completion zsh > "${fpath[1]}/_dubbo-wire"`,
		func(root *cobra.Command, w io.Writer, d bool) error {
			if d {
				return root.GenZshCompletion(w)
			}
			return root.GenZshCompletionNoDesc(w)
		},
	},
	{
		"fish", "dubbo-wire completion fish | source", "dubbo-wire completion fish > ~/.config/fish/completions/dubbo-wire.fish",
		func(root *cobra.Command, w io.Writer, d bool) error { return root.GenFishCompletion(w, d) },
	},
	{
		"powershell", "dubbo-wire completion powershell | Out-String | Invoke-Expression", "dubbo-wire completion powershell >> $PROFILE",
		func(root *cobra.Command, w io.Writer, d bool) error {
			if d {
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return root.GenPowerShellCompletion(w)
		},
	},
}

func newCompletion(s *streams) *cobra.Command {
	var names []string
	var long strings.Builder
	long.WriteString("completion prints a script for a shell. The script completes commands, flags and values: interfaces, formats, keys, " +
		"statuses, and the services, methods and addresses in the capture on the command line.\n")
	for _, sh := range shells {
		names = append(names, sh.name)
		fmt.Fprintf(&long, "\n  %s, for this session and permanently:\n    %s\n    %s\n", sh.name, sh.now, sh.always)
	}
	long.WriteString("\nbash needs the package bash-completion; zsh needs compinit: autoload -Uz compinit && compinit.\n")
	plain := false
	cmd := &cobra.Command{
		Use:       "completion SHELL",
		GroupID:   "about",
		Short:     "Print the completion script for a shell: " + strings.Join(names, ", "),
		Long:      long.String(),
		Example:   "  dubbo-wire completion bash > dubbo-wire.bash\n  dubbo-wire completion zsh > _dubbo-wire\n  dubbo-wire completion fish > dubbo-wire.fish",
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return exit.Usagef("completion needs a shell; choose from %s: dubbo-wire completion bash", strings.Join(names, ", "))
			case len(args) > 1 || !slices.Contains(names, args[0]):
				return exit.Usagef("no completion for %s; choose from %s", strings.Join(args, " "), strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return shells[slices.Index(names, args[0])].script(cmd.Root(), s.out, !plain)
		},
	}
	cmd.Flags().BoolVar(&plain, "no-descriptions", false, "omit the descriptions of choices")
	return cmd
}

// ofCapture completes names of a kind from the captures on the command line.
func ofCapture(kind string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		var services []string
		if f := cmd.Flags().Lookup("service"); f != nil {
			services, _ = cmd.Flags().GetStringSlice("service")
		}
		if !takesFiles(cmd) {
			args = nil // the arguments are interfaces
		}
		return joinedWith(begun, measure.ReadNames(args, services)[kind]), cobra.ShellCompDirectiveNoFileComp
	}
}
