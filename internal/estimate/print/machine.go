package print

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// Schema names the layout of the JSON.
const Schema = "dubbo-wire/estimate/1"

type (
	jsonResult struct {
		Schema      string            `json:"schema"`
		Calibration []jsonCalibration `json:"calibration"`
		Release     *string           `json:"release"`
		Seconds     float64           `json:"seconds"`
		Calls       int64             `json:"calls"`
		By          []string          `json:"by"`
		JVMs        []string          `json:"jvms,omitempty"`
		Processor   string            `json:"processor,omitempty"`
		Stopped     bool              `json:"stopped,omitempty"`
		Targets     []jsonTarget      `json:"targets"`
	}
	jsonCalibration struct {
		Serialization string           `json:"serialization"`
		As            string           `json:"as,omitempty"`
		Release       string           `json:"release,omitempty"`
		Bodies        int64            `json:"bodies"`
		EqualSize     int64            `json:"equalSize"`
		EqualBytes    int64            `json:"equalBytes"`
		Failed        int64            `json:"failed"`
		Bytes         int64            `json:"bytes"`
		OffBytes      int64            `json:"offBytes"`
		Differences   []jsonDifference `json:"differences,omitempty"`
	}
	jsonDifference struct {
		Method        string `json:"method"`
		Direction     string `json:"direction"`
		Bodies        int64  `json:"bodies"`
		Differ        int64  `json:"differ"`
		ObservedBytes int64  `json:"observedBytes"`
		EncodedBytes  int64  `json:"encodedBytes"`
	}
	jsonTarget struct {
		As            string      `json:"as"`
		Release       *string     `json:"release"`
		Measured      bool        `json:"measured"`
		BytesPerMonth *int64      `json:"bytesPerMonth"`
		Sampled       int64       `json:"sampled"`
		Groups        []jsonGroup `json:"groups"`
		Failed        []jsonCause `json:"failed"`
		Unreadable    []jsonCause `json:"unreadable,omitempty"`
	}
	jsonRange struct {
		Low  int64 `json:"low"`
		High int64 `json:"high"`
	}
	jsonError struct {
		Request  float64 `json:"request"`
		Response float64 `json:"response"`
		Frames   float64 `json:"framesPercent"`
	}
	jsonCause struct {
		Cause string `json:"cause"`
		Calls int64  `json:"calls"`
		State string `json:"state,omitempty"`
	}
	// jsonGroup is a group: its keys stand in front of the other members.
	jsonGroup struct {
		keys   []sizes.Key
		values []string
		rest   bool
		jsonSizes
	}
	jsonSizes struct {
		Calls                 int64      `json:"calls"`
		CallsEncoded          int64      `json:"callsEncoded"`
		Request               any        `json:"request"`
		Response              any        `json:"response"`
		RequestFrame          any        `json:"requestFrame"`
		ResponseFrame         any        `json:"responseFrame"`
		ObservedRequest       any        `json:"observedRequest"`
		ObservedResponse      any        `json:"observedResponse"`
		ObservedRequestFrame  any        `json:"observedRequestFrame"`
		ObservedResponseFrame any        `json:"observedResponseFrame"`
		EncodeNanos           *jsonRange `json:"encodeNanos"`
		DecodeNanos           *jsonRange `json:"decodeNanos"`
		SamplingError95       *jsonError `json:"samplingError95,omitempty"`
	}
)

// MarshalJSON writes the keys in their order.
func (g jsonGroup) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if g.rest {
		b.WriteString(`"rest":true,`)
	} else {
		for i, k := range g.keys {
			name, _ := json.Marshal(string(k))
			value, err := json.Marshal(g.values[i])
			if err != nil {
				return nil, err
			}
			b.Write(name)
			b.WriteByte(':')
			b.Write(value)
			b.WriteByte(',')
		}
	}
	rest, err := json.Marshal(g.jsonSizes)
	if err != nil {
		return nil, err
	}
	b.Write(rest[1:])
	return b.Bytes(), nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func rangeOf(r *estimate.Range) *jsonRange {
	if r == nil {
		return nil
	}
	return &jsonRange{r.Low, r.High}
}

func writeJSON(w io.Writer, r *estimate.Result) error {
	out := jsonResult{
		Schema: Schema, Calibration: []jsonCalibration{}, Release: optional(r.Release), Seconds: r.Seconds, Calls: r.Calls, By: []string{},
		JVMs: r.JVMs, Processor: r.CPU, Stopped: r.Stopped, Targets: []jsonTarget{},
	}
	for _, k := range r.By.Keys {
		out.By = append(out.By, string(k))
	}
	for _, k := range r.Calibrations {
		j := jsonCalibration{k.Serialization, k.As, k.Release, k.Bodies, k.EqualSize, k.EqualBytes, k.Failed, k.Bytes, k.Off, nil}
		for _, d := range k.Differences() {
			j.Differences = append(j.Differences, jsonDifference{d.Method, map[bool]string{false: "request", true: "response"}[d.Response], d.Bodies, d.Differ, d.ObservedBytes, d.AgainBytes})
		}
		out.Calibration = append(out.Calibration, j)
	}
	for _, t := range r.Targets {
		j := jsonTarget{t.As, optional(t.Release), t.Measured, t.BytesPerMonth, t.Sampled, []jsonGroup{}, []jsonCause{}, nil}
		for i, g := range t.Groups {
			if g != nil {
				j.Groups = append(j.Groups, jsonGroup{r.By.Keys, r.Groups[i].Values, r.Groups[i].Rest, sizesOf(g)})
			}
		}
		for _, c := range t.Failed {
			j.Failed = append(j.Failed, jsonCause{c.Text, c.Calls, c.State})
		}
		for _, c := range t.Unreadable {
			j.Unreadable = append(j.Unreadable, jsonCause{Cause: c.Text, Calls: c.Calls})
		}
		out.Targets = append(out.Targets, j)
	}
	return report.WriteJSON(w, out)
}

