package measure

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/compare"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/report"
)

// SideLabels returns a distinct label for each argument of compare: the one that the user gave, or the file's name. paths
// are the arguments without labels.
func SideLabels(args []string) (paths, labels []string, err error) {
	l, err := parseLabels(args)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.Index(l.paths, "-"); i >= 0 && slices.Contains(l.paths[i+1:], "-") {
		return nil, nil, exit.Usagef("standard input (-) is given twice, but can be read only once")
	}
	for i, path := range l.paths {
		labels = append(labels, l.names[i])
		if l.names[i] == "" {
			labels[i] = filepath.Base(path)
			if path == "-" {
				labels[i] = "standard input"
			}
		}
	}
	same := func(i int) bool {
		return slices.Index(labels, labels[i]) != i
	}
	for i := range labels {
		if same(i) && l.names[i] == "" {
			labels[i] = l.paths[i] // the path, with its folder
			for k := 0; k < i; k++ {
				if l.names[k] == "" && filepath.Base(l.paths[k]) == filepath.Base(l.paths[i]) {
					labels[k] = l.paths[k]
				}
			}
		}
	}
	for i := range labels {
		for n := 2; same(i); n++ {
			labels[i] = strings.TrimSuffix(labels[i], " ("+strconv.Itoa(n-1)+")") + " (" + strconv.Itoa(n) + ")"
		}
	}
	return l.paths, labels, nil
}

// Compare measures the sides and compares them. verdict is the error to return after the comparison was printed.
func (in *Input) Compare(args, labels []string, cfg Config, alpha float64) (c *compare.Comparison, verdict, err error) {
	var sides []compare.Side
	var broken, low []string
	for i, arg := range args {
		r, stopped, readErr, err := in.side(arg, cfg)
		if err != nil {
			return nil, nil, err
		}
		if readErr != nil {
			broken = append(broken, readErr.Error())
		}
		if stopped && i < len(args)-1 {
			return nil, nil, exit.Errorf(exit.Partly, "stopped before all captures were read; nothing was compared")
		}
		if v := in.Verdict(r.Totals, r.Selected.Calls, r.Filtered, readErr); v != nil {
			switch code := exit.CodeOf(v); {
			case r.Selected.Calls == 0:
				return nil, nil, exit.Errorf(code, "%s: %v", labels[i], v)
			case code == exit.Coverage:
				low = append(low, labels[i]+": "+v.Error())
			}
		}
		sides = append(sides, compare.Side{Label: labels[i], Report: r})
	}
	c, err = compare.New(sides, alpha)
	if errors.Is(err, compare.ErrNothing) {
		return nil, nil, exit.Errorf(exit.Nothing, "nothing to compare: one side has no calls")
	}
	verdict = partly(broken)
	if len(low) > 0 {
		verdict = exit.Errorf(exit.Coverage, "%s", strings.Join(low, "\n"))
	}
	return c, verdict, err
}

// side measures one side. stopped reports whether a signal ended reading.
func (in *Input) side(arg string, cfg Config) (r *report.Report, stopped bool, readErr, err error) {
	f, err := in.OpenAny([]string{arg})
	if err != nil {
		return nil, false, nil, err
	}
	defer f.Close()
	r, readErr, err = f.Report(cfg)
	return r, f.signals != nil && f.signals.Stopped(), readErr, err
}
