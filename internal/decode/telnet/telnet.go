// Package telnet recognises the text commands that Dubbo's ports serve besides messages.
//
// The first bytes of a connection without messages come in; a verdict goes out. The connections are named and their
// bytes counted. The package keeps no memory. Source: Dubbo's TelnetCodec and its telnet handlers.
package telnet

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/rpc"
)

// Protocol is Dubbo's telnet. The start of a connection does not identify it.
var Protocol = &rpc.Protocol{
	Name: "telnet", Read: "recognised", Releases: "all", Capture: "edge-hessian2.pcap.zst", RecognisedBy: "Dubbo's prompt, or a line with one of its commands",
	Fallback: func(head []byte, text bool) bool {
		return bytes.Contains(head, []byte(prompt)) || text && isCommand(head)
	},
	KeepHead: keepHead, Marker: prompt,
}

const prompt = "dubbo>"

// isCommand reports whether a stream starts with a command of Dubbo's telnet handler.
func isCommand(head []byte) bool {
	word, _, _ := strings.Cut(string(head), "\n")
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	return slices.Contains(commands, word)
}

var commands = []string{
	"ls", "ps", "cd", "pwd", "trace", "count", "invoke", "select", "status", "log", "help", "clear", "exit", "shutdown",
}

// keepHead keeps the command.
func keepHead(head []byte) []rpc.Span {
	if !isCommand(head) {
		return nil
	}
	at := 0
	for at < len(head) && head[at] <= ' ' {
		at++
	}
	for at < len(head) && head[at] > ' ' {
		at++
	}
	return []rpc.Span{{From: 0, To: int64(min(at+1, len(head)))}}
}
