package capture

// Sockets are file descriptors of packet sockets that the process was given: one that sees link headers and one that
// does not. 0 means none.
type Sockets struct{ Raw, Cooked int }

// Privileges are what a process keeps when it drops the others.
type Privileges struct {
	// User is the user that the process becomes, as a name or a number; "" does not change it.
	User string
}
