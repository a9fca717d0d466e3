package measure

import (
	"net/netip"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
)

// Machines returns the capturing machine of each input: the addresses that the user gave, else those of the interfaces that the inputs
// name. Inputs of one source share them; apart is as in [pipeline.Options]. The error is that the filter needs addresses and there are none.
func (in *Input) Machines(inputs []capture.Input, apart []int) ([]*call.Machine, error) {
	var f Filter
	if in.Filter != nil {
		f = *in.Filter
	}
	bySource := make(map[int]*call.Machine)
	machines := make([]*call.Machine, len(inputs))
	for i := range inputs {
		source := 0
		if apart != nil {
			source = apart[i]
		}
		m := bySource[source]
		if m == nil {
			m = new(call.Machine)
			bySource[source] = m
			for _, p := range f.Self {
				m.Add(p)
			}
		}
		if machines[i] = m; f.Self != nil {
			continue
		}
		for _, p := range inputs[i].Machine {
			m.Add(netip.PrefixFrom(p.Addr(), p.Addr().BitLen()))
		}
	}
	for i, m := range machines {
		if f.Side != "" && !m.Known() && inputs[i].Err == nil {
			return machines, exit.Usagef("--side %s: %s does not state the addresses of the capturing machine; give them: --self ADDRESS", f.Side, inputs[i].File)
		}
	}
	return machines, nil
}
