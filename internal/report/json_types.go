package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// The JSON report. The same types write and read it. Fields that mirror a counter of Totals or Group are pointers to that counter
// (see bindBooks and bindGroup), so one declaration serves both directions.
//
// A saved report is the JSON report with buckets. Its additional object "saved" has what Read and Merge need to rebuild tables and
// sums.
type (
	// jsonHead has the members before "groups".
	jsonHead struct {
		Schema string `json:"schema"`
		Golden
		Inputs   []Input       `json:"inputs"`
		Seconds  float64       `json:"seconds"`
		Wire     *jsonWire     `json:"wire"`
		Coverage *jsonCoverage `json:"coverage"`
		Saved    *jsonSaved    `json:"saved,omitempty"`
		By       []string      `json:"by"`
	}
	jsonWire struct {
		LinkBytes          *int64      `json:"linkBytes"`
		RPCBytes           *int64      `json:"rpcBytes"`
		EventBytes         *int64      `json:"eventBytes"`
		IncompleteBytes    *int64      `json:"incompleteBytes"`
		OtherLinkBytes     int64       `json:"otherLinkBytes"`
		RetransmittedBytes *int64      `json:"retransmittedBytes"`
		DuplicateBytes     *int64      `json:"duplicateBytes"`
		OtherTCP           []portBytes `json:"otherTcp"`
		NotTCPBytes        *int64      `json:"notTcpBytes"`
		OffloadedPackets   *int64      `json:"offloadedPackets"`
	}
	portBytes struct {
		Port  uint16 `json:"port"`
		Bytes int64  `json:"bytes"`
	}
	jsonCoverage struct {
		Percent                 float64             `json:"percent"`
		TCPPayloadBytes         *int64              `json:"tcpPayloadBytes"`
		FrameBytes              *int64              `json:"frameBytes"`
		OtherBytes              int64               `json:"otherBytes"`
		SkippedBytes            *int64              `json:"skippedBytes"`
		GapBytes                *int64              `json:"gapBytes"`
		GapsUnknown             int64               `json:"gapsUnknown"` // always 0
		Other                   []otherProtocol     `json:"other"`
		Control                 []controlBytes      `json:"control,omitempty"`
		Connections             *int64              `json:"connections"`
		ConnectionsWithoutData  *int64              `json:"connectionsWithoutData"`
		ConnectionsJoinedMidway *int64              `json:"connectionsJoinedMidway"`
		Frames                  *int64              `json:"frames"`
		FramesIncomplete        *int64              `json:"framesIncomplete"`
		BodiesDecoded           *int64              `json:"bodiesDecoded,omitempty"`
		BodiesPartly            *int64              `json:"bodiesPartly,omitempty"`
		BodiesOpaque            *int64              `json:"bodiesOpaque,omitempty"`
		RequestsWithoutResponse *int64              `json:"requestsWithoutResponse"`
		ResponsesWithoutRequest *int64              `json:"responsesWithoutRequest"`
		Heartbeats              *int64              `json:"heartbeats"`
		Events                  *int64              `json:"events"`
		FramesFoundByResync     *int64              `json:"framesFoundByResync,omitempty"`
		NegativeLengths         *int64              `json:"negativeLengths,omitempty"`
		PacketsWithoutTrailer   *int64              `json:"packetsWithoutTrailer,omitempty"`
		RequestsExpired         *int64              `json:"requestsExpired,omitempty"`
		RequestsUnnamed         *int64              `json:"requestsUnnamed,omitempty"`
		ResponsesWithoutStatus  *int64              `json:"responsesWithoutStatus,omitempty"`
		ConnectionsExpired      *int64              `json:"connectionsExpired,omitempty"`
		HeadersContradicted     []contradictedFrame `json:"headersContradicted,omitempty"`
		Layouts                 []layoutRequests    `json:"layouts,omitempty"`
		UnknownSerializations   []unknownFrames     `json:"unknownSerializations,omitempty"`
		PacketsUnread           []unreadPackets     `json:"packetsUnread,omitempty"`
	}
	controlBytes struct {
		Protocol string `json:"protocol"`
		Calls    int64  `json:"calls"`
		Bytes    int64  `json:"bytes"`
	}
	otherProtocol struct {
		Protocol    string `json:"protocol"`
		Connections int64  `json:"connections"`
		Bytes       int64  `json:"bytes"`
		Control     bool   `json:"control,omitempty"`

		Handshakes []jsonHandshake `json:"handshakes,omitempty"`
	}
	contradictedFrame struct {
		SerializationID uint8  `json:"serializationId"`
		Header          string `json:"header"`
		Body            string `json:"body"`
		Frames          int64  `json:"frames"`
	}
	layoutRequests struct {
		Layout   string `json:"layout"`
		Requests int64  `json:"requests"`
	}
	unknownFrames struct {
		SerializationID uint8 `json:"serializationId"`
		Frames          int64 `json:"frames"`
	}
	unreadPackets struct {
		Cause   string `json:"cause"`
		Packets int64  `json:"packets"`
	}
	// jsonSaved has what only Read needs: counts, or bytes if the name says so.
	jsonSaved struct {
		Filter                string          `json:"filter,omitempty"`
		Side                  string          `json:"side,omitempty"`
		Stopped               []string        `json:"stopped,omitempty"`
		Packets               *int64          `json:"packets"`
		CompleteBytes         *int64          `json:"completeBytes"`
		Calls                 *int64          `json:"calls"`
		OneWay                *int64          `json:"oneWay"`
		Errors                *int64          `json:"errors"`
		RequestsExpiredByTime *int64          `json:"requestsExpiredByTime"`
		PacketsWithPayload    *int64          `json:"packetsWithPayload"`
		PayloadBytes          *int64          `json:"payloadBytes"`
		DuplicatePackets      *int64          `json:"duplicatePackets"`
		DifferingPackets      *int64          `json:"differingPackets"`
		StrayPackets          *int64          `json:"strayPackets"`
		StrayBytes            *int64          `json:"strayBytes"`
		UnplacedBytes         *int64          `json:"unplacedBytes,omitempty"`
		CallsAborted          *int64          `json:"callsAborted,omitempty"`
		ConnectionsOneSided   *int64          `json:"connectionsOneSided,omitempty"`
		ConnectionsIdle       *int64          `json:"connectionsIdle"`
		ConnectionsForgotten  *int64          `json:"connectionsForgotten"`
		BetweenBytes          *int64          `json:"betweenBytes"`
		LostGaps              *int64          `json:"lostGaps"`
		LostBytes             *int64          `json:"lostBytes"`
		ClockSteps            *int64          `json:"clockSteps"`
		SteadyNanos           Number          `json:"steadyNanos,omitempty"`
		NotTCP                []notTCPPackets `json:"notTcp"`
		SnapLengths           []int           `json:"snapLengths"`
		// Fingerprints is absent if they are not known.
		Fingerprints      *string `json:"fingerprints,omitempty"`
		FingerprintsAbove int64   `json:"fingerprintsAbove,omitempty"`
	}
	notTCPPackets struct {
		Protocol string `json:"protocol"`
		Packets  int64  `json:"packets"`
	}
	// jsonGroup is a group. Its key is written in front of the other members, in the order of the grouping.
	jsonGroup struct {
		Rest   bool   `json:"rest,omitempty"`
		Groups *int64 `json:"groups,omitempty"`

		Protocol              *string         `json:"protocol,omitempty"`
		Serialization         *string         `json:"serialization,omitempty"`
		SerializationID       *int32          `json:"serializationId,omitempty"`
		Service               *string         `json:"service,omitempty"`
		Method                *string         `json:"method,omitempty"`
		Version               *string         `json:"version,omitempty"`
		Client                *string         `json:"client,omitempty"`
		Server                *string         `json:"server,omitempty"`
		Connection            json.Number     `json:"connection,omitempty"`
		Status                json.RawMessage `json:"status,omitempty"`
		Input                 *string         `json:"input,omitempty"`
		Time                  *string         `json:"time,omitempty"`
		DubboVersion          *string         `json:"dubboVersion,omitempty"`
		ResponseSerialization *string         `json:"responseSerialization,omitempty"`
		Encoding              *string         `json:"encoding,omitempty"`
		Product               json.RawMessage `json:"product,omitempty"`
		Side                  *string         `json:"side,omitempty"`

		Calls           *int64        `json:"calls"`
		OneWay          *int64        `json:"oneWay"`
		Errors          *int64        `json:"errors"`
		Exceptions      *int64        `json:"exceptions"`
		Unanswered      *int64        `json:"unanswered"`
		StatusUnknown   *int64        `json:"statusUnknown,omitempty"`
		AnsweredInOther *int64        `json:"answeredInOther,omitempty"`
		Answers         *jsonAnswers  `json:"answers,omitempty"` // only read: see restore
		Rates           struct{}      `json:"rates,omitzero"`    // members of the group
		Request         jsonDirection `json:"request"`
		Response        jsonDirection `json:"response"`
		// The responses by kind. JSON omits all three if responseOk equals response.
		ResponseOK    *jsonDirection `json:"responseOk,omitempty"`
		ResponseOther *jsonDirection `json:"responseOther,omitempty"`
		ResponseError *jsonDirection `json:"responseError,omitempty"`
		LatencyMicros jsonStat       `json:"latencyMicros"`
		WaitMicros    jsonStat       `json:"waitMicros"`
		Parts         []jsonPart     `json:"parts,omitempty"`
		// Sampled is the number of bodies whose bytes are in Parts, if these are not all.
		Sampled *int64       `json:"sampled,omitempty"`
		Anatomy *jsonInside  `json:"anatomy,omitempty"`
		Largest *jsonLargest `json:"largest"`

		// group is the one to write. Its key and its rates are written instead of the fields for them.
		report *Report
		group  *sizes.Group
	}
	// jsonAnswers marks reports of versions that did not separate responses by kind.
	jsonAnswers   struct{}
	jsonDirection struct {
		Count      *int64   `json:"count"`
		BodyBytes  jsonStat `json:"bodyBytes"`
		FrameBytes jsonStat `json:"frameBytes"`
		WireBytes  jsonStat `json:"wireBytes"`
		// UncompressedBytes is present if bodies were compressed, UncompressedCount if the size of some of them is not known.
		UncompressedBytes *jsonStat `json:"uncompressedBytes,omitempty"`
		UncompressedCount *int64    `json:"uncompressedCount,omitempty"`
	}
	// jsonStat is a distribution. If it is empty, all numbers but the total are null.
	jsonStat struct {
		Total   Number     `json:"total"`
		Min     Number     `json:"min"`
		Mean    Number     `json:"mean"`
		P50     Number     `json:"p50"`
		P90     Number     `json:"p90"`
		P95     Number     `json:"p95"`
		P99     Number     `json:"p99"`
		Max     Number     `json:"max"`
		Buckets bucketList `json:"buckets,omitempty"`

		// of is the distribution to write, whose numbers are divided by unit; listed is set if its buckets are written, too.
		of     *sizes.Stat
		unit   int64
		listed bool
	}
	jsonPart struct {
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
	}
	jsonInside struct {
		Request  jsonAnatomy `json:"request"`
		Response jsonAnatomy `json:"response"`
	}
	// jsonAnatomy has the paths of sampled bodies; they add up to Bytes.
	jsonAnatomy struct {
		Messages int64      `json:"messages"`
		Bytes    int64      `json:"bytes"`
		Paths    []jsonPath `json:"paths"`
		// Fields are those with defaults or values that the schema does not have, or without any other value; of FieldMessages bodies.
		FieldMessages int64       `json:"fieldMessages"`
		Fields        []jsonField `json:"fields"`
	}
	jsonField struct {
		Path            string `json:"path"`
		Values          int64  `json:"values"`
		Defaults        int64  `json:"defaults"`
		DefaultBytes    int64  `json:"defaultBytes"`
		UndeclaredBytes int64  `json:"undeclaredBytes,omitempty"`
		NeverSet        bool   `json:"neverSet,omitempty"`
	}
	jsonPath struct {
		Path     string `json:"path"`
		Class    string `json:"class"`
		Bytes    int64  `json:"bytes"`
		Messages int64  `json:"messages"`
	}
	jsonLargest struct {
		File      string `json:"file"`
		Frame     Number `json:"frame"`
		BodyBytes Number `json:"bodyBytes"`
	}
)

