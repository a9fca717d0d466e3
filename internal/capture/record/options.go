package record

import (
	"fmt"
	"io"
	"time"

	"dubbo-wire/internal/capture"
)

// Options are what is recorded, and where.
type Options struct {
	// File is where packets go: a file, "-" for Stdout, or "" to begin with a later Start. With Every it may have
	// conversions of strftime(3).
	File string
	// MaxBytes is how large a file may become (tcpdump's -C, in bytes), 0: as large as it will. A file with one packet may
	// be larger.
	MaxBytes int64
	// Every is how long a file is written to (-G), 0: to the end.
	Every time.Duration
	// Files is how many there are (-W): with MaxBytes they are written to in turn, with Every alone the recording is Done
	// after so many.
	Files int
	// SnapLen is how many bytes are kept of a packet (-s); 0: 262144, as tcpdump does.
	SnapLen int
	// OnlyRPC leaves out all connections but those that Carries was called for.
	OnlyRPC bool

	// What files say of themselves.
	Filter                   string // the kernel's filter
	Comment, Application, OS string
	// Names is what the interface of that number (Packet.Interface) is called; may be nil.
	Names func(i int) string
	// Link is the link type of the interface in a file without a packet; 0: Ethernet.
	Link capture.LinkType

	Stdout io.Writer        // what "-" is
	Now    func() time.Time // the clock that times of packets are from; time.Now if nil
	Local  bool             // local time in names of files, not UTC
	// Owner, if set, becomes the owner of every file: the user that rights are given up to.
	Owner *Owner
}

// Owner is a user and a group by their numbers.
type Owner struct{ UID, GID int }

// defaultSnapLen is what libpcap keeps of a packet where nothing is asked for (MAXIMUM_SNAPLEN), and what our reader
// believes of any file.
const defaultSnapLen = 262144

// Check says what of the options does not go together, in words of the command's flags.
func (o *Options) Check() error {
	switch {
	case o.MaxBytes < 0:
		return fmt.Errorf("-C %d: the size of a file is at least one million bytes: -C 1", o.MaxBytes/1_000_000)
	case o.Every < 0 || o.Every > 0 && o.Every < time.Second:
		return fmt.Errorf("-G %v: a file is written to for one second at least: -G 1", o.Every)
	case o.Files < 0:
		return fmt.Errorf("-W %d: the number of files is at least one: -W 1", o.Files)
	case o.SnapLen < 0:
		return fmt.Errorf("-s %d: the number of bytes kept of a packet is not negative; 0 keeps all", o.SnapLen)
	case o.Files > 0 && o.MaxBytes == 0 && o.Every == 0:
		return fmt.Errorf("-W %d says how many files there are, and needs -C or -G that say when one is full", o.Files)
	case o.File == "-" && (o.MaxBytes > 0 || o.Every > 0):
		return fmt.Errorf("standard output is one file: -w - goes without -C, -G and -W")
	}
	if o.Every > 0 {
		if c := unknownConversion(o.File); c != "" {
			return fmt.Errorf("-w %s: %s is no part of a time; %%Y %%m %%d %%H %%M %%S, %%F %%T, %%s (seconds since 1970) and others of strftime are, and %%%% is a percent sign", o.File, c)
		}
	}
	return nil
}

func (o *Options) snapLen() int {
	if o.SnapLen == 0 {
		return defaultSnapLen
	}
	return min(o.SnapLen, capture.MaxPacket)
}

func (o *Options) now() int64 {
	if o.Now != nil {
		return o.Now().UnixNano()
	}
	return time.Now().UnixNano()
}
