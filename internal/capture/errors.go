package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Cause tells why a source could not be opened or waited for.
type Cause uint8

// The causes. Missing to Unreadable concern files, the others live capture.
const (
	Missing      Cause = iota + 1 // no such file
	Permission                    // not allowed to read the file, or to capture
	Empty                         // zero bytes
	NotCapture                    // neither pcap nor pcapng
	CutHeader                     // a capture that ends inside its file header
	NoCaptures                    // a folder without captures
	Compression                   // a compression that is not supported, or whose stream is damaged at its start
	Unreadable                    // any other failure of the operating system
	StdinTwice                    // "-" given more than once
	NoInterface                   // no such network interface
	NotSupported                  // this system has no live capture
)

// Error describes in one line what could not be opened or, without a Cause, written by package record, and what to do.
type Error struct {
	Cause Cause
	File  string // the file as it was given, or the interface
	Text  string // the whole line, which names the file
	Err   error  // the system's error, if there is one
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// failure returns an error with a formatted text.
func failure(c Cause, file string, err error, format string, args ...any) *Error {
	return &Error{Cause: c, File: file, Text: fmt.Sprintf(format, args...), Err: err}
}

// CauseOf returns the cause of the first *Error in err, or 0.
func CauseOf(err error) Cause {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Cause
	}
	return 0
}

// ErrTimeout is returned by Next of a live source when no packet came within the poll interval. Next may be called
// again.
var ErrTimeout = errors.New("no packet within the poll interval")

// ErrClosed is returned by Next after Close.
var ErrClosed = errors.New("the source is closed")

// openError returns the error for a file that cannot be opened or read.
func openError(file string, err error) *Error {
	reason := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		reason = e.Err // the path stands in the text already
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failure(Missing, file, err, "%s: no such file or folder; check the path", file)
	case errors.Is(err, fs.ErrPermission):
		return failure(Permission, file, err, "%s: no permission to read it; tcpdump run as root writes files that others cannot read: chmod a+r, or run with sudo", file)
	}
	return failure(Unreadable, file, err, "%s: cannot be read: %v", file, reason)
}

// notCapture returns the error for a file that starts with the bytes start and is not a capture.
func notCapture(file string, start []byte) *Error {
	what := "it starts with " + quoteStart(start)
	advice := "record one with: tcpdump -i any -s 0 -w trace.pcap"
	for _, k := range knownMagics {
		if strings.HasPrefix(string(start), k.magic) {
			what, advice = k.what, k.advice
			break
		}
	}
	return failure(NotCapture, file, nil, "%s is not a pcap or pcapng file (%s); %s", file, what, advice)
}

// knownMagics are the first bytes of other files that people give instead of a pcap file.
var knownMagics = []struct{ magic, what, advice string }{
	{"snoop\x00\x00\x00", "it is a snoop file", "convert it: editcap -F pcap FILE trace.pcap"},
	{"RTSS", "it is a Microsoft Network Monitor file", "convert it: editcap -F pcap FILE trace.pcap"},
	{"GMBU", "it is a Microsoft Network Monitor file", "convert it: editcap -F pcap FILE trace.pcap"},
	{"PK\x03\x04", "it is a zip archive", "unpack it and give the files within"},
	{"{", "it starts like JSON", "only a report saved with --buckets is read as JSON"},
}

// quoteStart formats up to four bytes: as text if they are printable, else in hexadecimal.
func quoteStart(start []byte) string {
	start = start[:min(len(start), 4)]
	for _, c := range start {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return fmt.Sprintf("bytes % x", start)
		}
	}
	return fmt.Sprintf("%q", start)
}
