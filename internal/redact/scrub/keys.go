package scrub

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/rand/v2"
)

// prf is a keyed function: what it returns cannot be told from chance without the key.
type prf struct {
	mac    hash.Hash
	block  cipher.Block
	chain  cipher.Block // of short values
	stream *rand.ChaCha8
	known  []shuffled
	sum    [sha256.Size]byte
	in     [aes.BlockSize]byte
	out    [aes.BlockSize]byte
}

// DeriveKey returns the key for a purpose.
func DeriveKey(key [32]byte, purpose string) [32]byte {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte(purpose))
	return [32]byte(h.Sum(nil))
}

// NewBlock returns AES with the key for a purpose.
func NewBlock(key [32]byte, purpose string) cipher.Block {
	derived := DeriveKey(key, purpose)
	block, err := aes.NewCipher(derived[:16])
	if err != nil {
		panic(err) // AES takes keys of 16 bytes
	}
	return block
}

func newPRF(key [32]byte) *prf {
	texts := DeriveKey(key, "texts")
	return &prf{
		mac: hmac.New(sha256.New, texts[:]), block: NewBlock(key, "numbers"), chain: NewBlock(key, "short texts"),
		stream: rand.NewChaCha8([32]byte{}), known: make([]shuffled, knownSlots),
	}
}

// seed makes the stream that of a value of a kind.
func (p *prf) seed(kind, salt byte, value []byte) *rand.ChaCha8 {
	if len(value) <= maxChained {
		p.chained(kind, salt, value)
		p.stream.Seed(p.sum)
		return p.stream
	}
	p.mac.Reset()
	p.in[0], p.in[1] = kind, salt
	p.mac.Write(p.in[:2])
	p.mac.Write(value)
	p.mac.Sum(p.sum[:0])
	p.stream.Seed(p.sum)
	return p.stream
}

// number returns 64 bits that belong to two numbers.
func (p *prf) number(a, b uint64) uint64 {
	binary.LittleEndian.PutUint64(p.in[:8], a)
	binary.LittleEndian.PutUint64(p.in[8:], b)
	p.block.Encrypt(p.out[:], p.in[:])
	return binary.LittleEndian.Uint64(p.out[:8])
}

// maxChained is of how many bytes a value is short: AES block by block takes less time than SHA-256.
const maxChained = 128

// chained sets p.sum for a short value: a CBC-MAC whose first block has the length, so that none is the beginning of another,
// and two blocks that follow from it.
func (p *prf) chained(kind, salt byte, value []byte) {
	p.in = [aes.BlockSize]byte{kind, salt, byte(len(value)), byte(len(value) >> 8)}
	p.chain.Encrypt(p.out[:], p.in[:])
	for len(value) > 0 {
		n := min(len(value), aes.BlockSize)
		for i, c := range value[:n] {
			p.out[i] ^= c
		}
		p.chain.Encrypt(p.out[:], p.out[:])
		value = value[n:]
	}
	p.in = p.out
	for half := range byte(2) {
		p.in[0] ^= half
		p.block.Encrypt(p.sum[int(half)*aes.BlockSize:], p.in[:])
	}
}

// shuffled is a number that was shuffled, and what it became.
type shuffled struct{ x, n, tweak, y uint64 }

// knownSlots bounds the numbers that are remembered. Where one is remembered follows from the number alone.
const knownSlots = 1 << 14

// slot returns where the number x is remembered.
func (p *prf) slot(x, n, tweak uint64) *shuffled {
	h := (x*0x9e3779b97f4a7c15 ^ n*0xc2b2ae3d27d4eb4f ^ tweak*0x165667b19e3779f9)
	h ^= h >> 29
	return &p.known[h*0x9e3779b97f4a7c15>>50]
}