// timestamp is a time in nanoseconds since the Unix epoch, RFC 3339 in UTC in JSON.
type timestamp int64

// MarshalText writes the time.
func (t timestamp) MarshalText() ([]byte, error) { return []byte(rfc3339(int64(t))), nil }

// UnmarshalText reads a time that fits into 64 bits of nanoseconds.
func (t *timestamp) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil || at.Year() < 1678 || at.Year() > 2261 {
		return fmt.Errorf("has the invalid time %.60q", text)
	}
	*t = timestamp(at.UnixNano())
	return nil
}

// Number is the text of a JSON number, "" for null. Unlike json.Number it cannot be read from a string.
type Number string

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return []byte(n), nil
}

// UnmarshalJSON accepts numbers and null.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch kind := notNumbers[text[0]]; {
	case kind != "":
		return &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[Number]()}
	case text[0] == 'n':
		*n = ""
	default:
		*n = Number(text)
	}
	return nil
}

// notNumbers names the kinds of other values by their first byte.
var notNumbers = [256]string{'"': "string", '{': "object", '[': "array", 't': "bool", 'f': "bool"}

// decimalOf returns n/unit as an exact decimal number; unit is 1 or 1000.
func decimalOf(n, unit int64) Number {
	var b [24]byte
	return Number(appendDecimal(b[:0], n, unit))
}

