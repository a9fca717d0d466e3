package term

// maxCompared is the number of bytes of each text that EditDistance compares.
const maxCompared = 100

// EditDistance returns the number of insertions, deletions, replacements and swaps of neighbours that turn the start of a
// into the start of b (optimal string alignment). Only the first 100 bytes of each are compared.
func EditDistance(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	var rows [3][maxCompared + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range len(a) {
		now[0] = i + 1
		for j := range len(b) {
			other := 1
			if a[i] == b[j] {
				other = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+other)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
