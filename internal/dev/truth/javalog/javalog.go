// Package javalog turns the log that the rig's peers write at Dubbo's codec (testdata/rig/README.md, "The truth") into
// frames. It is for tests, and decodes nothing of Dubbo itself: what it says, Java has said. A Frame belongs to whoever
// gets it.
package javalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Frame is one frame as a side saw it, or bytes that are none: telnet text, rubbish.
type Frame struct {
	Side, Dir, Local, Remote string
	Kind                     string
	Event, TwoWay            bool
	ID                       string
	Flags                    int
	Status                   int
	SerializationID          int
	BodyBytes                int
	Bytes                    int64 // of telnet text or rubbish
	DubboVersion             string
	Service                  *string
	Version                  *string
	Group, Method            string
	ParameterTypes           []string
	// ArgumentCount and Unknown are what forks of Dubbo write: a number of arguments, texts of a layout that nobody knows.
	ArgumentCount *int
	Unknown       []any
	Arguments     []any
	Attachments   any
	ResultFlag    *int
	ResultKind    string
	Result        any
	Exception     *struct{ Class, Message *string }
	ErrorMessage  *string
	DecodeError   string
}

// Read calls each for every line of a log, in order: a Frame, or what another protocol's lines have. Numbers in values stay as
// they are written.
func Read[T any](r io.Reader, each func(*T)) error {
	b := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := b.ReadBytes('\n')
		if len(line) > 1 {
			f := new(T)
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if err := d.Decode(f); err != nil {
				return fmt.Errorf("%w in %s", err, line[:min(len(line), 200)])
			}
			each(f)
		}
		switch err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}
