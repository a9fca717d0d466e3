package redact

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// TestPortsUsedAgain: a connection keeps its messages in the copy though another one between the same ports begins while its packets
// are not written yet.
func TestPortsUsedAgain(t *testing.T) {
	for _, c := range testkit.Captures() {
		if c.Name != "hessian2-2.7.8" && c.Name != "rest-3.2.16" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			const header, record, ethernet = 24, 16, 14
			file := c.Bytes(t)
			twice := bytes.Clone(file)
			for rest := bytes.Clone(file[header:]); len(rest) > 0; {
				n := record + int(binary.LittleEndian.Uint32(rest[8:]))
				binary.LittleEndian.PutUint32(rest, binary.LittleEndian.Uint32(rest)+100) // seconds
				tcp := rest[record+ethernet:]
				tcp = tcp[4*int(tcp[0]&15):]
				for _, number := range [][]byte{tcp[4:], tcp[8:]} {
					binary.BigEndian.PutUint32(number, binary.BigEndian.Uint32(number)+3e9)
				}
				twice = append(twice, rest[:n]...)
				rest = rest[n:]
			}
			path := filepath.Join(t.TempDir(), "twice.pcap")
			require.NoError(t, os.WriteFile(path, twice, 0o600))
			was, is := factsOf(t, path), factsOf(t, redactFile(t, Options{}, path).path)
			assert.Len(t, was.Calls, 2*len(factsOf(t, c.Path()).Calls))
			assert.Equal(t, was.Calls, is.Calls)
			assert.Equal(t, was.Rows, is.Rows)
		})
	}
}
