package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/report"
)

// outputFlags are --format, -o and how tables look.
type outputFlags struct {
	format       string
	files        []string
	exact, local bool
	formats      []string // that the command knows, the default first
}

func (o *outputFlags) add(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&o.format, "format", "", "print as `FORMAT`: "+strings.Join(formats, ", ")+" (default "+formats[0]+")")
		fs.StringArrayVarP(&o.files, "output", "o", nil, "write to `FILE`; its extension chooses the format (.txt .md .csv .json .jsonl .html .pprof .pb.gz .folded); may be repeated")
		fs.BoolVar(&o.exact, "exact", false, "print all digits in tables")
		fs.BoolVar(&o.local, "local", false, "print local times in tables instead of UTC")
	})
	flagValues(cmd, "format", formats)
}

// target is one place where a report goes, in one format.
type target struct {
	format string
	file   string // "" is standard output
	w      *bufio.Writer
	under  io.Writer
	temp   *os.File
}

// check refuses a format that the command does not have.
func (o *outputFlags) check() error {
	if o.format != "" && !slices.Contains(o.formats, o.format) {
		return exit.Usagef("--format %s: choose from %s", o.format, strings.Join(o.formats, ", "))
	}
	return nil
}

// targets opens the places. Files are written beside their name and renamed when whole: see close.
func (o *outputFlags) targets(s *streams) ([]*target, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.files) == 0 {
		format := o.format
		if format == "" {
			format = o.formats[0]
		}
		if err := forTerminal(format, s.out); err != nil {
			return nil, err
		}
		return []*target{{format: format, under: s.out, w: bufio.NewWriterSize(s.out, 1<<16)}}, nil
	}
	var all []*target
	for _, name := range o.files {
		t, err := o.open(s, name)
		if err != nil {
			discard(all)
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (o *outputFlags) open(s *streams, name string) (*target, error) {
	if name == "-" {
		format := o.format
		if format == "" {
			format = o.formats[0]
		}
		return &target{format: format, under: s.out, w: bufio.NewWriterSize(s.out, 1<<16)}, nil
	}
	format := o.format
	if format == "" || len(o.files) > 1 && o.tells(name) {
		switch ext := strings.ToLower(filepath.Ext(name)); ext {
		case ".txt":
			format = "table"
		case ".md", ".markdown":
			format = "markdown"
		case ".xml":
			format = "junit"
		case ".csv", ".json", ".jsonl", ".html", ".pprof", ".folded":
			format = ext[1:]
		default:
			if strings.HasSuffix(strings.ToLower(name), ".pb.gz") { // as pprof calls its own files
				format = "pprof"
				break
			}
			return nil, exit.Usagef("-o %s: the extension says no format; use .txt, .md, .csv, .json, .jsonl, .html, .pprof or .folded, or give --format", name)
		}
		if !slices.Contains(o.formats, format) {
			return nil, exit.Usagef("-o %s: this command does not print %s; choose from %s", name, format, strings.Join(o.formats, ", "))
		}
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, exit.Usagef("-o %s: is a folder; name a file in it", name)
		}
		// A device or a pipe cannot be replaced by a finished file: write into it.
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, cannotWrite(name, err)
		}
		return &target{format: format, file: name, under: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
	}
	temp, err := createUnfinished(name)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	return &target{format: format, file: name, temp: temp, under: temp, w: bufio.NewWriterSize(temp, 1<<16)}, nil
}

// tells reports whether a file's extension is that of a format of the command: with several files, each has its own.
func (o *outputFlags) tells(name string) bool {
	format := map[string]string{".txt": "table", ".md": "markdown", ".xml": "junit"}[filepath.Ext(name)]
	return slices.Contains(o.formats, format) || slices.Contains(o.formats, strings.TrimPrefix(filepath.Ext(name), "."))
}

// cannotWrite words an error of a file. That its reader has gone is none.
func cannotWrite(name string, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return err
	}
	var path *os.PathError
	var link *os.LinkError // of the file under its unfinished name, which says nothing to its user
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return exit.Usagef("-o %s: cannot be written: %v", name, err)
}

// cannotWrite is what to say of an error of this target.
func (t *target) cannotWrite(err error) error {
	var told *exit.Error
	if err == nil || t.file == "" || errors.As(err, &told) {
		return err
	}
	return cannotWrite(t.file, err)
}

// close finishes a target: a file gets its name only now.
func (t *target) close() error {
	if err := t.w.Flush(); err != nil {
		t.discard()
		if t.file != "" {
			return cannotWrite(t.file, err)
		}
		return err
	}
	if t.temp == nil {
		return nil
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(t.file); err == nil {
		mode = info.Mode().Perm()
	}
	err := t.temp.Chmod(mode)
	if e := t.temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = finish(t.temp, t.file)
	} else {
		abandonFile(t.temp)
	}
	if err != nil {
		return cannotWrite(t.file, err)
	}
	return nil
}

// forTerminal refuses a format that nobody can read there.
func forTerminal(format string, w io.Writer) error {
	if f, ok := w.(*os.File); ok && format == "pprof" && term.IsTerminal(int(f.Fd())) {
		return exit.Usagef("--format pprof is binary: name a file for it, as in -o sizes.pprof")
	}
	return nil
}

// discard leaves no file behind.
func (t *target) discard() {
	if t.temp != nil {
		_ = t.temp.Close()
		abandonFile(t.temp)
	}
}

func discard(all []*target) {
	for _, t := range all {
		t.discard()
	}
}

// style is how tables look on a target: colours and the width of the terminal only on a terminal.
func (o *outputFlags) style(t *target) report.Style {
	st := report.Style{Exact: o.exact, Local: o.local}
	if t.file != "" {
		return st
	}
	if f, ok := t.under.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		st.Color = os.Getenv("NO_COLOR") == ""
	}
	st.Width = terminalWidth(t.under)
	return st
}

// terminalWidth is the columns of the terminal that w is, or COLUMNS; 0 where there is no limit.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}
