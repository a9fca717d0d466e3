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
	stream *rand.ChaCha8
	sum    [sha256.Size]byte
	in     [aes.BlockSize]byte
	out    [aes.BlockSize]byte
}

func newPRF(key [32]byte) *prf {
	derive := func(purpose string) []byte {
		h := hmac.New(sha256.New, key[:])
		h.Write([]byte(purpose))
		return h.Sum(nil)
	}
	block, err := aes.NewCipher(derive("numbers")[:16])
	if err != nil {
		panic(err) // a key of 16 bytes is none of the errors
	}
	return &prf{mac: hmac.New(sha256.New, derive("texts")), block: block, stream: rand.NewChaCha8([32]byte{})}
}

// seed makes the stream that of a value of a kind.
func (p *prf) seed(kind, salt byte, value []byte) *rand.ChaCha8 {
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