// decimal formats f with as many digits as it needs.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// fixed returns the number times unit, if that is an integer; unit is 1 or 1000.
func (n Number) fixed(unit int64) (int64, bool) {
	s := string(n)
	whole, fraction, point := strings.Cut(s, ".")
	digits := 0
	if unit == 1000 {
		digits = 3
	}
	if point && (fraction == "" || len(fraction) > digits) || strings.ContainsAny(s, "eE+") {
		return 0, false
	}
	i, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	return i, err == nil
}

// bucketList is the buckets of a distribution: the greatest number and the count of each.
type bucketList [][2]Number

var (
	errNoBuckets = errors.New("has no buckets; save reports with --buckets")
	errNumber    = errors.New("has an impossible number")
)

// savedPercentiles are those of jsonStat.
var savedPercentiles = [...]float64{50, 90, 95, 99}

// StatJSON returns a distribution of bytes as reports print it in JSON.
func StatJSON(s *sizes.Stat) any { return jsonStat{of: s, unit: 1}.filled() }

// filled returns j with the numbers of the distribution that of is.
func (j jsonStat) filled() jsonStat {
	s, unit := j.of, j.unit
	j.Total = decimalOf(s.Total, unit)
	if s.Count > 0 {
		p := s.Percentiles(savedPercentiles[:]...)
		j.Min, j.Max = decimalOf(s.Min, unit), decimalOf(s.Max, unit)
		j.Mean = Number(decimal(sizes.Round3(s.Mean() / float64(unit))))
		j.P50, j.P90, j.P95, j.P99 = decimalOf(p[0], unit), decimalOf(p[1], unit), decimalOf(p[2], unit), decimalOf(p[3], unit)
	}
	return j
}

