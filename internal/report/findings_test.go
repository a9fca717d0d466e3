package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/term"
)

// found is a report with findings: three of one kind, and one each of nine others.
func found() *Report {
	r := &Report{
		Inputs: []Input{{File: "a b.pcap", Format: "pcap"}},
		Totals: &pipeline.Totals{}, Basis: &FindingsBasis{Rules: 17, Calls: 1204, Sampled: 99, Methods: 4, Clients: 2},
	}
	for i := range 3 {
		r.Findings = append(r.Findings, Finding{
			Kind: "attachments", Service: "com.acme.order.OrderQuery", Method: fmt.Sprintf("list%d", i),
			Subject: fmt.Sprintf("com.acme.order.OrderQuery/list%d", i),
			Text:    "9 attachments, the same in all 1,204 requests looked into: 31 % of its request bytes (120 of 387 a call): path, interface",
			Facts: []Fact{
				{Name: "direction", Text: "request"}, {Name: "looked", Value: 1204}, {Name: "sameKeys", Names: []string{"path", "interface"}},
			},
			Frame: int64(88211 + i), Weight: 1000,
		})
	}
	r.Findings = append(r.Findings, Finding{
		Kind: "errors", Service: "s", Method: "m*", Subject: "s/m*", Text: "5 of 10 calls fail (50 %): 5 exceptions",
		Facts: []Fact{{Name: "errors", Value: 5}, {Name: "ratio", Value: 0.5}}, Frame: 7,
		Verb: "calls", Args: []string{"--service", "s", "--method", "m*", "--error", "*"},
	}, Finding{
		Kind: "sent-again", Subject: "TCP", Text: "4.2 % of its payload was sent again (42 B of 1.00 kB)",
	}, Finding{
		Kind: "dubbo-version", Subject: "10.0.0.1", Text: "sends Dubbo version \"\x1b[31m订单服务\" (4 calls)", Frame: 9,
	})
	for i := range 4 {
		r.Findings = append(r.Findings, Finding{Kind: fmt.Sprint("kind", i), Subject: strings.Repeat("very-long-host.", 9), Text: "something"})
	}
	return r
}

