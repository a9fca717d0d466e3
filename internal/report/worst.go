package report

import (
	"strconv"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// worstTitles are the titles of the tables of presets.
var worstTitles = map[sizes.Preset]string{
	sizes.BigRequests: "LARGEST REQUESTS", sizes.BigResponses: "LARGEST RESPONSES", sizes.Slow: "SLOWEST CALLS", sizes.Errors: "ERRORS",
}

// worstSections returns a table for each preset.
func (r *Report) worstSections(s *Style) []Section {
	return listOf(r.Worst, func(w *sizes.Worst) Section { return r.worst(w, s) })
}

// worst returns the table of a preset's calls.
func (r *Report) worst(w *sizes.Worst, s *Style) Section {
	calls, others := w.Calls()
	if w.Preset == sizes.Errors {
		return r.failures(calls, others, s)
	}
	sec := Section{Title: worstTitles[w.Preset]}
	if len(calls) == 0 {
		what := map[sizes.Preset]string{sizes.BigRequests: "request", sizes.BigResponses: "response", sizes.Slow: "call"}[w.Preset]
		sec.Notes = []string{"None: no complete " + what + " was captured."}
		return sec
	}
	sec.Columns = []Column{
		{Name: "#", unit: count},
		{Name: "service/method", Names: true},
		{Group: "body bytes", Name: "request", unit: size},
		{Group: "body bytes", Name: "response", unit: size},
		{Name: "latency", unit: elapsed},
		{Name: "status", Right: true, drop: 2},
		{Name: "client > server", Flex: true, drop: 1},
		{Name: "request time", Wide: true},
		{Name: "frame", Right: true},
	}
	for i, c := range calls {
		sec.add(
			s, numberCell(int64(i+1)), textCell(methodName(c.Service, c.Method)), orAbsent(c.RequestBytes), orAbsent(c.ResponseBytes),
			latencyCell(c), textCell(statusText(c)), textCell(c.Client+" > "+c.Server),
			textCell(formatTime(c.Time, ".000", s.Local)), textCell(formatFrame(c.Frame)),
		)
	}
	sec.explainFirst(calls[0], s)
	return sec
}

// explainFirst adds the command that shows the first call.
func (sec *Section) explainFirst(c *sizes.CallRef, s *Style) {
	if command := s.explain(c.Frame); command != "" {
		sec.Notes = append(sec.Notes, "The first one, byte by byte:", verbatim+command)
	}
}

// failures returns the table of failed calls by method and cause.
func (r *Report) failures(kinds []*sizes.CallRef, others int64, s *Style) Section {
	sec := Section{Title: worstTitles[sizes.Errors]}
	if len(kinds) == 0 {
		sec.Notes = []string{"None: no selected call failed."}
		return sec
	}
	sec.Columns = []Column{
		{Name: "#", unit: count},
		{Name: "calls", unit: count},
		{Name: "share %", unit: percent, drop: 1},
		{Name: "service/method", Names: true},
		{Name: "status", Right: true},
		{Name: "error", Flex: true, shorten: ShortNames},
		{Name: "first frame", Right: true},
	}
	for i, k := range kinds {
		what := k.Exception
		switch {
		case what == "" && k.Thrown:
			what = "exception, class not decoded"
		case what == "":
			what = k.StatusName
		}
		sec.add(
			s, numberCell(int64(i+1)), numberCell(k.Number), ratioCell(k.Number, r.Selected.Errors), textCell(methodName(k.Service, k.Method)),
			textCell(statusText(k)), textCell(term.Clean(what)), textCell(formatFrame(k.Frame)),
		)
	}
	if others > 0 {
		sec.add(
			s, textCell(""), numberCell(others), ratioCell(others, r.Selected.Errors), textCell("other errors"), textCell(""), textCell(""), textCell(""),
		)
	}
	sec.Notes = append(sec.Notes, "Status 20 with an exception: the provider's method threw it. Shares are of all failed calls.")
	sec.explainFirst(kinds[0], s)
	return sec
}

func orAbsent(n int64) cell {
	if n < 0 {
		return cell{}
	}
	return numberCell(n)
}

func latencyCell(c *sizes.CallRef) cell {
	if !c.Timed {
		return cell{}
	}
	return numberCell(c.Latency)
}

func statusText(c *sizes.CallRef) string {
	if c.Status < 0 {
		return "-"
	}
	return formatFrame(int64(c.Status))
}

// formatFrame formats a frame number for --frame.
func formatFrame(n int64) string { return strconv.FormatInt(n, 10) }

// jsonCall is a call of a preset: for errors the first failed call of a kind, with the number of such calls.
type jsonCall struct {
	Service           string    `json:"service"`
	Method            string    `json:"method"`
	Serialization     string    `json:"serialization"`
	Failed            int64     `json:"failed,omitempty"`
	File              *string   `json:"file,omitempty"`
	Frame             int64     `json:"frame"`
	Time              timestamp `json:"time"`
	Client            string    `json:"client"`
	Server            string    `json:"server"`
	RequestBodyBytes  *int64    `json:"requestBodyBytes,omitempty"`
	ResponseBodyBytes *int64    `json:"responseBodyBytes,omitempty"`
	Status            *int      `json:"status,omitempty"`
	LatencyMicros     Number    `json:"latencyMicros,omitempty"`
	ExceptionClass    string    `json:"exceptionClass,omitempty"`
}

// jsonCalls returns the calls of a preset, worst first.
func (r *Report) jsonCalls(w *sizes.Worst) []jsonCall {
	calls, _ := w.Calls()
	return listOf(calls, func(c *sizes.CallRef) jsonCall {
		j := jsonCall{
			Service: c.Service, Method: c.Method, Serialization: c.Serialization, Frame: c.Frame, Time: timestamp(c.Time),
			Client: c.Client, Server: c.Server,
		}
		if w.Preset == sizes.Errors {
			j.Failed = c.Number
		}
		if c.File < len(r.Inputs) {
			j.File = &r.Inputs[c.File].File
		}
		if c.RequestBytes >= 0 {
			j.RequestBodyBytes = &c.RequestBytes
		}
		if c.ResponseBytes >= 0 {
			j.ResponseBodyBytes = &c.ResponseBytes
		}
		if c.Status >= 0 {
			j.Status = &c.Status
		}
		if c.Timed {
			j.LatencyMicros = decimalOf(c.Latency, 1000)
		}
		if c.Thrown {
			j.ExceptionClass = c.Exception
		}
		return j
	})
}
