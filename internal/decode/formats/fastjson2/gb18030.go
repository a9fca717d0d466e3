package fastjson2

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// gbPairs is the two-byte part of GB18030 as of 2000: for each first byte 81 to fe and second byte 40 to fe without 7f
// the character, as two bytes, little-endian. Dubbo's writers never choose this encoding; a reader must know it.
//
//go:embed gb18030.bin
var gbPairs []byte

const seconds = 190 // characters of one first byte

// gbRevised are characters that replaced characters for private use in 2005 and 2022, as Java has them.
var gbRevised = [][2]uint16{
	{0xe78d, 0xfe10},
	{0xe78e, 0xfe12},
	{0xe78f, 0xfe11},
	{0xe790, 0xfe13},
	{0xe791, 0xfe14},
	{0xe792, 0xfe15},
	{0xe793, 0xfe16},
	{0xe794, 0xfe17},
	{0xe795, 0xfe18},
	{0xe796, 0xfe19},
	{0xe7c7, 0x1e3f},
	{0xe81e, 0x9fb4},
	{0xe826, 0x9fb5},
	{0xe82b, 0x9fb6},
	{0xe82c, 0x9fb7},
	{0xe832, 0x9fb8},
	{0xe843, 0x9fb9},
	{0xe854, 0x9fba},
	{0xe864, 0x9fbb},
}

func revised(c uint16) rune {
	for _, pair := range gbRevised {
		switch c {
		case pair[0]:
			return rune(pair[1])
		case pair[1]:
			return rune(pair[0])
		}
	}
	return rune(c)
}

// gbFours returns the characters up to U+FFFF that take four bytes, in order: all those without a form of two bytes.
var gbFours = sync.OnceValue(func() []uint16 {
	pairs := make([]uint16, 0, len(gbPairs)/2)
	for i := 0; i < len(gbPairs); i += 2 {
		pairs = append(pairs, binary.LittleEndian.Uint16(gbPairs[i:]))
	}
	slices.Sort(pairs)
	var fours []uint16
	for c := 0x80; c <= 0xffff; c++ {
		if _, two := slices.BinarySearch(pairs, uint16(c)); !two && (c < 0xd800 || c > 0xdfff) {
			fours = append(fours, uint16(c))
		}
	}
	return fours
})

func decodeGB18030(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for i := 0; i < len(b); {
		c, size := gbRune(b[i:])
		s.WriteRune(c)
		i += size
	}
	return s.String()
}

// gbRune returns the first character of b and its size in bytes, U+FFFD and 1 if b does not start with a character.
func gbRune(b []byte) (rune, int) {
	within := func(i int, from, to byte) bool { return i < len(b) && b[i] >= from && b[i] <= to }
	switch {
	case b[0] < utf8.RuneSelf:
		return rune(b[0]), 1
	case !within(0, 0x81, 0xfe):
	case within(1, 0x40, 0xfe) && b[1] != 0x7f:
		k := int(b[1]) - 0x40
		if b[1] > 0x7f {
			k--
		}
		return revised(binary.LittleEndian.Uint16(gbPairs[2*(int(b[0]-0x81)*seconds+k):])), 2
	case within(1, '0', '9') && within(2, 0x81, 0xfe) && within(3, '0', '9'):
		n := ((int(b[0]-0x81)*10+int(b[1]-'0'))*126+int(b[2]-0x81))*10 + int(b[3]-'0')
		const beyond = (0x90 - 0x81) * 12600 // of U+10000
		switch fours := gbFours(); {
		case n < len(fours):
			return revised(fours[n]), 4
		case n >= beyond && n-beyond <= utf8.MaxRune-0x10000:
			return rune(n - beyond + 0x10000), 4
		}
	}
	return utf8.RuneError, 1
}
