// Package filter turns a pcap-filter expression into a classic BPF program: the text
// that users know from tcpdump, for a file's link type or for a packet socket of the
// Linux kernel.
//
// An expression goes through a lexer and a parser into a small tree (node.go). A
// target gives each node its tests (gen*.go): loads from the packet and a comparison.
// The tests become a graph in which every edge knows what was found out before
// (graph.go), and the graph becomes instructions, long jumps by way of JA
// (assemble.go). What the kernel and libpcap agree on is kept: a load beyond the
// packet's end rejects the packet, whatever else the expression says.
//
// The language is pcap-filter(7). What its text leaves open follows what libpcap 1.10
// does, which the tests compare with, file and kernel. What is not supported is an
// error that names the place; it is never a filter that means something else.
//
// Nothing of an expression is kept but its own values; programs belong to the caller.
package filter

import (
	"strings"

	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
)

// Bounds of what is accepted.
const (
	maxText         = 32 << 10 // bytes of an expression
	maxDepth        = 100      // parentheses, indexes and negations inside each other
	maxInstructions = 4096     // BPF_MAXINSNS of the kernel
	wholePacket     = 262144   // what is kept of a packet if nobody says otherwise
)

// Target says for what packets a program is.
type Target struct {
	// Link is the link type of the packets.
	Link capture.LinkType
	// Kernel says that the program runs on a packet socket. There the outermost VLAN
	// tag is metadata, if a card or the kernel took it out. With the cooked link types
	// (LinkLinuxSLL, LinkLinuxSLL2; sockets of type SOCK_DGRAM) packets start at the
	// network layer, and the fields of the cooked header are metadata.
	Kernel bool
	// SnapLen is what is returned for packets that pass; 0 is 262144.
	SnapLen int
}

// cooked says that the program does not see the link layer's header.
func (t Target) cooked() bool {
	return t.Kernel && (t.Link == capture.LinkLinuxSLL || t.Link == capture.LinkLinuxSLL2)
}

// Expr is a checked expression. The zero value and nil are the expression that every
// packet passes. An Expr is never changed, so any goroutines may share one.
type Expr struct {
	text string
	root node // nil: everything
}

// Parse reads an expression; "" lets everything through. What depends on the link
// type is found by [Expr.Compile]. An error is an *[Error].
func Parse(text string) (*Expr, error) {
	if len(text) > maxText {
		return nil, &Error{Column: maxText + 1, Text: "the expression is longer than 32 KiB"}
	}
	p := &parser{text: text}
	if err := p.lex(); err != nil {
		return nil, err
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Expr{text: strings.TrimSpace(text), root: root}, nil
}

// Compile is Parse and [Expr.Compile].
func Compile(text string, t Target) ([]bpf.RawInstruction, error) {
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return e.Compile(t)
}

// Compile makes the program for a target: it returns the snap length for packets
// that pass, else 0. An error is an *[Error].
func (e *Expr) Compile(t Target) ([]bpf.RawInstruction, error) {
	if t.SnapLen <= 0 {
		t.SnapLen = wholePacket
	}
	if e == nil || e.root == nil {
		return []bpf.RawInstruction{{Op: opRet, K: uint32(t.SnapLen)}}, nil
	}
	g := newGen(t)
	c := e.root.gen(g)
	if g.err != nil {
		return nil, g.err
	}
	gr, err := newGraph(c, g.shifts, uint32(t.SnapLen))
	if err != nil {
		return nil, err
	}
	gr.thread()
	gr.dropStores()
	if gr.root.kind == blockReturn && gr.root.k == 0 {
		return nil, &Error{Text: "no packet can pass this expression"}
	}
	return gr.assemble()
}

// String is the expression as it was written; joined ones are in parentheses.
func (e *Expr) String() string {
	if e == nil {
		return ""
	}
	return e.text
}

// And is the expression that a packet passes if it passes both. Each stands for
// itself: a "vlan" in one does not change what the other looks at.
func And(a, b *Expr) *Expr {
	switch {
	case a.everything():
		return b
	case b.everything():
		return a
	}
	return &Expr{text: "(" + a.text + ") and (" + b.text + ")", root: &join{and: true, l: apart{a.root}, r: apart{b.root}}}
}

func (e *Expr) everything() bool { return e == nil || e.root == nil }
