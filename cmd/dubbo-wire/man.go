package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/man"
	"dubbo-wire/internal/output"
)

// newMan returns the command that writes the manual pages, for "make man" and packagers.
func newMan(s *streams) *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use:    "man FOLDER",
		Hidden: true,
		Short:  "Write the manual pages into a folder",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("man needs a folder for the pages; try: dubbo-wire man man1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return output.CannotWrite("-o", args[0], err)
			}
			for _, p := range manPages(cmd.Root(), date) {
				t, err := s.places.File("-o", "roff", filepath.Join(args[0], p.Name+".1"))
				if err != nil {
					return err
				}
				_, _ = t.W.Write(man.Roff(p)) // Close returns the error
				if err := t.Close(); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&date, "date", commitDate(), "the `DAY` on the pages (2026-01-31)")
	return cmd
}

// manPages returns a page for the program and one for each command that help lists.
func manPages(root *cobra.Command, date string) []*man.Page {
	var codes, env []man.Item
	for _, e := range exitCodes {
		codes = append(codes, man.Item{Term: strconv.Itoa(e.code), Text: e.long})
	}
	for _, e := range environment {
		env = append(env, man.Item{Term: e.name, Text: e.means})
	}
	listed := commandsOf(root, func(c *cobra.Command) bool { return c.GroupID != "" })
	names := []string{root.Name()}
	for _, c := range listed {
		names = append(names, root.Name()+"-"+c.Name())
	}
	var pages []*man.Page
	for i, c := range append([]*cobra.Command{root}, listed...) {
		p := &man.Page{
			Name: names[i], Title: lowerFirst(c.Short), Description: c.Long, Options: groupedFlags(c),
			ExitCodes: codes, Environment: env, Date: date, Source: root.Name() + " " + root.Version,
		}
		if p.Description == "" {
			p.Description = c.Short + "."
		}
		if c == root {
			p.Title = "measure Apache Dubbo traffic in packet captures"
			p.Synopsis = []string{useLine(root), root.Name() + " --version"}
			for _, sub := range listed {
				p.Commands = append(p.Commands, man.Item{Term: strings.TrimPrefix(useLine(sub), root.Name()+" "), Text: sub.Short + "."})
			}
		} else {
			p.Synopsis = []string{useLine(c)}
		}
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); line != "" {
				p.Examples = append(p.Examples, line)
			}
		}
		for _, n := range names {
			if n != p.Name {
				p.SeeAlso = append(p.SeeAlso, n+"(1)")
			}
		}
		p.SeeAlso = append(p.SeeAlso, "tcpdump(8)", "pcap-filter(7)")
		pages = append(pages, p)
	}
	return pages
}

// commitDate returns the date of the commit that the program was built from, so that builds are reproducible.
func commitDate() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && len(s.Value) >= 10 {
				return s.Value[:10]
			}
		}
	}
	return ""
}
