package record

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"time"

	"dubbo-wire/internal/capture"
)

// Program is the first word of Options.Application. It tells which files dubbo-wire wrote.
const Program = "dubbo-wire"

// Options tell what is recorded, and where.
type Options struct {
	// File receives the packets: a file, "-" for Stdout, or "" if a later Start names it. With Every it may have
	// conversions of strftime(3).
	File string
	// MaxBytes limits the size of a file (tcpdump's -C, in bytes); 0: unlimited. A file with one packet may be larger.
	MaxBytes int64
	// Every is the period of a file (-G); 0: unlimited.
	Every time.Duration
	// Files is the number of files (-W): with MaxBytes they are overwritten in turn, with Every alone the recording is
	// Done after that many.
	Files int
	// SnapLen is how many bytes are kept of a packet (-s); 0: 262144, as in tcpdump.
	SnapLen int
	// Disk bounds what the files have together with those of earlier runs; nil: no bound. LimitDisk sets it.
	Disk *DiskLimit
	// OnlyRPC leaves out the connections for which Carries was not called.
	OnlyRPC bool

	// Texts in the headers of the files.
	Filter                   string // the kernel's filter
	Comment, Application, OS string
	// Names, if set, returns the name of the interface with that number (Packet.Interface).
	Names func(i int) string
	// Machine is the addresses of the captured interfaces. Each file has all of them with its first interface: who reads it learns what
	// the machine was in a call before the first call.
	Machine []netip.Prefix
	// Link is the link type of the interface of a file without packets; 0: Ethernet.
	Link capture.LinkType

	Stdout io.Writer        // written for "-"
	Now    func() time.Time // the clock of the packets' times; nil: time.Now
	Local  bool             // names of files have local time instead of UTC
	// Owner, if set, becomes the owner of every file: the user of the process after it drops privileges.
	Owner *Owner
}

// Owner is a user and a group, by number.
type Owner struct{ UID, GID int }

// defaultSnapLen is libpcap's default (MAXIMUM_SNAPLEN), which our reader accepts in any file.
const defaultSnapLen = 262144

// Check returns an error if options contradict each other, in terms of the command's flags.
func (o *Options) Check() error {
	switch {
	case o.MaxBytes < 0:
		return fmt.Errorf("-C %d: must be at least 1 (million bytes)", o.MaxBytes/1_000_000)
	case o.Every < 0 || o.Every > 0 && o.Every < time.Second:
		return fmt.Errorf("-G %v: must be at least 1 (second)", o.Every)
	case o.Files < 0:
		return fmt.Errorf("-W %d: must be at least 1", o.Files)
	case o.SnapLen < 0:
		return fmt.Errorf("-s %d: must be at least 0", o.SnapLen)
	case o.Files > 0 && o.MaxBytes == 0 && o.Every == 0:
		return fmt.Errorf("-W %d needs -C or -G, which say when to start a new file", o.Files)
	case o.File == "-" && o.Disk != nil:
		return fmt.Errorf("-w - (standard output) cannot be combined with --max-disk")
	case o.Disk != nil && o.rotates() && o.MaxBytes > o.Disk.FileLimit():
		return fmt.Errorf("-C %d is too large for --max-disk: %d or less leaves room for a complete file besides the one that is written", o.MaxBytes/1_000_000, o.Disk.FileLimit()/1_000_000)
	case o.File == "-" && (o.MaxBytes > 0 || o.Every > 0):
		return fmt.Errorf("-w - (standard output) cannot be combined with -C, -G or -W")
	}
	if o.Every > 0 {
		if err := CheckName(o.File); err != nil {
			return fmt.Errorf("-w %w", err)
		}
	}
	return nil
}

// CheckName returns an error if the name of the files of Every has conversions that are not known.
func CheckName(pattern string) error {
	if _, c := formatTime(pattern, time.Time{}); c != "" {
		return fmt.Errorf("%s: %s is not a time format; use %%Y %%m %%d %%H %%M %%S, %%F %%T, %%s (seconds since 1970) or others of strftime; %%%% is a percent sign", pattern, c)
	}
	return nil
}

// LimitDisk limits the files to that many bytes in all. If they rotate, complete ones may be deleted.
func (o *Options) LimitDisk(most int64) error {
	o.Disk = NewDiskLimit(most)
	if o.File == "" || !o.rotates() {
		return nil
	}
	return o.Disk.Add(FileSet{Pattern: o.File, Dated: o.Every > 0, Wrote: recorded})
}

// rotates reports whether there may be several files.
func (o *Options) rotates() bool { return o.MaxBytes > 0 || o.Every > 0 }

// fileLimit returns the size that a file should not exceed; 0: any size.
func (o *Options) fileLimit() int64 {
	limit := o.Disk.FileLimit()
	if limit == 0 || o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return limit
}

func (o *Options) snapLen() int {
	return min(cmp.Or(o.SnapLen, defaultSnapLen), capture.MaxPacket)
}

func (o *Options) now() int64 {
	if o.Now != nil {
		return o.Now().UnixNano()
	}
	return time.Now().UnixNano()
}
