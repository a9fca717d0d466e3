package capture

import "testing"

// FuzzLookahead: whatever the lengths are, nothing outside the bytes is loaded.
func FuzzLookahead(f *testing.F) {
	for _, l := range []lengths{{at: 8, extra: pcapRecordLen}, {at: 4}, {at: 4, big: true}, {}} {
		f.Add(plain(many(200)...), l.at, l.extra, l.big, true)
		f.Add(make([]byte, 1000), l.at, l.extra, l.big, false)
		f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), l.at, l.extra, l.big, true)
	}
	f.Fuzz(func(_ *testing.T, b []byte, at, extra int, big, whole bool) {
		l := lengths{at & 15, extra & 31, big}
		var a lookahead
		for pos := 0; pos <= len(b); pos += 1 + len(b)/50 {
			for range 40 {
				a.preload(b, pos, whole, &l)
			}
		}
	})
}