func sizesOf(g *estimate.GroupResult) jsonSizes {
	observed := g.Observed
	if observed == nil {
		observed = &g.Estimated
	}
	j := jsonSizes{
		Calls: g.Calls, CallsEncoded: g.Encoded,
		Request: report.StatJSON(&g.Estimated.Request), Response: report.StatJSON(&g.Estimated.Response),
		RequestFrame: report.StatJSON(&g.Estimated.RequestFrame), ResponseFrame: report.StatJSON(&g.Estimated.ResponseFrame),
		ObservedRequest: report.StatJSON(&observed.Request), ObservedResponse: report.StatJSON(&observed.Response),
		ObservedRequestFrame: report.StatJSON(&observed.RequestFrame), ObservedResponseFrame: report.StatJSON(&observed.ResponseFrame),
		EncodeNanos: rangeOf(g.Encode), DecodeNanos: rangeOf(g.Decode),
	}
	if e := g.Error; e != nil {
		j.SamplingError95 = &jsonError{sizes.Round3(e.Request), sizes.Round3(e.Response), sizes.Round3(e.Frames)}
	}
	return j
}

// writeCSV prints a row for each target and group.
func writeCSV(w io.Writer, r *estimate.Result) error {
	out := csv.NewWriter(w)
	header := []string{"as", "release", "measured"}
	for _, k := range r.By.Keys {
		header = append(header, string(k))
	}
	header = append(header, "calls", "callsEncoded")
	stats := []string{"request", "response", "requestFrame", "responseFrame", "observedRequest", "observedResponse", "observedRequestFrame", "observedResponseFrame"}
	for _, name := range stats {
		header = append(header, name+".total", name+".mean", name+".p50", name+".p99", name+".max")
	}
	header = append(header, "encodeNanos.low", "encodeNanos.high", "decodeNanos.low", "decodeNanos.high", "bytesPerMonth")
	_ = out.Write(header) // Error returns its error, too
	for _, t := range r.Targets {
		for i, g := range t.Groups {
			if g == nil {
				continue
			}
			row := []string{t.As, t.Release, strconv.FormatBool(t.Measured)}
			row = append(row, r.Groups[i].Values...)
			row = append(row, strconv.FormatInt(g.Calls, 10), strconv.FormatInt(g.Encoded, 10))
			observed := g.Observed
			if observed == nil {
				observed = &g.Estimated
			}
			for _, m := range [2]*estimate.Measures{&g.Estimated, observed} {
				for _, s := range [4]*sizes.Stat{&m.Request, &m.Response, &m.RequestFrame, &m.ResponseFrame} {
					row = append(row, statCells(s)...)
				}
			}
			for _, x := range [2]*estimate.Range{g.Encode, g.Decode} {
				if x == nil {
					row = append(row, "", "")
				} else {
					row = append(row, strconv.FormatInt(x.Low, 10), strconv.FormatInt(x.High, 10))
				}
			}
			month := ""
			if n := estimate.PerMonth(g, r.Seconds); n != nil {
				month = strconv.FormatInt(*n, 10)
			}
			_ = out.Write(append(row, month))
		}
	}
	out.Flush()
	return out.Error()
}

func statCells(s *sizes.Stat) []string {
	if s.Count == 0 {
		return []string{"0", "", "", "", ""}
	}
	p := s.Percentiles(50, 99)
	return []string{
		strconv.FormatInt(s.Total, 10), strconv.FormatFloat(sizes.Round3(s.Mean()), 'f', -1, 64),
		strconv.FormatInt(p[0], 10), strconv.FormatInt(p[1], 10), strconv.FormatInt(s.Max, 10),
	}
}

// writeLines prints a line for each call and target.
func writeLines(w io.Writer, r *estimate.Result) error {
	out := bufio.NewWriter(w)
	var buf []byte
	r.Rows(func(x *estimate.Row) {
		buf = appendLine(buf[:0], x)
		_, _ = out.Write(buf) // Flush returns its error, too
	})
	return out.Flush()
}

func appendLine(dst []byte, x *estimate.Row) []byte {
	f := report.Record{JSON: append(dst, '{')}
	f.Int("frame", x.Frame)
	f.Text("file", x.File)
	f.Text("service", x.Service)
	f.Text("method", x.Method)
	f.Name("observed")
	o := report.Record{JSON: append(f.JSON, '{')}
	o.Text("serialization", x.Observed)
	o.Int("requestBodyBytes", x.ObservedRequest)
	o.OptionalInt("responseBodyBytes", x.ObservedResponse)
	f.JSON = append(o.JSON, '}')
	f.Text("as", x.As)
	if x.Release == "" {
		f.Raw("release", []byte("null"))
	} else {
		f.Text("release", x.Release)
	}
	if x.State == "encoded" {
		f.Int("requestBodyBytes", x.Request)
		f.OptionalInt("responseBodyBytes", x.Response)
		f.Int("requestFrameBytes", x.RequestFrame)
		if x.Response < 0 {
			f.OptionalInt("responseFrameBytes", -1)
		} else {
			f.Int("responseFrameBytes", x.ResponseFrame)
		}
	}
	f.Text("state", x.State)
	if x.Cause != "" {
		f.Text("cause", x.Cause)
	}
	return append(f.JSON, '}', '\n')
}
