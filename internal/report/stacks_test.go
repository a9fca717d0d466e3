package report_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// taken makes calls whose bodies were sampled: each path of a body has so many bytes.
type taken struct {
	groups *sizes.Aggregator
	by     sizes.By
	conn   *call.Conn
}

func newTaken(t *testing.T, by string, maxGroups int) *taken {
	b := sizes.DefaultBy()
	if by != "" {
		var err error
		b, err = sizes.ParseBy(by)
		require.NoError(t, err)
	}
	return &taken{sizes.New(b, maxGroups, nil), b, &call.Conn{Number: 1, Ends: [2]string{"10.0.0.5:1", "10.0.0.9:20880"}}}
}

func (k *taken) message(flags byte, serialization string, paths []decode.PathBytes, looked bool) *call.Message {
	m := &call.Message{Sampled: looked, Details: new(call.Details)}
	m.Summary = rpc.Summary{Protocol: dubbo.Protocol, Complete: true, Serialization: serialization, ResultKind: -1, HeaderLen: dubbo.HeaderLen, Ends: true}
	for _, p := range paths {
		m.BodyLen += int(p.Bytes)
	}
	m.Request, m.TwoWay, m.SerializationID = flags&0x80 != 0, flags&0x40 != 0, 2
	if looked && len(paths) > 0 {
		m.Sample = &call.Sample{Paths: decode.PackPaths(paths, new(decode.KeyCache[decode.PathKey]))}
	}
	return m
}

func (k *taken) call(serialization, service, method string, looked bool, request, response []decode.PathBytes) {
	c := &call.Call{Conn: k.conn, Request: k.message(0xc0, serialization, request, looked)}
	c.Request.Operation = &rpc.Operation{Service: service, Method: method}
	if response != nil {
		c.Response = k.message(0, serialization, response, looked)
		c.Response.Status = dubbo.StatusOK
	}
	k.groups.Call(c)
}

func (k *taken) report() *report.Report {
	return report.Build(nil, &pipeline.Totals{}, k.by, k.groups.Groups())
}

var (
	askPaths = []decode.PathBytes{
		{Path: "dubboVersion", Class: decode.ClassEnvelope, Bytes: 6},
		{Path: "args[0].#class", Class: decode.ClassNames, Bytes: 20},
		{Path: "args[0].user.name", Class: decode.ClassValues, Bytes: 11},
		{Path: "args[0].user.name", Class: decode.ClassOverhead, Bytes: 1},
		{Path: `attachments["a;b.c\"]"]`, Class: decode.ClassAttachments, Bytes: 30},
	}
	answerPaths = []decode.PathBytes{{Path: "result[*]", Class: decode.ClassValues, Bytes: 400}, {Path: "opaque", Class: decode.ClassOpaque, Bytes: 7}}
)

func sampleOf(by string, t *testing.T, maxGroups int) *report.Report {
	k := newTaken(t, by, maxGroups)
	for range 3 {
		k.call("hessian2", "com.acme.订单", "get", true, askPaths, answerPaths)
	}
	k.call("kryo", "com.acme.订单", "get", true, askPaths, answerPaths)
	k.call("hessian2", "com.acme.订单", "get", false, askPaths, answerPaths)
	k.call("hessian2", "evil;name\n", "a b", true, askPaths, nil)
	k.call("hessian2", "late", "unseen", false, askPaths, nil)
	k.call("hessian2", "empty", "none", true, []decode.PathBytes{}, []decode.PathBytes{})
	return k.report()
}

// frameBytes is what profiles of a report must add up to.
func frameBytes(r *report.Report) (bytes, requests, responses int64) {
	for _, g := range r.Groups {
		bytes += g.Request.Frame.Total + g.Response().Frame.Total
		requests += g.Request.Frame.Count
		responses += g.Response().Frame.Count
	}
	return bytes, requests, responses
}

