package classfile

// Strings returns the texts that the code of a class has as constants, in the order of its constant pool. Its file is read again: few
// classes are asked for texts.
func (t *Types) Strings(class string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, place, err := t.data(class)
	if err != nil {
		return nil, err
	}
	p := parser{r: &reader{b: data}}
	if p.class(); p.r.err != nil {
		return nil, located(place, p.r.err)
	}
	var all []string
	for i := range p.pool.at {
		if n := p.pool.ref(i, tagString, 0); n > 0 {
			all = append(all, p.pool.text(p.r, n, "a string"))
		}
	}
	if p.r.err != nil {
		return nil, located(place, p.r.err)
	}
	return all, nil
}