func TestFindingsAmongSections(t *testing.T) {
	s := &Style{Width: 80, Explain: "dubbo-wire explain 'a b.pcap'"}
	d := &Document{Sections: []Section{found().findingsSection(s)}}
	var b strings.Builder
	require.NoError(t, d.writeText(&b, s))
	want := `FINDINGS
  OrderQuery/list0              9 attachments, the same in all 1,204 requests
                                looked into: 31 % of its request bytes (120 of
                                387 a call): path, interface (frame 88211)
  s/m*                          5 of 10 calls fail (50 %): 5 exceptions (frame
                                7)
  TCP                           4.2 % of its payload was sent again (42 B of
                                1.00 kB)
`
	assert.True(t, strings.HasPrefix(b.String(), want), b.String())
	assert.NotContains(t, b.String(), "list1", "one of each kind, where there are enough kinds")
	assert.NotContains(t, b.String(), "\x1b")
	assert.Contains(t, b.String(), "  See a frame:\n    dubbo-wire explain 'a b.pcap' --frame N\n  2 more: --findings (attachments 2)\n")
	for line := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, term.Width(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

// With few kinds there are two of each.
func TestFindingsOfFewKinds(t *testing.T) {
	r := found()
	r.Findings = r.Findings[:5]
	var kinds []string
	for _, f := range r.selectFindings() {
		kinds = append(kinds, f.Kind)
	}
	assert.Equal(t, []string{"attachments", "attachments", "errors", "sent-again"}, kinds)
	assert.Equal(t, []string{"1 more: --findings (attachments 1)"}, r.findingsSection(&Style{}).Notes)
}

func TestNoFindings(t *testing.T) {
	r := found()
	r.Findings = []Finding{}
	var b strings.Builder
	require.NoError(t, r.WriteFindings(&b, "table", Style{Width: 80}))
	assert.Contains(t, b.String(), "\nNo findings (17 rules; 1,204 calls, 99 bodies sampled)\n")
	b.Reset()
	require.NoError(t, r.WriteFindings(&b, "json", Style{}))
	assert.Contains(t, b.String(), `"findings": []`)
}

// Alone they are all there, each with the command that shows it.
func TestFindingsAlone(t *testing.T) {
	r := found()
	s := Style{Width: 200, Explain: "dubbo-wire explain 'a b.pcap'"}
	var b strings.Builder
	require.NoError(t, r.WriteFindings(&b, "table", s))
	text := b.String()
	for _, c := range []string{
		"dubbo-wire explain 'a b.pcap' --frame 88211\n", "dubbo-wire explain 'a b.pcap' --frame 88213\n",
		"dubbo-wire calls 'a b.pcap' --service s --method 'm*' --error '*'\n",
	} {
		assert.Contains(t, text, c)
	}
	b.Reset()
	require.NoError(t, r.WriteFindings(&b, "markdown", s))
	assert.Contains(t, b.String(), "\n## FINDINGS\n")
	assert.Contains(t, b.String(), "| s/m\\* | 5 of 10 calls fail (50 %): 5 exceptions |")
	require.ErrorContains(t, r.WriteFindings(&b, "csv", s), "findings have no format")
	b.Reset()
	require.NoError(t, r.WriteFindings(&b, "table", Style{Width: 80}), "packets of an interface: there is no file to look into")
	assert.NotContains(t, b.String(), "dubbo-wire")
}

func TestFindingsJSON(t *testing.T) {
	r := found()
	r.Inputs = append(r.Inputs, Input{File: "c.pcap", Format: "pcap"})
	var one, two bytes.Buffer
	require.NoError(t, r.WriteFindings(&one, "json", Style{}))
	require.NoError(t, r.WriteFindings(&two, "jsonl", Style{}))
	assert.Equal(t, 1, strings.Count(two.String(), "\n"))
	var had struct {
		Schema   string
		Basis    map[string]int
		Findings []struct {
			Kind, Subject, Service, Method, Text, File, Command string
			Facts                                               map[string]any
			Frame                                               int64
		}
	}
	require.NoError(t, json.Unmarshal(one.Bytes(), &had))
	var line, whole any
	require.NoError(t, json.Unmarshal(two.Bytes(), &line))
	require.NoError(t, json.Unmarshal(one.Bytes(), &whole))
	assert.Equal(t, whole, line)
	assert.Equal(t, FindingsSchema, had.Schema)
	assert.Equal(t, map[string]int{"rules": 17, "calls": 1204, "messagesLookedInto": 99, "methods": 4, "clients": 2}, had.Basis)
	require.Len(t, had.Findings, len(r.Findings))
	f := had.Findings[0]
	assert.Equal(t, "com.acme.order.OrderQuery/list0", f.Subject)
	assert.Equal(t, "a b.pcap", f.File)
	assert.Equal(t, "dubbo-wire explain 'a b.pcap' c.pcap --frame 88211", f.Command)
	assert.Equal(t, map[string]any{"direction": "request", "looked": 1204.0, "sameKeys": []any{"path", "interface"}}, f.Facts)
	assert.Equal(t, map[string]any{"errors": 5.0, "ratio": 0.5}, had.Findings[3].Facts)
	assert.Equal(t, "dubbo-wire calls 'a b.pcap' c.pcap --service s --method 'm*' --error '*'", had.Findings[3].Command)
	assert.Empty(t, had.Findings[4].Command)
	assert.NotContains(t, one.String(), "\x1b")
}

// What findings do not cover is said.
func TestFindingsBeyondTheLimits(t *testing.T) {
	r := found()
	r.Basis.OtherCalls, r.Basis.OtherClientCalls, r.Basis.OtherFailures = 5, 1, 3
	assert.Equal(t, []string{
		"Findings cover the first 4 methods. They leave out 5 calls of others.",
		"Findings about clients cover the first 2 clients. They leave out 1 call of others.",
		"Findings about failures leave out 3 calls of further causes.",
	}, r.basisNotes())
}
