package http2

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// headPieces are the parts of a row's head in order, without gaps: a number for each, with the kind and the length. A message may come in
// any number of frames, so that they must take little memory.
type headPieces []byte

// piece is a part of a row's head.
type piece struct {
	kind     pieceKind
	off, len int32
}

// pieceKind is what a piece is.
type pieceKind uint8

const (
	pieceFrame     pieceKind = iota // header of a frame, or bytes of a frame that stay in a redacted copy
	pieceBlock                      // header of a frame that starts a header block
	piecePadLength                  // of DATA
	pieceFront                      // what precedes the fields in HEADERS and PUSH_PROMISE
	piecePadding
	pieceFields // a header block, or a part of one
	pieceOther  // bytes that are not read, perhaps of header blocks
	piecePrefix
	pieceBad       // it stands in the place of a frame header and is not valid
	pieceVersion   // of HTTP/1, with the end of its line
	pieceLines     // header fields of HTTP/1, or method and target
	pieceEnd       // the empty line after them
	pieceChunk     // a line of the chunked coding, or its start
	pieceExtension // the rest of such a line
	pieceTrailer   // a trailer of the chunked coding
	pieceSkipped   // bytes of HTTP/1 that are not read
)

// pieceBits is the number of bits of a pieceKind.
const pieceBits = 4

var pieceNames = [1 << pieceBits]string{
	"frame", "frame", "padLength", "padding and priority", "padding", "fields", "fields", "prefix", "frame", "version", "lines", "end", "chunk", "chunk extension", "trailer",
	"skipped",
}

// add adds a piece of n bytes.
func (list *headPieces) add(kind pieceKind, n int) {
	*list = binary.AppendUvarint(*list, uint64(n)<<pieceBits|uint64(kind))
}

// from yields the pieces from one on that the list has at an index, and which is at an offset in the head.
func (list headPieces) from(at int, off int32, yield func(p piece) bool) {
	for at < len(list) {
		v, n := binary.Uvarint(list[at:])
		p := piece{kind: pieceKind(v & (1<<pieceBits - 1)), off: off, len: int32(v >> pieceBits)}
		if !yield(p) {
			return
		}
		at += n
		off += p.len
	}
}

// all yields each piece.
func (list headPieces) all(yield func(p piece) bool) { list.from(0, 0, yield) }

// isSecret reports whether a piece that is not decoded may have the texts of headers.
func (p *piece) isSecret() bool {
	switch p.kind {
	case pieceFields, pieceOther, pieceLines, pieceExtension, pieceTrailer, pieceSkipped:
		return true
	}
	return false
}

// value returns what the bytes of a piece say.
func (p *piece) value(own []byte) string {
	switch {
	case (p.kind == pieceFrame || p.kind == pieceBlock) && len(own) >= frameHeaderLen:
		h := parseFrameHeader(own)
		return describe(&h)
	case p.kind == piecePadLength:
		return strconv.Itoa(int(own[0]))
	case p.kind == piecePrefix && len(own) == prefixLen:
		return describePrefix(own)
	case p.kind == pieceVersion || p.kind == pieceChunk:
		return string(bytes.TrimRight(own, ";\r\n"))
	}
	return ""
}
