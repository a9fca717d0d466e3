package findings

// Sensitive lets k take small answers for large ones and short waits for long ones, as quick networks have them.
func (k *Collector) Sensitive(answer int, wait int64) { k.largeFrom, k.waitFrom = answer, wait }

// Kinds are the names of all rules.
func Kinds() (list []string) {
	for _, r := range rules {
		list = append(list, r.kind)
	}
	return list
}
