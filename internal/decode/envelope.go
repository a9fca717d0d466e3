package decode

// TextField records the string that was read since the last node as field name and returns what [Reader.Text] returns.
func (r *Recorder) TextField(name, s string, null bool) (string, bool) {
	kind := String
	if null {
		kind = Null
	}
	if n := r.Leaf(kind, ByField, name, 0); n != nil && r.Values() {
		n.Text = s
	}
	r.Settle(r.Tree.Depth())
	if !r.OK() {
		return "", false
	}
	return s, null
}

// IntField records the integer that was read since the last node as field name and returns it, 0 after an error.
func (r *Recorder) IntField(name string, v int32) int32 {
	r.Leaf(Int, ByField, name, 0).SetNum(int64(v))
	r.Settle(r.Tree.Depth())
	if !r.OK() {
		return 0
	}
	return v
}

// EndText ends [Reader.SkipText]: the string that was read since the last node has no node.
func (r *Recorder) EndText() {
	r.Pass()
	r.Settle(r.Tree.Depth())
}

// ResultKind takes a result kind that is one byte; see [Reader.ResultKind].
func (r *Recorder) ResultKind() byte {
	b := r.Byte("a result kind")
	if b > 5 {
		r.Fail(Malformed, "a result kind, 0 to 5", HexByte(b))
	}
	return r.KindField(int64(b))
}

// KindField records the result kind that was read since the last node and returns it, 0 after an error.
func (r *Recorder) KindField(kind int64) byte {
	r.Leaf(Int, ByField, "flag", 0).SetNum(kind)
	r.Settle(r.Tree.Depth())
	if !r.OK() {
		return 0
	}
	return byte(kind)
}
