package session

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
	pcapfilter "dubbo-wire/internal/capture/filter"
	"dubbo-wire/internal/exit"
)

// kernelFilter is the filter that runs in the kernel: the expression, and the flags --port and --host as far as the kernel
// can check them.
type kernelFilter struct {
	expr *pcapfilter.Expr
	code []bpf.RawInstruction // instead of expr: the output of tcpdump -ddd
	// text is the expression and the flags, for reports.
	text string
}

func (c *Config) kernelFilter() (*kernelFilter, error) {
	k := &kernelFilter{}
	if pcapfilter.IsDDD(c.Expression) {
		code, err := pcapfilter.ParseDDD(c.Expression)
		if err != nil {
			return nil, exit.Usagef("filter expression: %v", err)
		}
		k.code, k.text = code, fmt.Sprintf("tcpdump -ddd (%d instructions)", len(code))
		return k, nil
	}
	var err error
	if k.expr, err = pcapfilter.Parse(c.Expression); err != nil {
		return nil, exit.Usagef("filter expression: %v", err)
	}
	var texts []string
	if c.Expression != "" {
		texts = append(texts, c.Expression)
	}
	join := func(e *pcapfilter.Expr, text string) {
		k.expr = pcapfilter.And(k.expr, e)
		texts = append(texts, text)
	}
	if len(c.Ports) > 0 {
		ports := make([]uint16, len(c.Ports))
		for i, p := range c.Ports {
			ports[i] = uint16(p)
		}
		join(pcapfilter.Ports(ports), "--port "+joined(c.Ports))
	}
	if hosts := literalHosts(c.Hosts); hosts != nil {
		join(pcapfilter.Hosts(hosts), "--host "+strings.Join(c.Hosts, ","))
	}
	k.text = strings.Join(texts, " ")
	return k, nil
}

func joined(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// literalHosts returns the addresses of --host, or nil if one of them is a pattern, which the kernel cannot check.
func literalHosts(hosts []string) []netip.Addr {
	var all []netip.Addr
	for _, h := range hosts {
		a, err := netip.ParseAddr(strings.Trim(h, "[]"))
		if err != nil || a.Zone() != "" {
			return nil
		}
		all = append(all, a)
	}
	return all
}

// compile returns the program for a link type.
func (k *kernelFilter) compile(link capture.LinkType, snapLen int) ([]bpf.RawInstruction, error) {
	target := pcapfilter.Target{Link: link, Kernel: true, SnapLen: snapLen}
	code, err := k.code, error(nil)
	if code != nil {
		code, err = pcapfilter.Adapt(code, target)
	} else {
		code, err = k.expr.Compile(target)
	}
	if err != nil {
		return nil, exit.Usagef("filter expression: %v", err)
	}
	return code, nil
}
