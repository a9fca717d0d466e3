package capture

// Privileges are what a process keeps when it gives up the others.
type Privileges struct {
	// User is who the process becomes: a name or a number; "" stays who it is.
	User string
}
