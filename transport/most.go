package transport

// Limited is a server's Endpoint that takes no more than a number of peers at once. Who wraps an endpoint passes it on.
type Limited interface {
	Endpoint

	// MaxPeers returns how many peers the endpoint takes; 0 when it does not say.
	MaxPeers() int
}
