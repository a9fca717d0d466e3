package filter

// node is a part of an expression that is true or false for a packet: it generates its condition.
type node func(g *gen) *cond

// leaf returns the node of a test. Errors of the test name the column of the token.
func leaf(t token, test func(g *gen) *cond) node {
	return func(g *gen) *cond {
		g.column = t.column
		return test(g)
	}
}

// join joins two nodes with "and" or "or".
func join(op string, l, r node) node {
	joined := or
	if op == "&&" {
		joined = and
	}
	return func(g *gen) *cond { return joined(l(g), r(g)) }
}

func negation(x node) node {
	return func(g *gen) *cond { return not(x(g)) }
}

// apart is a whole expression within another one: its offsets start at the packet's beginning.
func apart(x node) node {
	return func(g *gen) *cond {
		inner := newGen(g.target)
		c := x(inner)
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
}
