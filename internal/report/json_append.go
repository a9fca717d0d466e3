package report

import (
	"cmp"
	"strconv"

	"dubbo-wire/internal/sizes"
)

// The groups of the JSON report are appended member by member, as encoding/json would encode their types. A report may
// have a hundred thousand groups with eight distributions each; encoding them by reflection takes longer than reading the capture.

// MarshalJSON encodes the group: its key, then its other members.
func (j *jsonGroup) MarshalJSON() ([]byte, error) { return j.appendTo(nil), nil }

func (j *jsonGroup) appendTo(b []byte) []byte {
	b = append(b, '{')
	b = j.report.appendKey(b, j.group)
	if j.Rest {
		b = append(b, `"rest":true,`...)
	}
	for _, m := range [...]struct {
		name  string
		count *int64
	}{
		{`"groups":`, j.Groups},
		{`"calls":`, j.Calls},
		{`"oneWay":`, j.OneWay},
		{`"errors":`, j.Errors},
		{`"exceptions":`, j.Exceptions},
		{`"unanswered":`, j.Unanswered},
		{`"statusUnknown":`, j.StatusUnknown},
		{`"answeredInOther":`, j.AnsweredInOther},
	} {
		if m.count != nil {
			b = append(strconv.AppendInt(append(b, m.name...), *m.count, 10), ',')
		}
	}
	b = j.report.appendRates(b, j.group)
	b = j.Request.appendTo(append(b, `"request":`...))
	b = j.Response.appendTo(append(b, `,"response":`...))
	for _, m := range [...]struct {
		name string
		of   *jsonDirection
	}{{`,"responseOk":`, j.ResponseOK}, {`,"responseOther":`, j.ResponseOther}, {`,"responseError":`, j.ResponseError}} {
		if m.of != nil {
			b = m.of.appendTo(append(b, m.name...))
		}
	}
	b = j.LatencyMicros.appendTo(append(b, `,"latencyMicros":`...))
	b = j.WaitMicros.appendTo(append(b, `,"waitMicros":`...))
	if len(j.Parts) > 0 {
		b = append(b, `,"parts":[`...)
		for i, p := range j.Parts {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(b, `{"path":`...), p.Path)
			b = append(strconv.AppendInt(append(b, `,"bytes":`...), p.Bytes, 10), '}')
		}
		b = append(b, ']')
	}
	if j.Sampled != nil {
		b = strconv.AppendInt(append(b, `,"sampled":`...), *j.Sampled, 10)
	}
	if j.Anatomy != nil {
		text, _ := marshal(j.Anatomy) // numbers and texts always can be encoded
		b = append(append(b, `,"anatomy":`...), text...)
	}
	b = append(b, `,"largest":`...)
	if l := j.Largest; l == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(append(b, `{"file":`...), l.File)
		b = append(append(b, `,"frame":`...), l.Frame...)
		b = append(append(append(b, `,"bodyBytes":`...), l.BodyBytes...), '}')
	}
	return append(b, '}')
}

func (j *jsonDirection) appendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"count":`...), *j.Count, 10)
	b = j.BodyBytes.appendTo(append(b, `,"bodyBytes":`...))
	b = j.FrameBytes.appendTo(append(b, `,"frameBytes":`...))
	b = j.WireBytes.appendTo(append(b, `,"wireBytes":`...))
	if j.UncompressedBytes != nil {
		b = j.UncompressedBytes.appendTo(append(b, `,"uncompressedBytes":`...))
	}
	if j.UncompressedCount != nil {
		b = strconv.AppendInt(append(b, `,"uncompressedCount":`...), *j.UncompressedCount, 10)
	}
	return append(b, '}')
}

// appendTo appends the distribution that of is.
func (j *jsonStat) appendTo(b []byte) []byte {
	s, unit := j.of, j.unit
	if s.Count == 0 {
		return append(b, `{"total":0,"min":null,"mean":null,"p50":null,"p90":null,"p95":null,"p99":null,"max":null}`...)
	}
	var p [len(savedPercentiles)]int64
	s.AppendPercentiles(p[:0], savedPercentiles[:]...)
	b = appendDecimal(append(b, `{"total":`...), s.Total, unit)
	b = appendDecimal(append(b, `,"min":`...), s.Min, unit)
	b = strconv.AppendFloat(append(b, `,"mean":`...), sizes.Round3(s.Mean()/float64(unit)), 'f', -1, 64)
	b = appendDecimal(append(b, `,"p50":`...), p[0], unit)
	b = appendDecimal(append(b, `,"p90":`...), p[1], unit)
	b = appendDecimal(append(b, `,"p95":`...), p[2], unit)
	b = appendDecimal(append(b, `,"p99":`...), p[3], unit)
	b = appendDecimal(append(b, `,"max":`...), s.Max, unit)
	if j.listed {
		b = append(b, `,"buckets":[`...)
		s.Buckets(func(_, upper, n int64) {
			b = appendDecimal(append(b, '['), upper, unit)
			b = append(strconv.AppendInt(append(b, ','), n, 10), ']', ',')
		})
		b[len(b)-1] = ']'
	}
	return append(b, '}')
}

// appendKey appends the members of a group's key, each with a comma. Connections and statuses are numbers.
func (r *Report) appendKey(b []byte, g *sizes.Group) []byte {
	for i, v := range g.Values {
		k := r.By.Keys[i]
		b = append(append(append(b, '"'), k...), `":`...)
		n, err := 0, strconv.ErrSyntax
		if k == sizes.Connection || k == sizes.Status {
			n, err = strconv.Atoi(v)
		}
		switch {
		case k == sizes.Connection, err == nil:
			b = strconv.AppendInt(b, int64(n), 10)
		case k == sizes.Product && v == "":
			b = append(b, "null"...)
		default:
			b = appendText(b, v)
		}
		b = append(b, ',')
		if k == sizes.Serialization && g.SerializationID >= 0 {
			b = append(strconv.AppendInt(append(b, `"serializationId":`...), int64(g.SerializationID), 10), ',')
		}
	}
	return b
}

// appendRates appends the metrics that have a field, each with a comma.
func (r *Report) appendRates(b []byte, g *sizes.Group) []byte {
	for name, rate := range r.jsonRates(g) {
		b = append(append(append(b, '"'), name...), `":`...)
		b = append(append(b, cmp.Or(rate, "null")...), ',')
	}
	return b
}

// appendText appends s as encoding/json does.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, _ := marshal(s) // which it can
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendDecimal appends n/unit as an exact decimal number; unit is 1 or 1000.
func appendDecimal(b []byte, n, unit int64) []byte {
	whole, rest := n/unit, n%unit
	if rest == 0 {
		return strconv.AppendInt(b, whole, 10)
	}
	if n < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendInt(b, max(whole, -whole), 10)
	b = strconv.AppendInt(b, unit+max(rest, -rest), 10) // 1 and three digits
	b[len(b)-4] = '.'
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}