// restore returns the distribution that was written.
func (j *jsonStat) restore(unit int64) (sizes.Stat, error) {
	if j.Max == "" {
		if j.Total != "0" || len(j.Buckets) > 0 {
			return sizes.Stat{}, errNumber
		}
		return sizes.Stat{}, nil
	}
	if len(j.Buckets) == 0 {
		return sizes.Stat{}, errNoBuckets
	}
	bad := false
	fixed := func(n Number, unit int64) int64 {
		i, ok := n.fixed(unit)
		bad = bad || !ok
		return i
	}
	list := listOf(j.Buckets, func(b [2]Number) sizes.Bucket {
		return sizes.Bucket{Upper: fixed(b[0], unit), Count: fixed(b[1], 1)}
	})
	total, least, most := fixed(j.Total, unit), fixed(j.Min, unit), fixed(j.Max, unit)
	if bad {
		return sizes.Stat{}, errNumber
	}
	return sizes.Restore(total, least, most, list)
}

// namedStat is a distribution of a group. unit divides its numbers: 1000 for nanoseconds in microseconds.
type namedStat struct {
	name string
	json *jsonStat
	unit int64
}

// stats returns the distributions of a direction.
func (d *jsonDirection) stats(name string) []namedStat {
	return []namedStat{
		{name + ".bodyBytes", &d.BodyBytes, 1}, {name + ".frameBytes", &d.FrameBytes, 1}, {name + ".wireBytes", &d.WireBytes, 1},
	}
}