func TestFolded(t *testing.T) {
	r := sampleOf("", t, 0)
	var b bytes.Buffer
	require.NoError(t, r.WriteFolded(&b))
	assert.Equal(t, `com.acme.订单;get;request;args[0];#class 100
com.acme.订单;get;request;args[0];user;name 60
com.acme.订单;get;request;attachments;["a\x3bb.c\"]"] 150
com.acme.订单;get;request;dubboVersion 30
com.acme.订单;get;request;header 80
com.acme.订单;get;response;header 80
com.acme.订单;get;response;opaque 35
com.acme.订单;get;response;result;[*] 2000
empty;none;request;header 16
empty;none;response;header 16
evil\x3bname\n;a b;request;args[0];#class 20
evil\x3bname\n;a b;request;args[0];user;name 12
evil\x3bname\n;a b;request;attachments;["a\x3bb.c\"]"] 30
evil\x3bname\n;a b;request;dubboVersion 6
evil\x3bname\n;a b;request;header 16
late;unseen;request;(not sampled) 68
late;unseen;request;header 16
`, b.String())
}

func TestStackKeysLead(t *testing.T) {
	for by, first := range map[string]string{
		"client,method":                "10.0.0.5;a b;request;args[0];#class 20",
		"method,service,serialization": `hessian2;com.acme.订单;get;request;args[0];#class 80`,
		"serialization":                "hessian2;request;args[0];#class 120",
		"status":                       "20;request;args[0];#class 100",
		"version":                      "(empty);request;args[0];#class 140",
	} {
		var b bytes.Buffer
		require.NoError(t, sampleOf(by, t, 0).WriteFolded(&b))
		line, _, _ := strings.Cut(b.String(), "\n")
		assert.Equal(t, first, line, by)
	}
}

// Both formats have all bytes of all groups, however these are grouped, and also where there are too many of them.
func TestStacksAddUp(t *testing.T) {
	for _, by := range []string{"", "client", "status,service", "serialization,method,connection"} {
		for _, groups := range []int{0, 1} {
			r := sampleOf(by, t, groups)
			want, requests, responses := frameBytes(r)
			var folded, pprof, again bytes.Buffer
			require.NoError(t, r.WriteFolded(&folded))
			sum := int64(0)
			for line := range strings.Lines(folded.String()) {
				n, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 10, 64)
				require.NoError(t, err)
				sum += n
			}
			assert.Equal(t, want, sum)
			require.NoError(t, r.WritePprof(&pprof))
			require.NoError(t, r.WritePprof(&again))
			assert.Equal(t, pprof.Bytes(), again.Bytes())
			p, err := profile.Parse(&pprof)
			require.NoError(t, err)
			require.NoError(t, p.CheckValid())
			assert.Equal(t, "bytes", p.DefaultSampleType)
			sums := make([]int64, 3)
			for _, s := range p.Sample {
				for i, v := range s.Value {
					sums[i] += v
				}
			}
			assert.Equal(t, []int64{want, requests, responses}, sums)
		}
	}
}

func TestPprofOpens(t *testing.T) {
	testkit.Needs(t, "the pprof of the Go toolchain, which it builds")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	name := filepath.Join(t.TempDir(), "sizes.pprof")
	var b bytes.Buffer
	require.NoError(t, sampleOf("", t, 0).WritePprof(&b))
	require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
	for index, want := range map[string][]string{
		"bytes":     {"of 2735B total", "com.acme.订单", "header"},
		"requests":  {"of 8 total"},
		"responses": {"of 6 total"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-sample_index="+index, name)
		out, err := cmd.Output()
		require.NoError(t, err, "%s", out)
		for _, w := range want {
			assert.Contains(t, string(out), w)
		}
	}
}

func TestPathSegments(t *testing.T) {
	for path, want := range map[string][]string{
		"args[0].user.name":        {"args[0]", "user", "name"},
		"args[12]":                 {"args[12]"},
		"args[0].tags[*].#length":  {"args[0]", "tags", "[*]", "#length"},
		`result["a.b"]["c\"]d"].e`: {"result", `["a.b"]`, `["c\"]d"]`, "e"},
		"attachments.*":            {"attachments", "*"},
		"attachments.dubbo":        {"attachments", "dubbo"},
		"(other)":                  {"(other)"},
		"#trailing":                {"#trailing"},
		`result["never ends`:       {"result", `["never ends`},
		"result[never":             {"result", "[never"},
		`result["bad"x]`:           {"result", `["bad"x]`},
		"a..b":                     {"a", "b"},
		"":                         nil,
	} {
		assert.Equal(t, want, report.PathSegments(path), path)
	}
}
