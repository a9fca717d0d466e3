// Package output opens the files and streams that a command prints to. The flags --format and --output go in; targets come out,
// each with its format and a buffered writer. A file is written under a temporary name beside its own and renamed when it is
// complete, so that nobody reads half of it; a device or a pipe is written in place. Places remembers the unfinished files, so
// that a signal that ends the program can remove them. Whoever opens a target owns it and must close or discard it.
package output

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/report"
)

// Options are the formats and files of the output, and the style of tables.
type Options struct {
	Format       string   // "" for the default
	Files        []string // none: standard output
	Exact, Local bool
	Formats      []string // of the command, the default first
}

// Target is one place where output goes, in one format.
type Target struct {
	Format string
	File   string // "" is standard output
	flag   string // that names the file
	W      *bufio.Writer
	under  io.Writer
	temp   *os.File // nil where W writes in place
	places *Places
}

// bufferSize is the size of a target's write buffer in bytes.
const bufferSize = 1 << 16

// NewTarget returns a target that writes to w.
func NewTarget(format string, w io.Writer) *Target {
	return &Target{Format: format, under: w, W: bufio.NewWriterSize(w, bufferSize)}
}

// Redirect makes a target write to w. It is for targets of standard output.
func (t *Target) Redirect(w io.Writer) {
	t.under = w
	t.W.Reset(w)
}

// extensions are the extensions of files with their formats.
var extensions = []struct{ extension, format string }{
	{".txt", "table"},
	{".md", "markdown"},
	{".markdown", "markdown"},
	{".csv", "csv"},
	{".json", "json"},
	{".jsonl", "jsonl"},
	{".html", "html"},
	{".pprof", "pprof"},
	{".pb.gz", "pprof"}, // as pprof calls its own files
	{".folded", "folded"},
	{".xml", "junit"},
	{".parquet", "parquet"},
}

// Extensions returns the extensions, without their dots, that choose one of the formats. ".markdown" is accepted and not suggested.
func Extensions(formats []string) (list []string) {
	for _, e := range extensions {
		if slices.Contains(formats, e.format) && e.extension != ".markdown" {
			list = append(list, e.extension[1:])
		}
	}
	return list
}

// formatOf returns the format of a file's extension, or "".
func formatOf(name string) string {
	name = strings.ToLower(filepath.Base(name))
	for _, e := range extensions {
		if strings.HasSuffix(name, e.extension) {
			return e.format
		}
	}
	return ""
}

// Check refuses a format that the command does not have.
func (o *Options) Check() error {
	if o.Format != "" && !slices.Contains(o.Formats, o.Format) {
		return exit.Usagef("--format %s: choose from %s", o.Format, strings.Join(o.Formats, ", "))
	}
	return nil
}