// times returns the distributions of times.
func (j *jsonGroup) times() []namedStat {
	return []namedStat{{"latencyMicros", &j.LatencyMicros, 1000}, {"waitMicros", &j.WaitMicros, 1000}}
}

// directionStats returns the distributions of a direction in the order of jsonDirection.stats.
func directionStats(d *sizes.Direction) []*sizes.Stat {
	return []*sizes.Stat{&d.Body, &d.Frame, &d.Wire}
}

// statsOf returns the distributions of a group that sums of groups add up.
func statsOf(g *sizes.Group) []*sizes.Stat {
	return slices.Concat(directionStats(&g.Request), directionStats(g.Response()), []*sizes.Stat{&g.Latency, &g.Wait})
}

// jsonDirectionOf returns the JSON of a direction.
func jsonDirectionOf(d *sizes.Direction, buckets bool) jsonDirection {
	var j jsonDirection
	j.Count = &d.Body.Count
	stats := directionStats(d)
	for i, s := range j.stats("") {
		*s.json = jsonStat{of: stats[i], unit: s.unit, listed: buckets}
	}
	if u := d.Uncompressed; u != nil {
		j.UncompressedBytes = &jsonStat{of: u, unit: 1, listed: buckets}
		if u.Count != d.Body.Count {
			j.UncompressedCount = &u.Count
		}
	}
	return j
}

// separateResponses adds the responses by kind.
func (j *jsonGroup) separateResponses(g *sizes.Group, buckets bool) {
	others := cmp.Or(g.NotOK, new(sizes.NotOK))
	for to, d := range map[**jsonDirection]*sizes.Direction{
		&j.ResponseOK: &g.ResponseOK, &j.ResponseOther: &others.Other, &j.ResponseError: &others.Error,
	} {
		one := jsonDirectionOf(d, buckets)
		*to = &one
	}
}

// bindGroup returns a group whose counters point into g.
func bindGroup(g *sizes.Group) jsonGroup {
	return jsonGroup{
		Rest: g.Rest, Groups: &g.Groups, Calls: &g.Calls, OneWay: &g.OneWay, Errors: &g.Errors, Exceptions: &g.Exceptions,
		Unanswered: &g.Unanswered, StatusUnknown: &g.Unknown, AnsweredInOther: &g.OtherAnswers,
	}
}

// jsonGroup sets j to the JSON of a group.
func (r *Report) jsonGroup(j *jsonGroup, g *sizes.Group, buckets bool) {
	parts := j.Parts[:0]
	*j = bindGroup(g)
	j.report, j.group, j.Parts = r, g, parts
	if !g.Rest {
		j.Groups = nil
	}
	j.StatusUnknown, j.AnsweredInOther = nonzero(j.StatusUnknown), nonzero(j.AnsweredInOther)
	j.Request, j.Response = jsonDirectionOf(&g.Request, buckets), jsonDirectionOf(g.Response(), buckets)
	if g.NotOK != nil {
		j.separateResponses(g, buckets)
	}
	for i, s := range j.times() {
		*s.json = jsonStat{of: []*sizes.Stat{&g.Latency, &g.Wait}[i], unit: s.unit, listed: buckets}
	}
	if r.Parts {
		j.setParts(g.Parts())
	} else if r.sampledParts() {
		in := cmp.Or(g.Anatomy, new(sizes.GroupAnatomy))
		sum := in.Classes()
		j.setParts(&sum)
		n := in.Request.Messages + in.Response.Messages
		j.Sampled = &n
	}
	if r.Details && g.Anatomy != nil {
		j.Anatomy = &jsonInside{anatomyOf(&g.Anatomy.Request), anatomyOf(&g.Anatomy.Response)}
	}
	if l := g.Largest; l.Frame > 0 {
		j.Largest = &jsonLargest{r.inputFile(l.File), decimalOf(l.Frame, 1), decimalOf(l.BodyBytes, 1)}
	}
}

