package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// writeCSV prints one row per group in full precision, as RFC 4180 has it, but with Unix line ends. Column names are the paths of
// the JSON report. The row that sums the groups beyond the limit has empty keys and their number in restGroups.
func (r *Report) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	table := csvTable{r, r.compressed(), r.Classes()}
	var row []string
	for name := range table.columns(&sizes.Group{Rest: true}) {
		row = append(row, name)
	}
	_ = out.Write(row) // Error returns its error, too
	for _, g := range r.Groups {
		row = row[:0]
		for _, text := range table.columns(g) {
			row = append(row, text)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvTable is a report with what all groups say about the columns of each, because there may be many.
type csvTable struct {
	*Report
	compressed bool
	classes    []decode.Class
}

// columns yields the names and texts of the columns of a group: its key, the members of its JSON that are texts, numbers or
// distributions, and restGroups.
func (r *csvTable) columns(g *sizes.Group) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i, k := range r.By.Keys {
			value := ""
			if !g.Rest {
				value = g.Values[i]
			}
			yield(string(k), value)
			if k == sizes.Serialization {
				yield("serializationId", idOrEmpty(int(g.SerializationID)))
			}
		}
		j := new(jsonGroup)
		r.jsonGroup(j, g, false)
		j.separateResponses(g, false)
		r.members("", reflect.ValueOf(j).Elem(), yield)
		rest := ""
		if g.Rest {
			rest = strconv.FormatInt(g.Groups, 10)
		}
		yield("restGroups", rest)
	}
}

func (r *csvTable) members(prefix string, v reflect.Value, yield func(name, text string) bool) {
	names := csvNames[v.Type()]
	for i := range names {
		if names[i] == "" {
			continue
		}
		name := prefix + names[i]
		switch f := v.Field(i).Addr().Interface().(type) { // not of the field, which would be copied
		case **int64:
			if name != "sampled" || r.sampledParts() {
				yield(name, integer(*f))
			}
		case *Number:
			yield(name, string(*f))
		case *struct{}: // rates
			for name, rate := range r.jsonRates(v.Addr().Interface().(*jsonGroup).group) {
				yield(name, string(rate))
			}
		case *string:
			yield(name, *f)
		case **jsonDirection:
			r.members(name+".", reflect.ValueOf(*f).Elem(), yield)
		case *jsonDirection:
			r.members(name+".", v.Field(i), yield)
		case *jsonStat:
			*f = f.filled()
			r.members(name+".", v.Field(i), yield)
		case **jsonStat:
			if r.compressed {
				stat := new(jsonStat)
				if *f != nil {
					*stat = (*f).filled()
				}
				r.members(name+".", reflect.ValueOf(stat).Elem(), yield)
			}
		case **jsonLargest:
			largest := cmp.Or(*f, new(jsonLargest))
			r.members(name+".", reflect.ValueOf(largest).Elem(), yield)
		case *[]jsonPart:
			for _, c := range r.classes {
				if r.Parts || r.sampledParts() {
					text := ""
					if *f != nil {
						i := slices.IndexFunc(*f, func(p jsonPart) bool { return p.Path == c.String() })
						text = "0"
						if i >= 0 {
							text = strconv.FormatInt((*f)[i].Bytes, 10)
						}
					}
					yield(name+"."+c.String(), text)
				}
			}
		}
	}
}

// csvNames has the names of the fields that are columns, by type; "" for other fields.
var csvNames = func() map[reflect.Type][]string {
	all := make(map[reflect.Type][]string)
	for _, t := range []reflect.Type{
		reflect.TypeFor[jsonGroup](), reflect.TypeFor[jsonDirection](), reflect.TypeFor[jsonStat](), reflect.TypeFor[jsonLargest](),
	} {
		names := make([]string, t.NumField())
		for i := range names {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("csv") != "-" {
				names[i], _, _ = strings.Cut(f.Tag.Get("json"), ",")
			}
		}
		all[t] = names
	}
	return all
}()

func integer(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func idOrEmpty(id int) string {
	if id < 0 {
		return ""
	}
	return strconv.Itoa(id)
}
