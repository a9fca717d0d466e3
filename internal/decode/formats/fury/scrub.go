package fury

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Scrub replaces a value. Longs of less than 31 bits are four bytes, little-endian, shifted to the left by one.
func Scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Int && len(b) >= 4 {
		if raw := b[len(b)-4:]; raw[0]&1 == 0 {
			if v := int32(binary.LittleEndian.Uint32(raw)); int64(v>>1) == n.Num {
				if w := m.Int(n.Num); w >= -1<<30 && w < 1<<30 {
					binary.LittleEndian.PutUint32(raw, uint32(w<<1))
					return true
				}
			}
		}
	}
	return wire.Shared(b, n, m)
}