// setParts sets Parts to the bytes of each class, without ClassCompressed if there are none.
func (j *jsonGroup) setParts(bytes *sizes.ClassBytes) {
	for c, n := range bytes {
		if decode.Class(c) == decode.ClassCompressed && n == 0 {
			continue
		}
		j.Parts = append(j.Parts, jsonPart{decode.Class(c).String(), n})
	}
}

// sampledParts reports whether JSON and CSV have the bytes of sampled bodies by class, and how many these are.
func (r *Report) sampledParts() bool { return r.Details && r.Inside && !r.Parts }

// inputFile returns the name of an input, "" if there is no such input.
func (r *Report) inputFile(i int) string {
	if i < 0 || i >= len(r.Inputs) {
		return ""
	}
	return r.Inputs[i].File
}

// nonzero returns nil for a counter that is 0, so that it is omitted.
func nonzero(n *int64) *int64 {
	if *n == 0 {
		return nil
	}
	return n
}

func anatomyOf(a *sizes.Anatomy) jsonAnatomy {
	paths := listOf(a.Paths(), func(p sizes.PathSum) jsonPath {
		return jsonPath{p.Path, p.Class.String(), p.Bytes, p.Messages}
	})
	return jsonAnatomy{a.Messages, a.Bytes, paths, a.Fields.Messages, fieldsOf(&a.Fields)}
}

// fieldsOf returns the fields that have defaults or values that the schema does not have, or no value but their default.
func fieldsOf(u *decode.FieldUses) []jsonField {
	list := []jsonField{}
	for _, f := range u.List() {
		never := f.NeverSet() && !u.Lacks()
		if never || f.Defaults > 0 || f.UndeclaredBytes > 0 {
			list = append(list, jsonField{f.Path, f.Set + f.Defaults, f.Defaults, f.DefaultBytes, f.UndeclaredBytes, never})
		}
	}
	return list
}

// value returns a part of the group's key, nil if it is missing.
func (j *jsonGroup) value(k sizes.Key) *string {
	switch k {
	case sizes.Connection:
		if s := string(j.Connection); s != "" {
			return &s
		}
		return nil
	case sizes.Product:
		s := ""
		if len(j.Product) == 0 || json.Unmarshal(j.Product, &s) != nil {
			return nil
		}
		return &s
	case sizes.Status:
		s := string(j.Status)
		if s == "" || s == "null" || s[0] == '"' && json.Unmarshal(j.Status, &s) != nil {
			return nil
		}
		return &s
	}
	s, _ := reflect.ValueOf(j).Elem().Field(slices.Index(groupMembers, string(k))).Interface().(*string)
	return s
}

