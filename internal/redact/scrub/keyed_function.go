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

// prf is a keyed function: its results cannot be told from random bytes without the key.
type prf struct {
	mac    hash.Hash
	block  cipher.Block
	chain  cipher.Block // for short values
	stream stream
	cache  []shuffled
	// even, if it is not 0, makes replacements as alike as possible: they depend on the type of a value and on even, and hardly on the
	// value.
	even uint64
	sum  [sha256.Size]byte
	in   [aes.BlockSize]byte
	out  [aes.BlockSize]byte
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
		stream: stream{source: rand.NewChaCha8([32]byte{})}, cache: make([]shuffled, cacheSlots),
	}
}

// stream is random numbers.
type stream struct {
	source *rand.ChaCha8
	even   uint64 // if it is not 0, all of them
}

// Uint64 returns the next number.
func (s *stream) Uint64() uint64 {
	if s.even > 0 {
		return s.even
	}
	return s.source.Uint64()
}

// seed returns a random stream that depends on a value and its kind alone. It is valid until the next call.
func (p *prf) seed(kind, salt byte, value []byte) *stream {
	p.stream.even = p.even
	switch {
	case p.even > 0:
		return &p.stream
	case len(value) <= maxShort:
		p.sumShort(kind, salt, value)
	default:
		p.mac.Reset()
		p.in[0], p.in[1] = kind, salt
		p.mac.Write(p.in[:2])
		p.mac.Write(value)
		p.mac.Sum(p.sum[:0])
	}
	p.stream.source.Seed(p.sum)
	return &p.stream
}

// number returns 64 bits that depend on two numbers.
func (p *prf) number(a, b uint64) uint64 {
	binary.LittleEndian.PutUint64(p.in[:8], a)
	binary.LittleEndian.PutUint64(p.in[8:], b)
	p.block.Encrypt(p.out[:], p.in[:])
	return binary.LittleEndian.Uint64(p.out[:8])
}

// maxShort is how many bytes a short value may have: AES block by block takes less time than SHA-256.
const maxShort = 128

// sumShort sets p.sum for a short value: two blocks derived from a CBC-MAC, whose first block has the length, so that no input
// is the beginning of another.
func (p *prf) sumShort(kind, salt byte, value []byte) {
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

// shuffled is a number x of 0 to n-1 and its replacement y.
type shuffled struct{ x, n, tweak, y uint64 }

// cacheSlots bounds the cached numbers. The slot of a number follows from the number alone.
const cacheSlots = 1 << 12

// cached returns the slot of the number x in the cache.
func (p *prf) cached(x, n, tweak uint64) *shuffled {
	h := (x*0x9e3779b97f4a7c15 ^ n*0xc2b2ae3d27d4eb4f ^ tweak*0x165667b19e3779f9)
	h ^= h >> 29
	return &p.cache[h*0x9e3779b97f4a7c15>>52]
}
