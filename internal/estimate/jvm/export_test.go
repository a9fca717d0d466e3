package jvm

// SetMoreOptions adds options of the Java virtual machine until the test ends.
func SetMoreOptions(options ...string) (undo func()) {
	was := moreOptions
	moreOptions = options
	return func() { moreOptions = was }
}