// Open opens the targets.
func (o *Options) Open(p *Places) ([]*Target, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	format := cmp.Or(o.Format, o.Formats[0])
	if len(o.Files) == 0 {
		if (format == "pprof" || format == "parquet") && IsTerminal(p.Stdout) {
			return nil, exit.Usagef("--format %s is binary; write it to a file, such as -o sizes.%[1]s", format)
		}
		return []*Target{NewTarget(format, p.Stdout)}, nil
	}
	var all []*Target
	for _, name := range o.Files {
		t := NewTarget(format, p.Stdout)
		if name != "-" {
			format, err := o.formatFor(name)
			if err == nil {
				t, err = p.File("-o", format, name)
			}
			if err != nil {
				Discard(all)
				return nil, err
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// Take removes the files of a format from the targets and returns their names. A format that was given alone is then no longer that of the others.
func (o *Options) Take(format string) (names []string, err error) {
	var others []string
	for _, name := range o.Files {
		f := o.Format
		if name != "-" {
			if f, err = o.formatFor(name); err != nil {
				return nil, err
			}
		}
		if f == format {
			names = append(names, name)
		} else {
			others = append(others, name)
		}
	}
	o.Files = others
	if o.Format == format && len(names) > 0 {
		o.Format = ""
	}
	return names, nil
}

// formatFor returns the format of a file. With several files, an extension wins over --format.
func (o *Options) formatFor(name string) (string, error) {
	format := formatOf(name)
	known := slices.Contains(o.Formats, format)
	switch {
	case o.Format != "" && (len(o.Files) == 1 || !known):
		return o.Format, nil
	case format == "":
		return "", exit.Usagef("-o %s: cannot infer the format from the extension; use .%s, or give --format", name, strings.Join(Extensions(o.Formats), ", ."))
	case !known:
		return "", exit.Usagef("-o %s: this command does not support %s; choose from %s", name, format, strings.Join(o.Formats, ", "))
	}
	return format, nil
}

// File opens a file that a flag names as a target. A device or a pipe is written in place, because a rename would replace it.
func (p *Places) File(flag, format, name string) (*Target, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, exit.Usagef("%s %s: is a folder; give a file name", flag, name)
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, CannotWrite(flag, name, err)
		}
		t := NewTarget(format, f)
		t.flag, t.File = flag, name
		return t, nil
	}
	return p.Unfinished(flag, format, name, name)
}

// Unfinished opens a target under a temporary name in the folder of beside. Close renames it to name.
func (p *Places) Unfinished(flag, format, name, beside string) (*Target, error) {
	temp, err := p.create(beside)
	if err != nil {
		return nil, CannotWrite(flag, name, err)
	}
	t := NewTarget(format, temp)
	t.flag, t.File, t.temp, t.places = flag, name, temp, p
	return t, nil
}

// Temp returns the file under its temporary name; nil where the target is written in place.
func (t *Target) Temp() *os.File { return t.temp }

// CannotWrite words an error of writing a file that a flag names. EPIPE stays as it is: the reader of a pipe may leave.
func CannotWrite(flag, name string, err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return err
	}
	var path *os.PathError
	var link *os.LinkError // has the temporary name, which the user does not know
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return exit.Usagef("%s %s: cannot be written: %v", flag, name, err)
}

// cannotWrite words an error of this target, unless that was done already.
func (t *Target) cannotWrite(err error) error {
	var told *exit.Error
	if err == nil || t.File == "" || errors.As(err, &told) {
		return err
	}
	return CannotWrite(t.flag, t.File, err)
}

// Close flushes a target and gives a file its name.
func (t *Target) Close() error {
	if err := t.W.Flush(); err != nil {
		t.Discard()
		return t.cannotWrite(err)
	}
	if t.temp == nil {
		return nil
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(t.File); err == nil {
		mode = info.Mode().Perm()
	}
	err := t.temp.Chmod(mode)
	if e := t.temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = t.places.finish(t.temp, t.File)
	} else {
		t.places.abandon(t.temp)
	}
	return t.cannotWrite(err)
}

// Discard closes a target and removes its unfinished file.
func (t *Target) Discard() {
	if t.temp != nil {
		_ = t.temp.Close()
		t.places.abandon(t.temp)
	}
}

// Discard discards all targets.
func Discard(all []*Target) {
	for _, t := range all {
		t.Discard()
	}
}

// Any reports whether a target has one of the formats.
func Any(all []*Target, formats ...string) bool {
	return slices.ContainsFunc(all, func(t *Target) bool { return slices.Contains(formats, t.Format) })
}

// Print prints to every target and closes it. After an error it discards the rest.
func (o *Options) Print(all []*Target, print func(*Target, report.Style) error) error {
	for i, t := range all {
		err := print(t, o.Style(t))
		if err == nil {
			err = t.Close()
		}
		if err != nil {
			Discard(all[i:])
			return t.cannotWrite(err)
		}
	}
	return nil
}

// Style returns the style of tables on a target. Files have no colours and no limit of width.
func (o *Options) Style(t *Target) report.Style {
	st := report.Style{Exact: o.Exact, Local: o.Local}
	if t.File == "" {
		st.Color, st.Width = IsTerminal(t.under) && Color(), Width(t.under)
	}
	return st
}

// OnTerminal reports whether a target is a terminal.
func (t *Target) OnTerminal() bool { return t.File == "" && IsTerminal(t.under) }

// Color reports whether NO_COLOR allows colours.
func Color() bool { return os.Getenv("NO_COLOR") == "" }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns COLUMNS, or the columns of the terminal w, or 0 for no limit.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if IsTerminal(w) {
		return columns(w.(*os.File))
	}
	return 0
}

// columns returns the width of a terminal, 0 if it is unknown.
func columns(terminal *os.File) int {
	n, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
