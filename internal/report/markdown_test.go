package report_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/report"
)

// Names with what Markdown and CSV take for their own stay one cell.
func TestMarkupInNames(t *testing.T) {
	const service, method = "a|b_*c*,`d`[e](f)\"<i>&$x$", "g$h;\n长"
	k := newTaken(t, "service,method", 0)
	k.call("hessian2", service, method, false, askPaths, answerPaths)
	r := k.report()

	var md bytes.Buffer
	require.NoError(t, r.Write(&md, "markdown", report.Style{}))
	row := ""
	for line := range strings.Lines(md.String()) {
		if strings.Contains(line, "长") {
			row = line
		}
	}
	assert.Contains(t, row, "| a\\|b\\_\\*c\\*,\\`d\\`\\[e\\](f)\"&lt;i>&amp;\\$x\\$/g\\$h;\\\\n长 |")

	var text bytes.Buffer
	require.NoError(t, r.Write(&text, "csv", report.Style{}))
	rows, err := csv.NewReader(&text).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	assert.Equal(t, []string{service, method}, rows[1][:2])
	for _, n := range rows[1][2:] {
		assert.Regexp(t, `^(-?\d+(\.\d+)?)?$`, n, "numbers are plain")
	}
}
