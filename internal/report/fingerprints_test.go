package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/pipeline"
)

// withPrints is a report from first to last in nanoseconds that has some connections.
func withPrints(name string, first, last int64, list ...pipeline.Fingerprint) *Report {
	return &Report{
		Origin: name, First: first, Last: last, Totals: &pipeline.Totals{Packets: 1}, Fingerprints: &pipeline.Fingerprints{List: list},
	}
}

func TestSharedConnections(t *testing.T) {
	conn := func(ends uint64, start uint32, machine uint8) pipeline.Fingerprint {
		return pipeline.Fingerprint{Ends: ends, Start: start, Machine: machine}
	}
	const ms, hour = int64(time.Millisecond), int64(time.Hour)
	for _, c := range []struct {
		name       string
		side       string
		list       []*Report
		twice, cut string // the two reports
	}{
		{"none", "", []*Report{withPrints("a", 0, 9, conn(1, 0, 0)), withPrints("b", 0, 9, conn(2, 0, 0))}, "", ""},
		{"one", "", []*Report{withPrints("a", 0, 9, conn(1, 5, 0), conn(2, 5, 0)), withPrints("b", 3, 12, conn(2, 5, 0))}, "a b", ""},
		{"ports used again", "", []*Report{withPrints("a", 0, 9, conn(1, 5, 0)), withPrints("b", 0, 9, conn(1, 6, 0))}, "", ""},
		{"joined midway", "", []*Report{withPrints("a", 0, 9, conn(1, 5, 0)), withPrints("b", 0, 9, conn(1, 0, 0))}, "a b", ""},
		{"first joined midway", "", []*Report{withPrints("a", 0, 9, conn(1, 0, 0)), withPrints("b", 1, 9, conn(1, 5, 0))}, "a b", ""},
		{"both joined midway", "", []*Report{withPrints("a", 0, 9, conn(1, 0, 0)), withPrints("b", 0, 9, conn(1, 0, 0))}, "a b", ""},
		{"one after the other", "", []*Report{withPrints("b", 9, 20, conn(1, 0, 0)), withPrints("a", 0, 9, conn(1, 5, 0))}, "", "a b"},
		{"out of order by little", "", []*Report{withPrints("a", 0, hour+ms, conn(1, 5, 0)), withPrints("b", hour, 2*hour, conn(1, 0, 0))}, "", "a b"},
		{"out of order by much", "", []*Report{withPrints("a", 0, hour+20*ms, conn(1, 5, 0)), withPrints("b", hour, 2*hour, conn(1, 0, 0))}, "a b", ""},
		{"a long one before", "", []*Report{
			withPrints("long", 0, 100, conn(1, 5, 0)), withPrints("short", 1, 2, conn(1, 7, 0)), withPrints("late", 50, 60, conn(1, 5, 0)),
		}, "long late", ""},
		{"twice in one", "", []*Report{withPrints("a", 0, 9, conn(1, 5, 0), conn(1, 0, 0)), withPrints("b", 0, 9, conn(2, 5, 0))}, "", ""},
		{"a third one", "", []*Report{
			withPrints("a", 0, 9, conn(1, 5, 0), conn(1, 6, 0)), withPrints("b", 10, 19, conn(1, 6, 0)), withPrints("c", 18, 29, conn(1, 0, 0)),
		}, "b c", ""},
		{"both ends, one side", "server", []*Report{withPrints("a", 0, 9, conn(1, 5, 1)), withPrints("b", 0, 9, conn(1, 5, 2))}, "", ""},
		{"the same end, one side", "server", []*Report{withPrints("a", 0, 9, conn(1, 5, 2)), withPrints("b", 0, 9, conn(1, 0, 2))}, "a b", ""},
		{"within one machine, one side", "server", []*Report{withPrints("a", 0, 9, conn(1, 5, 3)), withPrints("b", 0, 9, conn(1, 5, 1))}, "a b", ""},
		{"of no machine, one side", "server", []*Report{withPrints("a", 0, 9, conn(1, 5, 0)), withPrints("b", 0, 9, conn(1, 5, 0))}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sharing{list: c.list, side: c.side != ""}
			names := func(a, b *Report) string {
				if a == nil {
					return ""
				}
				return a.Origin + " " + b.Origin
			}
			assert.Equal(t, c.twice, names(s.find()))
			if c.twice == "" {
				assert.Equal(t, c.cut, names(s.before, s.after))
			}
		})
	}
}

// Many connections between the same ends take no more than linear time.
func TestSharedConnectionsOfTheSameEnds(t *testing.T) {
	const each = 20_000
	var list []*Report
	for r := range 10 {
		one := withPrints(string(rune('a'+r)), 0, 9)
		for i := range each {
			one.Fingerprints.List = append(one.Fingerprints.List, pipeline.Fingerprint{Ends: 7, Start: uint32(1 + r*each + i)})
		}
		list = append(list, one)
	}
	s := sharing{list: list}
	a, _ := s.find()
	assert.Nil(t, a)
}

func TestFingerprintsAreSaved(t *testing.T) {
	list := []pipeline.Fingerprint{{Ends: 1, Start: 0, Machine: 3}, {Ends: 1, Start: 1<<30 - 1, Machine: 1}, {Ends: 1<<64 - 1, Start: 1}}
	text := encodePrints(list)
	assert.Len(t, text, 48)
	got, err := decodePrints(text)
	require.NoError(t, err)
	assert.Equal(t, list, got)
	for _, wrong := range []string{"A", "AAAA", "?", strings.Repeat("AAAAAAAAAAAAAAAA", pipeline.MaxFingerprints+1)} {
		_, err := decodePrints(wrong)
		assert.ErrorIs(t, err, errPrints)
	}
	r := anyReport(1, 3)
	r.Side, r.Fingerprints, r.Stopped = "server", &pipeline.Fingerprints{List: list}, []string{"stopped"}
	saved := save(t, r)
	again, err := Read(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Equal(t, r.Fingerprints, again.Fingerprints)
	assert.Equal(t, saved, save(t, again))
	assert.Equal(t, []string{
		"a.pcap: packet 9, byte offset 1,234: cut\x1b", "a.pcap: 2 damaged places more", "no.pcap: not there", "stopped",
	}, again.Problems())
	_, err = Read(strings.NewReader(strings.Replace(saved, `"side": "server"`, `"side": "left"`, 1)))
	assert.ErrorContains(t, err, `has the unknown side "left"`)
}