// groupMembers has the names of the fields of a group in JSON.
var groupMembers = func() (names []string) {
	t := reflect.TypeFor[jsonGroup]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// values returns the parts of the group's key.
func (j *jsonGroup) values(by sizes.By) ([]string, error) {
	if j.Rest {
		return nil, nil
	}
	values := make([]string, len(by.Keys))
	for i, k := range by.Keys {
		v := j.value(k)
		if v == nil {
			return nil, fmt.Errorf("has no %s", k)
		}
		values[i] = *v
	}
	return values, nil
}

// bindBooks returns "wire", "coverage" and "saved" whose counters point into t. When they are written, "notTcpBytes",
// "connections" and "requestsExpired" are replaced by sums or differences.
func bindBooks(t *pipeline.Totals) (*jsonWire, *jsonCoverage, *jsonSaved) {
	wire := &jsonWire{
		LinkBytes: &t.LinkBytes, RPCBytes: &t.RPCBytes, EventBytes: &t.EventBytes, IncompleteBytes: &t.IncompleteBytes,
		RetransmittedBytes: &t.TCP.Repeated, DuplicateBytes: &t.TCP.Duplicate, NotTCPBytes: &t.NotTCPBytes,
		OffloadedPackets: &t.OffloadedPackets,
	}
	coverage := &jsonCoverage{
		TCPPayloadBytes: &t.TCP.Stream, FrameBytes: &t.FrameBytes, SkippedBytes: &t.Skipped, GapBytes: &t.Gap,
		Connections: &t.TCP.Connections, ConnectionsWithoutData: &t.TCP.WithoutData, ConnectionsJoinedMidway: &t.TCP.Joined,
		Frames: &t.Frames, FramesIncomplete: &t.Incomplete, BodiesDecoded: &t.BodiesDecoded, BodiesPartly: &t.BodiesPartly,
		BodiesOpaque: &t.BodiesOpaque, RequestsWithoutResponse: &t.Unanswered, ResponsesWithoutRequest: &t.Orphans,
		Heartbeats: &t.Heartbeats, Events: &t.Events, FramesFoundByResync: &t.Resynced, NegativeLengths: &t.NegativeLengths,
		PacketsWithoutTrailer: &t.WithoutTrailer, RequestsExpired: &t.Expired, RequestsUnnamed: &t.Unnamed, ResponsesWithoutStatus: &t.WithoutStatus,
		ConnectionsExpired: &t.TCP.Expired,
	}
	saved := &jsonSaved{
		Packets: &t.Packets, CompleteBytes: &t.CompleteBytes, Calls: &t.Calls, OneWay: &t.OneWay, Errors: &t.Errors,
		RequestsExpiredByTime: &t.ExpiredByTime, PacketsWithPayload: &t.TCP.Data, PayloadBytes: &t.TCP.Payload,
		DuplicatePackets: &t.TCP.Duplicates, DifferingPackets: &t.TCP.Differing, StrayPackets: &t.TCP.Strays,
		StrayBytes: &t.TCP.Stray, UnplacedBytes: &t.TCP.Unplaced, ConnectionsIdle: &t.TCP.Idle, ConnectionsForgotten: &t.TCP.Forgotten, BetweenBytes: &t.Between,
		CallsAborted: &t.Aborted, ConnectionsOneSided: &t.OneSided, LostGaps: &t.LostGaps, LostBytes: &t.LostBytes, ClockSteps: &t.ClockSteps,
	}
	return wire, coverage, saved
}

// bookCounts returns the counters of some books and their names. must is set for members that are always written.
func bookCounts(books ...any) (counts []**int64, names []string, must []bool) {
	for _, b := range books {
		v := reflect.ValueOf(b).Elem()
		for i := range v.NumField() {
			if p, ok := v.Field(i).Addr().Interface().(**int64); ok {
				name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				counts, names, must = append(counts, p), append(names, name), append(must, options == "")
			}
		}
	}
	return counts, names, must
}

// bookNumbers returns all counters of the totals that Merge adds up.
func bookNumbers(t *pipeline.Totals) []*int64 {
	wire, coverage, saved := bindBooks(t)
	counts, _, _ := bookCounts(wire, coverage, saved)
	numbers := []*int64{&t.FragmentBytes}
	for _, c := range counts {
		numbers = append(numbers, *c)
	}
	return numbers
}

// listOf maps a list to another one, which is never nil.
func listOf[K, V any](keys []K, of func(K) V) []V {
	list := make([]V, len(keys))
	for i, k := range keys {
		list[i] = of(k)
	}
	return list
}

// jsonHead returns the members before "groups".
func (r *Report) jsonHead(buckets bool) *jsonHead {
	t := r.Totals
	h := &jsonHead{Schema: Schema, Inputs: r.jsonInputs(), Seconds: r.Seconds, By: r.keyNames()}
	if r.Golden != nil {
		h.Golden = *r.Golden
	}
	wire, c, saved := bindBooks(t)
	wire.OtherLinkBytes = r.OtherLinkBytes()
	notTCP := t.NotTCPBytes + t.FragmentBytes
	wire.NotTCPBytes = &notTCP
	wire.OtherTCP = listOf(byCount(t.OtherTCP), func(p uint16) portBytes { return portBytes{p, t.OtherTCP[p]} })
	expired := t.Expired + t.ExpiredByTime
	c.Percent, c.OtherBytes, c.Connections, c.ConnectionsWithoutData, c.RequestsExpired = r.Percent(), t.OtherBytes(), &r.Connections, &r.ConnectionsWithoutData, &expired
	c.Other = listOf(t.OtherProtocols(), func(name string) otherProtocol {
		o := t.Other[name]
		return otherProtocol{name, o.Connections, o.Bytes, o.Control, jsonHandshakes(o)}
	})
	if len(t.Control) > 1 || buckets {
		c.Control = listOf(slices.Sorted(maps.Keys(t.Control)), func(name string) controlBytes {
			return controlBytes{name, t.Control[name].Calls, t.Control[name].Bytes}
		})
	}
	if t.BodiesDecoded+t.BodiesPartly+t.BodiesOpaque == 0 {
		c.BodiesDecoded, c.BodiesPartly, c.BodiesOpaque = nil, nil, nil
	}
	for _, n := range []**int64{&c.FramesFoundByResync, &c.NegativeLengths, &c.PacketsWithoutTrailer, &c.RequestsExpired, &c.ConnectionsExpired, &c.RequestsUnnamed, &c.ResponsesWithoutStatus} {
		*n = nonzero(*n)
	}
	c.HeadersContradicted = listOf(contradictions(t), func(k pipeline.Contradiction) contradictedFrame {
		return contradictedFrame{k.HeaderID, k.Header, k.Body, t.Contradicted[k]}
	})
	c.Layouts = listOf(byCount(t.Layouts), func(name string) layoutRequests { return layoutRequests{name, t.Layouts[name]} })
	c.UnknownSerializations = listOf(slices.Sorted(maps.Keys(t.UnknownIDs)), func(id uint8) unknownFrames { return unknownFrames{id, t.UnknownIDs[id]} })
	c.PacketsUnread = listOf(slices.Sorted(maps.Keys(t.Unread)), func(k string) unreadPackets { return unreadPackets{k, t.Unread[k]} })
	h.Wire, h.Coverage = wire, c
	if buckets {
		saved.Side, saved.Stopped = r.Side, r.Stopped
		if p := r.Fingerprints; p != nil {
			text := encodePrints(p.List)
			saved.Fingerprints, saved.FingerprintsAbove = &text, p.Above
		}
		saved.Filter = r.Filter
		for _, n := range []**int64{&saved.UnplacedBytes, &saved.CallsAborted, &saved.ConnectionsOneSided} {
			*n = nonzero(*n)
		}
		if t.ClockSteps > 0 {
			saved.SteadyNanos = decimalOf(t.Steady, 1)
		}
		saved.NotTCP = listOf(slices.Sorted(maps.Keys(t.NotTCP)), func(k string) notTCPPackets { return notTCPPackets{k, t.NotTCP[k]} })
		saved.SnapLengths = listOf(r.Inputs, func(in Input) int { return in.CutTo })
		h.Saved = saved
	}
	return h
}

// jsonInputs returns the inputs with lists that are not nil.
func (r *Report) jsonInputs() []Input {
	return listOf(r.Inputs, func(in Input) Input {
		in.LinkTypes, in.Damage = append([]string{}, in.LinkTypes...), append([]Damage{}, in.Damage...)
		return in
	})
}

// keyNames returns the keys of the grouping as --by takes them.
func (r *Report) keyNames() []string { return listOf(r.By.Keys, r.keyName) }

func (r *Report) keyName(k sizes.Key) string {
	if k == sizes.Time {
		return "time:" + r.By.Step.String()
	}
	return string(k)
}
