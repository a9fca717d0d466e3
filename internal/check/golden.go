package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// SizesSchema names the layout of golden files that hold only what is compared.
const SizesSchema = "dubbo-wire/sizes/1"

// Limits of golden files in bytes. Full reports have their own.
const (
	maxSizesFile  = 64 << 20
	maxSchemaHead = 4 << 10
)

// sizesHead are the members of a golden file before the methods.
type sizesHead struct {
	Schema string `json:"schema"`
	report.Golden
	// By is missing where it is the default.
	By []string `json:"by,omitempty"`
}

// sizesSummary is the numbers of a direction.
type sizesSummary struct {
	Mean report.Number `json:"mean"`
	P99  report.Number `json:"p99"`
	Max  report.Number `json:"max"`
}

// WriteGolden writes the golden file of a report: its methods in the order of their keys, each on a line. Calls beyond the limit of
// groups are left out, because the check leaves them out.
func WriteGolden(w io.Writer, r *report.Report) error {
	head := sizesHead{Schema: SizesSchema, Golden: *r.Golden}
	if !r.By.Equal(sizes.DefaultBy()) {
		head.By = strings.Split(r.ByText(), ",")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(&head); err != nil {
		return err
	}
	b.Truncate(len(bytes.TrimRight(b.Bytes(), "\n}")))
	b.WriteString(",\n \"methods\": [")
	groups := slices.DeleteFunc(slices.Clone(r.Groups), func(g *sizes.Group) bool { return g.Rest })
	r.By.Sort(groups)
	enc.SetIndent("", "")
	value := func(v any) {
		_ = enc.Encode(v) // texts, and numbers that were formatted
		b.Truncate(b.Len() - 1)
	}
	for i, g := range groups {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for k, v := range g.Values {
			value(r.By.Keys[k])
			b.WriteString(": ")
			value(v)
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `"request": %s, "response": %s}`, directionText(summaryOf(&g.Request.Body)), directionText(summaryOf(responses(r.By, g))))
	}
	b.WriteString("\n ]\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// directionText returns the JSON of a direction, null without messages.
func directionText(s report.Summary) string {
	if s.Max == "" {
		return "null"
	}
	return fmt.Sprintf(`{"mean": %s, "p99": %s, "max": %s}`, s.Mean, s.P99, s.Max)
}

// ReadGolden reads a golden file, or the sizes of a full report.
func ReadGolden(r io.Reader) (*report.Summaries, error) {
	var head bytes.Buffer
	dec := json.NewDecoder(io.TeeReader(io.LimitReader(r, maxSchemaHead), &head))
	var tokens [3]json.Token
	for i := range tokens {
		tokens[i], _ = dec.Token()
	}
	whole := io.MultiReader(&head, r)
	if tokens != [3]json.Token{json.Delim('{'), "schema", SizesSchema} {
		return report.ReadSummaries(whole)
	}
	return readSizes(whole)
}

func readSizes(r io.Reader) (*report.Summaries, error) {
	var file struct {
		sizesHead
		Methods []map[string]json.RawMessage `json:"methods"`
	}
	data, err := io.ReadAll(io.LimitReader(r, maxSizesFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSizesFile {
		return nil, fmt.Errorf("is larger than %d MiB", maxSizesFile>>20)
	}
	err = json.Unmarshal(data, &file)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	kind, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isSyntax:
		return nil, fmt.Errorf("invalid JSON at byte %d: %w", syntax.Offset, err)
	case isType:
		field := strings.TrimPrefix(strings.TrimPrefix(kind.Field, "sizesHead."), "Golden.") // embedded structs
		return nil, fmt.Errorf("%s is not what check --update writes: it is of type %s", field, kind.Value)
	case err != nil:
		return nil, err
	case file.Methods == nil:
		return nil, errors.New(`has no "methods"`)
	}
	s := &report.Summaries{By: sizes.DefaultBy(), Golden: file.Golden}
	if file.By != nil {
		if s.By, err = sizes.ParseBy(strings.Join(file.By, ",")); err != nil {
			return nil, fmt.Errorf(`"by": %w`, err)
		}
	}
	seen := make(map[string]bool)
	for i, row := range file.Methods {
		g, err := summaryGroup(s.By, row)
		if err != nil {
			return nil, fmt.Errorf("method %d %w", i+1, err)
		}
		key := strings.Join(g.Values, "\x00")
		if seen[key] {
			return nil, fmt.Errorf("method %d (%s) appears twice; keep one of them", i+1, report.KeyText(s.By, g.Values))
		}
		seen[key] = true
		s.Groups = append(s.Groups, *g)
	}
	return s, nil
}

// summaryGroup returns the group of a line.
func summaryGroup(by sizes.By, row map[string]json.RawMessage) (*report.SummaryGroup, error) {
	g := new(report.SummaryGroup)
	for _, k := range by.Keys {
		var value string
		if raw, ok := row[string(k)]; !ok {
			return nil, fmt.Errorf("has no %q", k)
		} else if err := json.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("has the %s %.40s, which is not a text", k, raw)
		}
		g.Values = append(g.Values, value)
	}
	for _, d := range []struct {
		name string
		to   *report.Summary
	}{{"request", &g.Request}, {"response", &g.Response}} {
		name, raw := d.name, row[d.name]
		if raw == nil || string(raw) == "null" {
			continue
		}
		var s sizesSummary
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf(`has the %s %.60s; write {"mean": N, "p99": N, "max": N}`, name, raw)
		}
		if s.Mean == "" || s.P99 == "" || s.Max == "" {
			return nil, fmt.Errorf("has a %s without mean, p99 or max", name)
		}
		*d.to = report.Summary{Mean: json.Number(s.Mean), P99: json.Number(s.P99), Max: json.Number(s.Max)}
	}
	return g, nil
}
