package filter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
)

// What tcpdump -ddd -y EN10MB arp prints.
const dddARP = "4\n40 0 0 12\n21 0 1 2054\n6 0 0 262144\n6 0 0 0\n"

func TestParseDDD(t *testing.T) {
	want := []bpf.RawInstruction{{Op: 40, K: 12}, {Op: 21, Jf: 1, K: 2054}, {Op: 6, K: 262144}, {Op: 6}}
	for _, text := range []string{dddARP, strings.ReplaceAll(dddARP, "\n", " "), strings.ReplaceAll(dddARP, "\n", ","), "\r\n" + strings.ReplaceAll(dddARP, "\n", "\r\n")} {
		assert.True(t, IsDDD(text), text)
		got, err := ParseDDD(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "port 80", "5", "80 or 81", "1 2 3 4", "tcp[0] = 1"} {
		assert.False(t, IsDDD(text), text)
	}
}

func TestParseDDDRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "is empty",
		"port 80":                      `"port" is not a number`,
		"0":                            "1 to 4096 instructions, not 0",
		"5\n6 0 0 0":                   "announces 5 instructions but has 4 numbers, not 20",
		"99999 6 0 0 0":                "announces 99999 instructions",
		"1\n40 0 0 12":                 "does not end with a return",
		"2\n21 1 0 1\n6 0 0 0":         "instruction 0 of the program leaves it",
		"2\n5 0 0 1\n6 0 0 0":          "instruction 0 of the program leaves it",
		"2\n5 0 0 4294967295\n6 0 0 0": "instruction 0 of the program leaves it",
		"2\n255 0 0 0\n6 0 0 0":        "instruction 0 of the program is unknown",
		"2\n65537 0 0 0\n6 0 0 0":      "instruction 0 is invalid",
		"2\n40 256 0 0\n6 0 0 0":       "instruction 0 is invalid",
		"2\n52 0 0 0\n6 0 0 0":         "divides by zero",
		"2\n100 0 0 32\n6 0 0 0":       "shifts by more than 31 bits",
		"2\n96 0 0 16\n6 0 0 0":        "memory that there is not",
		"2\n96 0 0 3\n6 0 0 0":         "reads memory before it is written",
		"4\n21 0 1 5\n2 0 0 3\n96 0 0 3\n6 0 0 0": "reads memory before it is written",
		strings.Repeat("1 ", 200000):              "too long",
	} {
		_, err := ParseDDD(text)
		assert.ErrorContains(t, err, want, text[:min(30, len(text))])
	}
}

func TestAdapt(t *testing.T) {
	// tcpdump -i any -ddd "port 80" begins so: the type at 0, IPv4's protocol at 29.
	prog := []bpf.RawInstruction{{Op: opLdH}, {Op: opJEq, Jf: 3, K: etherIPv4}, {Op: opLdB, K: 29}, {Op: opLdx4, K: 20}, {Op: opLdHX, K: 22}, {Op: opRet, K: 262144}}
	got, err := Adapt(prog, Target{Link: capture.LinkLinuxSLL2, Kernel: true, SnapLen: 96})
	require.NoError(t, err)
	assert.Equal(t, []bpf.RawInstruction{{Op: opLdH, K: metaProtocol}, {Op: opJEq, Jf: 3, K: etherIPv4}, {Op: opLdB, K: 9}, {Op: opLdx4}, {Op: opLdHX, K: 2}, {Op: opRet, K: 96}}, got)
	_, err = Adapt([]bpf.RawInstruction{{Op: opLdB, K: 12}, {Op: opRet}}, Target{Link: capture.LinkLinuxSLL2, Kernel: true})
	assert.ErrorContains(t, err, "cooked header")
	same, err := Adapt(prog, Target{Link: capture.LinkEthernet, Kernel: true})
	require.NoError(t, err)
	assert.Equal(t, prog, same)
}
