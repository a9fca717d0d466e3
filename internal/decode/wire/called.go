package wire

// Called reports whether an attachment says what is called: its value stays.
func Called(key string) bool {
	switch key {
	case "path", "interface", "version", "group", "dubbo":
		return true
	}
	return false
}
