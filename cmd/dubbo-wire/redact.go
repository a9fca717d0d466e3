package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

func newRedact(s *streams) *cobra.Command {
	var in inputFlags
	var out, keyFile string
	var jobs int
	cmd := &cobra.Command{
		Use:     "redact FILE... -o OUT.pcapng",
		GroupID: "share",
		Short:   "Write a capture that is safe to share: same sizes, other values and addresses",
		Long: `redact writes a pcapng file with other values. analyze reports the same numbers for it.

Kept: services, versions, groups, methods, types, names of classes, fields and attachments, enum constants; times,
lengths, ports, TCP sequence numbers, VLAN ids. Replaced: values and IP and Ethernet addresses; equal ones stay equal.
Bytes that cannot be replaced safely become filler, and a packet comment says so. Omitted: packets that are not TCP, names
of hosts and interfaces, and everything about the machine that recorded the input.

redact has no filters, because a part of a connection would give other numbers. Select packets first (tcpdump -r, editcap).`,
		Example: `  dubbo-wire redact trace.pcap -o to-share.pcapng
  dubbo-wire redact monday.pcap --key-file team.key -o monday-to-share.pcapng
  tcpdump -i eth0 -w - tcp port 20880 | dubbo-wire redact - -o to-share.pcapng`,
		Args: needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			in.Jobs = 1
			in.complete(s)
			if out == "" {
				return exit.Usagef("redact needs an output file: -o OUT.pcapng (-: standard output)")
			}
			key, err := redactKey(keyFile)
			if err != nil {
				return err
			}
			return runRedact(s, &in, args, out, key, cmp.Or(jobs, runtime.GOMAXPROCS(0)))
		},
	}
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVarP(&out, "output", "o", "", "write to the pcapng file `OUT` (-: standard output)")
	})
	cmd.Flags().StringVar(&keyFile, "key-file", "", "use the secret key in `FILE` (at least 16 bytes), so that equal values are replaced equally in several captures (default: a random key)")
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&jobs, "jobs", 0, "replace values with `N` workers; the output does not depend on N (default: the number of processors)")
		within(fs, "jobs", &jobs, 1, 1024)
	})
	in.limitFlags.add(cmd)
	in.addRoutes(cmd)
	in.addClasses(cmd)
	return cmd
}

// redactKey returns the key in a file, or a random key without a file.
func redactKey(file string) (key [32]byte, err error) {
	if file == "" {
		_, err = rand.Read(key[:])
		return key, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return key, exit.Usagef("--key-file %s: cannot be read: %v", file, cause(err))
	}
	if len(b) < 16 {
		return key, exit.Usagef("--key-file %s: has %s, but a key needs at least 16; create one: head -c 32 /dev/urandom > %s", file, term.Counted(int64(len(b)), "byte"), file)
	}
	return sha256.Sum256(b), nil
}

// cause returns the error of a file without the file's name.
func cause(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

func runRedact(s *streams, in *inputFlags, args []string, name string, key [32]byte, jobs int) error {
	laterCollections.Store(&redactCollections)
	defer untouched(untouchedByRedact)()
	src, err := in.Open(args)
	if err != nil {
		return err
	}
	defer src.Close()
	if label, path := src.Labels.Given(); label != "" {
		return exit.Usagef("redact writes one file for all inputs; give %s without the label %s=", path, label)
	}
	if err := notAnInput("-o", name, src); err != nil {
		return err
	}
	file, err := openRedacted(s, name)
	if err != nil {
		return err
	}
	defer file.Discard()
	r := redact.New(redact.Options{File: file.Temp(), Protocols: protocols.All(), Formats: in.Formats(), Key: key, Origin: src.Origin, Ended: src.Ended, Jobs: jobs})
	opt := pipeline.Options{Detail: rpc.Values, Rows: true, WholeBodies: true, Instead: r.Instead, Tap: r}
	totals, readErr := src.Run(opt, r, r.Broken)
	sum, err := r.Close()
	if err != nil {
		return output.CannotWrite("-o", name, err)
	}
	if totals.Balance() != nil {
		return readErr // the totals are wrong, so the file may be wrong
	}
	if sum.Refused != "" {
		return exit.Usagef("redact: %s cannot be redacted; give a capture without them", sum.Refused)
	}
	if totals.TCP.Connections == 0 {
		return in.Verdict(totals, totals.Calls, false, readErr)
	}
	if err := file.Close(); err != nil {
		return err
	}
	if !s.quiet {
		_, _ = io.WriteString(s.err, redactSummary(&sum, name))
	}
	return in.Verdict(totals, totals.Calls, false, readErr)
}

// notAnInput refuses to overwrite an input.
func notAnInput(flag, name string, src *measure.Files) error {
	info, err := os.Stat(name)
	if name == "-" || err != nil {
		return nil
	}
	if info.IsDir() {
		return exit.Usagef("%s %s: is a folder; give a file name", flag, name)
	}
	for _, input := range src.Inputs() {
		if other, err := os.Stat(input.File); input.File != "-" && err == nil && os.SameFile(info, other) {
			return exit.Usagef("%s %s: is an input; write to another file", flag, name)
		}
	}
	return nil
}

// redacted is the file that redact writes. It lies beside its final name, or in the folder for temporary files when it is
// copied to standard output, a device or a pipe at the end.
type redacted struct {
	*output.Target
	out io.Writer // the destination of the copy; nil for a regular file
}

func openRedacted(s *streams, name string) (r redacted, err error) {
	beside := name
	if info, err := os.Stat(name); name == "-" || err == nil && !info.Mode().IsRegular() {
		beside = filepath.Join(os.TempDir(), "dubbo-wire.pcapng")
		r.out = s.out
		if name != "-" { // a device or a pipe cannot be replaced by a complete file
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return r, output.CannotWrite("-o", name, err)
			}
			r.out = f
		}
	}
	r.Target, err = s.places.Unfinished("-o", "pcapng", name, beside)
	return r, err
}

// Close gives the file its name or copies it to its destination.
func (r *redacted) Close() error {
	if r.out == nil {
		return r.Target.Close()
	}
	_, err := r.Temp().Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(r.out, r.Temp())
	}
	if f, ok := r.out.(*os.File); ok && r.File != "-" {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	return err
}

// redactSummary describes what redact replaced and left out.
func redactSummary(sum *redact.Summary, name string) string {
	var b strings.Builder
	if name == "-" {
		name = "standard output"
	}
	addresses := "1 address"
	if sum.Addresses != 1 {
		addresses = term.Count(int64(sum.Addresses)) + " addresses"
	}
	fmt.Fprintf(&b, "%s: %s, %s; %s replaced\n", name, term.Counted(sum.Packets, "packet"), term.Counted(sum.Frames, "frame"), addresses)
	for _, part := range []struct {
		what string
		of   map[string]int64
		unit string
	}{{"omitted", sum.LeftOut, "packet"}, {"became filler", sum.Filler, "byte"}} {
		total, list := int64(0), []string(nil)
		for _, k := range slices.Sorted(maps.Keys(part.of)) {
			if n := part.of[k]; n > 0 {
				total += n
				list = append(list, term.Count(n)+" "+k)
			}
		}
		if total > 0 {
			fmt.Fprintf(&b, "%s: %s (%s)\n", part.what, term.Counted(total, part.unit), strings.Join(list, ", "))
		}
	}
	return b.String()
}
