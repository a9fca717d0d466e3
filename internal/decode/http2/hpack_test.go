package http2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// FuzzHPACK reads header blocks of three connections that share a decoder, each block with and without its fields listed, and compares
// them with what golang.org/x/net reads. The input is blocks, each after a byte with its connection and one with its length.
func FuzzHPACK(f *testing.F) {
	request := []byte{0x83, 0x86, 0x44, 0x05, '/', 'a', '.', 'B', '/', 0x40, 0x01, 'x', 0x01, 'y'}
	again := []byte{0x83, 0x86, 0xbf, 0xbe}
	var all []byte
	for _, b := range [][]byte{request, again, again, again, {0x20, 0x82}, again, {0x3f, 0xe1, 0x1f, 0x88}, request} {
		for c := range byte(3) {
			all = append(append(all, c, byte(len(b))), b...)
		}
	}
	f.Add(all)
	f.Add([]byte("\x00\x05\x40\x81\x1c\x81\x1c\x01\x05\x40\x81\x1c\x81\x1c\x01\x01\xbe\x00\x01\xbe")) // with the Huffman code
	f.Add([]byte{0, 2, 0x83, 0x30})                                                                   // a new size after a field, while the table is empty
	f.Add([]byte("\x00\x05\x40\x01x\x01y\x00\x05\x3f\xe1\x1f\x2e\x82"))                               // two new sizes
	f.Fuzz(func(t *testing.T, b []byte) {
		var d blockDecoder
		type peer struct {
			table table
			other *hpack.Decoder
			gone  bool
		}
		var peers [3]peer
		for i := range peers {
			peers[i] = peer{table: newTable(false), other: hpack.NewDecoder(defaultTableSize, nil)}
		}
		for len(b) >= 2 {
			p := &peers[int(b[0])%len(peers)]
			n := min(int(b[1]), len(b)-2)
			own := b[2 : 2+n]
			b = b[2+n:]
			if p.gone {
				continue
			}
			want, err := p.other.DecodeFull(own)
			before := p.table // a copy: its entries are not changed, only dropped or followed
			before.entries = append([]*field(nil), p.table.entries...)
			ok, _ := d.decodeCached(own, &before, defaultTableSize, false)
			lean := d.block
			head := d.head.Head
			listed, _ := d.decodeCached(own, &p.table, defaultTableSize, true)
			require.Equal(t, listed, ok, "with and without fields")
			if err != nil || !listed {
				if listed && resizedTwice(own) { // which RFC 7541, section 4.2, allows, and the other one takes only while the table is empty
					require.ErrorContains(t, err, "MUST occur at the beginning")
				} else {
					require.Equal(t, err == nil, listed, "%x: %v", own, err)
				}
				p.gone = true
				continue
			}
			require.Equal(t, lean.count, d.count)
			require.Equal(t, lean.plain, d.plain)
			require.Equal(t, head, d.head.Head)
			require.Equal(t, before.version, p.table.version)
			require.Len(t, d.fields, len(want))
			for i, f := range want {
				assert.Equal(t, f.Name, d.fields[i].Name)
				assert.Equal(t, f.Value, d.fields[i].Value)
				assert.False(t, d.fields[i].Unknown)
			}
			same(t, head, d.fields)
		}
	})
}

// resizedTwice reports whether a block begins with two new sizes of the table.
func resizedTwice(block []byte) bool {
	for range 2 {
		if len(block) == 0 || block[0]>>5 != 1 {
			return false
		}
		n := 1
		for more := block[0]&31 == 31; more && n < len(block); n++ {
			more = block[n] >= 0x80
		}
		block = block[n:]
	}
	return true
}

// same compares what a head tells with what the fields themselves do.
func same(t *testing.T, head triple.Head, fields []rpc.Header) {
	of := triple.HeadOf(fields)
	assert.Equal(t, []any{of.Request, of.Response, of.Informational, of.Fields, of.Sure, of.Use, of.ContentType, of.ContentEncoding, of.GRPCEncoding},
		[]any{head.Request, head.Response, head.Informational, head.Fields, head.Sure, head.Use, head.ContentType, head.ContentEncoding, head.GRPCEncoding})
}
