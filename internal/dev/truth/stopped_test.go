package truth

// Formats whose values have no end that can be seen without classes stop where one of the application's begins: what came
// after it is not there, everything before it has to be right.

// stopped reports whether reading stopped inside v, where that may be.
func (c *comparer) stopped(v any) bool {
	return !c.full && unread(v)
}

// unread reports whether the end of v is opaque.
func unread(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && unread(v[len(v)-1])
	case map[string]any:
		if v["@opaque"] != nil || v["#opaque"] != nil {
			return true
		}
		for _, member := range v { // the last of them cannot be told: JSON objects have no order
			if unread(member) {
				return true
			}
		}
	}
	return false
}
