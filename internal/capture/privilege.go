package capture

// Sockets are the numbers of packet sockets that a process has been given: one that sees link headers, and one that does
// not. 0 is none.
type Sockets struct{ Raw, Cooked int }

// Privileges are what a process keeps when it gives up the others.
type Privileges struct {
	// User is who the process becomes: a name or a number; "" stays who it is.
	User string
}
