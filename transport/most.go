package transport

// Limited is a server's Endpoint with a limit on the number of peers. [As] finds it.
type Limited interface {
	Endpoint

	// MaxPeers returns the most peers that the endpoint accepts, or 0 if that is not known.
	MaxPeers() int
}
