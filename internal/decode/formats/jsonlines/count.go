package jsonlines

type frame struct{}

func (r *Reader) count() bool { return false }
