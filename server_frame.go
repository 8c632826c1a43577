package foretick

// serverFrame is the end of a server's frames: what a frame asks for is done by the part that it
// concerns. Systems, handlers and hooks reach the server through it alone.
type serverFrame struct {
	*serverEntities
	*panics
	*kicks
	*serverInterest
	*mail
	*requests
}
