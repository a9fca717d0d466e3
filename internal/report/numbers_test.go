package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/term"
)

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0":                          Count(0),
		"999":                        Count(999),
		"-1,000":                     Count(-1000),
		"9,223,372,036,854,775,807":  Count(1<<63 - 1),
		"-9,223,372,036,854,775,808": Count(-1 << 63),

		"1.5":     formatSize(1.5, false, false),
		"16":      formatSize(15.6, false, false),
		"2":       formatSize(2, true, false),
		"1,234":   formatSize(1234.4, false, false),
		"15.600":  formatSize(15.6, false, true),
		"999 B":   formatVolume(999, false),
		"1.00 kB": formatVolume(1000, false),
		"1.00 MB": formatVolume(999_600, false),
		"8.20 GB": formatVolume(8_200_000_000, false),
		"318 MB":  formatVolume(318_000_000, false),
		"22.1 MB": formatVolume(22_100_000, false),
		"1,234 TB": formatVolume(
			1_234_000_000_000_000, false),

		"<0.01": formatRate(0.001, false),
		"1,051": formatRate(1051.2, false),
		"17.3":  formatRate(17.31, false),

		"<0.1":    formatPercent(1, 1_000_000, false),
		">99.9":   formatPercent(999_999, 1_000_000, false),
		"100.0":   formatPercent(5, 5, false),
		"0.0":     formatPercent(0, 5, false),
		"0.1":     formatPercent(5, 10_000, false),
		"99.57 %": formatCoverage(99.57, false),
		"99.99 %": formatCoverage(99.9999, false),
		"100 %":   formatCoverage(100, false),

		"211 µs":       formatElapsed(211_000, false),
		"1.00 ms":      formatElapsed(999_800, false),
		"811 ms":       formatElapsed(811e6, false),
		"-2.50 s":      formatElapsed(-25e8, false),
		"811,204.5 µs": formatElapsed(811_204_500, true),
	} {
		assert.Equal(t, want, got)
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, "abc…xyz", term.CutMiddle("abcdefuvwxyz", 7))
	assert.Equal(t, "订…务", term.CutMiddle("订单服务", 5))
	assert.Equal(t, 5, term.Width(term.CutMiddle("订单查询服务", 6)), "half a character does not fit")
	assert.Empty(t, term.CutMiddle("abc", 0))
	for name, want := range map[string]string{
		"com.acme.User/get":         "…me.User/get",
		"GET /users/17":             "GET …sers/17",
		"PATCH /users/{id}":         "…/users/{id}", // no room for both
		"10.0.0.1:80/GET /users":    "GET /users",
		"10.0.0.1:80/GET /users/17": "GET …sers/17",
		"10.0.0.1:80/GET /":         "….1:80/GET /",
		"find /etc/passwd":          "…/etc/passwd",
	} {
		assert.Equal(t, want, term.CutLeft(name, 12))
	}

	names := []string{"com.acme.a.User/get", "com.acme.a.User/get", "com.acme.b.User/get", "com.ace.order.User/put", "com.ace.oracle.User/put", "?", "3 more (--top 4)"}
	assert.Equal(t, []string{"c.a.a.User/get", "c.a.a.User/get", "c.a.b.User/get", "c.a.order.User/put", "c.a.oracle.User/put", "?", "3 more (--top 4)"},
		ShortNames(names, 1))
	assert.Equal(t, []string{"c.a.a.User/get", "c.a.a.User/get", "c.a.b.User/get", "c.a.order.User/put", "c.a.oracle.User/put", "?", "3 more (--top 4)"},
		ShortNames(names, 2))
	assert.Equal(t, []string{"User/get", "User/put"}, ShortNames([]string{"a.User/get", "b.User/put"}, 2))
	hosts := []string{"api.acme.com/GET /a", "api.acme.com:80/GET /b"} // their parts are not packages
	assert.Equal(t, hosts, ShortNames(hosts, 1))
	assert.Equal(t, []string{"GET /a", "GET /b"}, ShortNames(hosts, 2))

	assert.Equal(t, `a\nb\x1b[1m`+"\ufffd", term.Clean("a\nb\x1b[1m\u202e"))
	assert.Equal(t, "订单", term.Clean("订单"))
	assert.Equal(t, []string{"costs 12 kB in", "2 files, 0 %"}, term.Wrap("costs 12 kB in 2 files, 0 %", 15))
	assert.Equal(t, []string{"/a/very/l", "ong/path"}, term.Wrap("/a/very/long/path", 9))
}
