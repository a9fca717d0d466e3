package filter

import (
	"testing"

	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
)

// FuzzCompile looks for text that makes a panic, or a program that the kernel would
// refuse or that does not end.
func FuzzCompile(f *testing.F) {
	for _, e := range table {
		f.Add(e, uint8(1), []byte("0123456789012345678901234567890123456789"))
	}
	f.Add("tcp[tcp[tcp[0]]] / udp[0] = -(5 % 3) ^ len", uint8(4), []byte{1})
	links := []capture.LinkType{capture.LinkEthernet, capture.LinkLinuxSLL, capture.LinkLinuxSLL2, capture.LinkRaw, capture.LinkIPv4, capture.LinkIPv6, capture.LinkRadiotap}
	f.Fuzz(func(t *testing.T, text string, where uint8, data []byte) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		prog, err := e.Compile(Target{Link: links[int(where>>1)%len(links)], Kernel: where&1 == 1})
		if err != nil {
			return
		}
		runChecked(t, prog, data)
	})
}

// FuzzParseDDD looks for programs that pass the check and should not.
func FuzzParseDDD(f *testing.F) {
	f.Add(dddARP, []byte("0123456789"))
	f.Add("3 177 0 0 14 72 0 0 14 22 0 0 0", []byte("01234567890123456789"))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		prog, err := ParseDDD(text)
		if err != nil {
			return
		}
		runChecked(t, prog, data)
		if adapted, err := Adapt(prog, Target{Link: capture.LinkLinuxSLL2, Kernel: true}); err == nil {
			runChecked(t, adapted, data)
		}
	})
}

func runChecked(t *testing.T, prog []bpf.RawInstruction, data []byte) {
	t.Helper()
	if err := Check(prog); err != nil {
		t.Fatal(err)
	}
	run(prog, &seen{data: data, length: len(data)})
	run(prog, &seen{data: data, length: len(data), ancillary: true})
}
