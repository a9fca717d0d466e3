package findings

import (
	"cmp"
	"fmt"
	"slices"

	"dubbo-wire/internal/report"
)

const (
	// A finding needs leastSamples copies or leastSampleBytes of them, and a compressed size of at most mostLeft percent.
	leastSamples, leastSampleBytes, mostLeft = 3, 32 << 10, 50
)

// acceptable counts the large responses of plain HTTP without compression whose requests were sampled, and those of these that accept
// compression.
type acceptable struct{ requests, accepting int64 }

func (a *acceptable) add(accepts bool) {
	a.requests++
	a.accepting += number01(accepts)
}

// describe says whose turn it is: a server compresses only for clients that accept it.
func (a *acceptable) describe() string {
	switch a.accepting {
	case a.requests:
		return "; the requests accept compression, so the server may compress"
	case 0:
		return "; the requests do not accept compression: the client must ask for it with Accept-Encoding first"
	}
	return fmt.Sprintf("; %s of %s accept compression", report.Count(a.accepting), report.Plural(a.requests, "sampled request"))
}

// compressible finds responses that compression would shrink to at most half their size.
func compressible(k *Collector, e *evidence) {
	var candidates []*method
	for _, m := range k.order {
		if b := m.bodies; b != nil && (len(b.list) >= leastSamples || b.bytes >= leastSampleBytes) {
			candidates = append(candidates, m)
		}
	}
	if len(candidates) == 0 {
		return
	}
	slices.SortStableFunc(candidates, func(a, b *method) int {
		return cmp.Compare(b.bigBytes, a.bigBytes)
	})
	s := newCompressor()
	defer s.close()
	work := 0
	for _, m := range candidates[:min(len(candidates), maxCompressed)] {
		b := m.bodies
		if work += b.bytes; work > maxCompressedBytes && work > b.bytes {
			break
		}
		gzipped, zstded := s.sizes(b.list)
		n := int64(b.bytes)
		if 100*min(gzipped, zstded) > mostLeft*n {
			continue
		}
		f := m.finding(b.at)
		f.Text = fmt.Sprintf("its responses of 1 KiB or more would shrink to %s with gzip, %s with zstd (%s of %s sampled, %s)", share(gzipped, n),
			share(zstded, n), report.Count(int64(len(b.list))), report.Count(m.big), report.Volume(n))
		f.Facts = []report.Fact{
			fact("sampled", int64(len(b.list))), fact("bodyBytes", n), fact("gzipBytes", gzipped), fact("zstdBytes", zstded),
			fact("responses", m.big), fact("responseBytes", m.bigBytes),
		}
		if a := &m.acceptable; a.requests > 0 {
			f.Text += a.describe()
			f.Facts = append(f.Facts, fact("requests", a.requests), fact("acceptingRequests", a.accepting))
		}
		f.Weight = scaled(m.bigBytes, n-min(gzipped, zstded), n)
		e.add(f)
	}
}
