package redact

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"

	"dubbo-wire/internal/redact/scrub"
)

// maxAddresses is how many IPv4 addresses certainly get different replacements. Each one after them becomes that of another
// one with a probability of the number of addresses divided by a quarter of a billion.
const maxAddresses = 1 << 20

// addresses replaces addresses by a keyed function: equal ones become equal ones.
//
// IPv4 addresses become addresses from 240.0.0.0 to 254.255.255.255, which are reserved, so that no host has them. IPv6
// addresses become addresses in fd00::/8; IPv4-mapped ones stay IPv4-mapped. Ethernet addresses become locally administered
// ones that begin with 12, or 13 for groups; zero and broadcast stay.
type addresses struct {
	keyed
	four  map[uint32]uint32
	taken map[uint32]struct{}
	six   map[[16]byte]struct{} // for the count; at most maxAddresses
	// macs has replaced Ethernet addresses, by their last bytes.
	macs [knownMACs]struct{ is, becomes uint64 }
	sums [1 << 16]uint16 // replacements of checksums that cannot be computed
}

// keyed is a keyed function of short bytes. in and out are scratch of prf, which would be allocated for each call.
type keyed struct {
	block cipher.Block
	in    [2 * aes.BlockSize]byte
	out   [aes.BlockSize]byte
}

func newAddresses(key [32]byte) *addresses {
	a := &addresses{
		keyed: keyed{block: scrub.NewBlock(key, "packets: addresses")}, four: make(map[uint32]uint32), taken: make(map[uint32]struct{}),
		six: make(map[[16]byte]struct{}),
	}
	order := rand.New(rand.NewChaCha8(scrub.DeriveKey(key, "packets: checksums")))
	for i := range a.sums {
		a.sums[i] = uint16(i)
	}
	order.Shuffle(len(a.sums), func(i, k int) { a.sums[i], a.sums[k] = a.sums[k], a.sums[i] })
	return a
}

// The kinds of input of prf: equal bytes of different kinds have unrelated results.
const (
	kindIPv4 = 4
	kindIPv6 = 6
	kindMAC  = 48
	kindFlow = 1
)

func (a *keyed) prf(kind, try byte, b []byte) [aes.BlockSize]byte {
	a.in = [2 * aes.BlockSize]byte{kind, try, byte(len(b))}
	copy(a.in[aes.BlockSize:], b)
	a.block.Encrypt(a.out[:], a.in[:aes.BlockSize])
	for i := range a.out {
		a.out[i] ^= a.in[aes.BlockSize+i]
	}
	a.block.Encrypt(a.out[:], a.out[:])
	return a.out
}

// ipv4 replaces the address in b, 4 bytes.
func (a *addresses) ipv4(b []byte) {
	address := binary.BigEndian.Uint32(b)
	replacement, known := a.four[address]
	if !known {
		for try := range byte(255) {
			out := a.prf(kindIPv4, try, b[:4])
			replacement = 240<<24 | uint32((uint64(binary.BigEndian.Uint32(out[:]))*(15<<24))>>32)
			if _, taken := a.taken[replacement]; !taken && replacement != address {
				break
			}
		}
		if len(a.four) < maxAddresses {
			a.four[address] = replacement
			a.taken[replacement] = struct{}{}
		}
	}
	binary.BigEndian.PutUint32(b, replacement)
}

// ipv6 replaces the address in b, 16 bytes.
func (a *addresses) ipv6(b []byte) {
	if string(b[:12]) == "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff" {
		a.ipv4(b[12:])
		return
	}
	if len(a.six) < maxAddresses {
		a.six[[16]byte(b)] = struct{}{}
	}
	out := a.prf(kindIPv6, 0, b[:16])
	out[0] = 0xfd
	copy(b, out[:])
}

// mac replaces the Ethernet address in b, 6 bytes.
func (a *addresses) mac(b []byte) {
	_ = b[5]
	is := uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32 | uint64(b[5])<<40
	if is == 0 || is == 1<<48-1 {
		return
	}
	known := &a.macs[(b[5]^b[4])&(knownMACs-1)]
	if known.is != is {
		out := a.prf(kindMAC, 0, b[:6])
		out[0] = 0x12 | b[0]&1
		known.is, known.becomes = is, binary.LittleEndian.Uint64(out[:])
	}
	binary.LittleEndian.PutUint32(b, uint32(known.becomes))
	binary.LittleEndian.PutUint16(b[4:], uint16(known.becomes>>32))
}

// knownMACs is how many replaced Ethernet addresses are remembered.
const knownMACs = 64

// count returns how many IP addresses were replaced.
func (a *addresses) count() int { return len(a.four) + len(a.six) }
