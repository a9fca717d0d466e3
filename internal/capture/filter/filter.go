// Package filter compiles pcap-filter expressions, the filter language of tcpdump, to classic BPF programs. A text and
// a [Target] come in: packets of a file's link type, or of a packet socket of the Linux kernel. A program goes out,
// which belongs to the caller; an expression keeps only its own values.
//
// A lexer and a parser turn the text into a tree of functions (syntax_tree.go). For a target each generates its tests
// (gen*.go): loads from the packet and a comparison. The tests become a graph in which every edge knows the results of
// earlier tests (control_flow.go), and the graph becomes instructions, with long jumps as JA (assemble.go). As in the
// kernel and in libpcap, a load after the packet's end rejects the packet, whatever else the expression says.
//
// The source is pcap-filter(7). Where it is ambiguous, the package does what libpcap 1.10 does; the tests compare with
// libpcap on files and in the kernel. Unsupported parts of the language are errors that name the place; they never
// become another filter.
package filter

import (
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
)

// Bounds of what is accepted.
const (
	maxText         = 32 << 10 // bytes of an expression
	maxDepth        = 100      // levels of parentheses, indexes and negations
	maxInstructions = 4096     // BPF_MAXINSNS of the kernel
	wholePacket     = 262144   // default snap length
)

// Target describes the packets that a program is for.
type Target struct {
	// Link is the link type of the packets.
	Link capture.LinkType
	// Kernel is set if the program runs on a packet socket. The outermost VLAN tag is then metadata if a network card
	// or the kernel has removed it. With the cooked link types (LinkLinuxSLL, LinkLinuxSLL2; sockets of type
	// SOCK_DGRAM) packets start at the network layer, and the fields of the cooked header are metadata.
	Kernel bool
	// SnapLen is the return value for packets that pass; 0: 262144.
	SnapLen int
}

// cooked reports whether the program does not see the link-layer header.
func (t Target) cooked() bool {
	return t.Kernel && (t.Link == capture.LinkLinuxSLL || t.Link == capture.LinkLinuxSLL2)
}

// Expr is a checked expression. The zero value and nil accept every packet. An Expr is never changed, so goroutines may
// share it.
type Expr struct {
	root node // nil: every packet
}

// Parse parses an expression; "" accepts every packet. Errors that depend on the link type are found by [Expr.Compile].
// An error is an *[Error].
func Parse(text string) (*Expr, error) {
	if len(text) > maxText {
		return nil, &Error{Column: maxText + 1, Text: "the expression is longer than 32 KiB"}
	}
	p := &parser{text: text}
	p.lex()
	root := p.parse()
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{root: root}, nil
}

// Compile returns the program for a target. The program returns the snap length for packets that pass, else 0. An error
// is an *[Error].
func (e *Expr) Compile(t Target) ([]bpf.RawInstruction, error) {
	if t.SnapLen <= 0 {
		t.SnapLen = wholePacket
	}
	if e == nil || e.root == nil {
		return []bpf.RawInstruction{{Op: opRet, K: uint32(t.SnapLen)}}, nil
	}
	g := newGen(t)
	c := e.root(g)
	if g.err != nil {
		return nil, g.err
	}
	gr, err := newGraph(c, g.shifts, uint32(t.SnapLen))
	if err != nil {
		return nil, err
	}
	gr.skipKnownTests()
	gr.removeUnusedStores()
	if gr.root.kind == blockReturn && gr.root.k == 0 {
		return nil, &Error{Text: "this expression matches no packet"}
	}
	return gr.assemble()
}

// And returns the expression that accepts the packets that both accept. Each is independent: a "vlan" in one does not
// change the offsets of the other.
func And(a, b *Expr) *Expr {
	switch {
	case a.everything():
		return b
	case b.everything():
		return a
	}
	return &Expr{root: join("&&", apart(a.root), apart(b.root))}
}

func (e *Expr) everything() bool { return e == nil || e.root == nil }
