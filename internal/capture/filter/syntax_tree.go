package filter

// node is a part of an expression that is true or false for a packet.
type node interface {
	gen(g *gen) *cond
}

type (
	join struct {
		and  bool
		l, r node
	}
	negation struct{ x node }
	// apart is a whole expression within another one: its offsets start at the packet's beginning.
	apart struct{ x node }

	host struct {
		column     int
		addr, mask uint32
		proto      proto // none: IPv4, ARP, RARP
		dir        direction
	}
	host6 struct {
		column     int
		addr, mask [4]uint32
		dir        direction
	}
	etherHost struct {
		column int
		mac    [6]byte
		dir    direction
	}
	port struct {
		column int
		lo, hi uint32
		ranged bool
		proto  uint32 // 0: TCP, UDP, SCTP
		dir    direction
	}
	protoNumber struct {
		column int
		proto  proto // none: IPv4 and IPv6
		number uint32
	}
	protocol struct {
		column int
		proto  proto
	}
	broadcast struct {
		column int
		proto  proto
	}
	multicast struct {
		column int
		proto  proto
	}
	inbound struct {
		column int
		out    bool
	}
	ifindex struct {
		column int
		index  uint32
	}
	// encapsulation is "vlan", "mpls" or "pppoes": what follows it in the text looks inside.
	encapsulation struct {
		column int
		kind   string
		number uint32
		has    bool
	}
	relation struct {
		column int
		op     string
		l, r   arith
	}
)

func (n *join) gen(g *gen) *cond {
	l := n.l.gen(g)
	r := n.r.gen(g)
	if n.and {
		return and(l, r)
	}
	return or(l, r)
}

func (n *negation) gen(g *gen) *cond { return not(n.x.gen(g)) }

func (n apart) gen(g *gen) *cond {
	inner := newGen(g.target)
	c := n.x.gen(inner)
	if g.err == nil {
		g.err = inner.err
	}
	if !inner.shifts {
		return c
	}
	// An earlier expression may or may not have stored its shift.
	g.shifts = true
	return and(&cond{kind: condStore, value: 0}, c)
}
