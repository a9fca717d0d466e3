package wire

import (
	"strconv"

	"dubbo-wire/internal/decode"
)

func integer(b []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// isNumber reports whether b is the number that n is.
func isNumber(b []byte, n *decode.Node) bool {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return false
	}
	switch n.Kind {
	case decode.Decimal:
		return string(b) == n.Text || sameDecimal(f, n.Text)
	case decode.Float32:
		return float32(f) == float32(n.Float)
	}
	return f == n.Float
}

func sameDecimal(f float64, text string) bool {
	g, err := strconv.ParseFloat(text, 64)
	return err == nil && f == g
}
