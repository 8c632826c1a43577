package stats

// Host has the figures of a host.
type Host struct {
	// Kinds has the figures of all matches by kind, sorted by name: see host.Config.Kind. Counters
	// include those of matches that have ended.
	Kinds []Kind
	// Matches is the number of matches that run. It is a gauge.
	Matches int
	// Endpoint has the counters of the host's endpoint, read once a second. They count datagrams that
	// it dropped, and peers that it refused before a match saw them. Endpoint is empty if the endpoint
	// is not a transport.Counted.
	Endpoint []Count
}

// Kind has the figures of all matches of one kind.
type Kind struct {
	Name    string
	Matches int    // gauge: matches that run
	Begun   uint64 // matches of the kind ever begun
	Sum     Server // figures of all matches of the kind; gauges are sums over running matches
}

// Total returns the sum of all kinds.
func (h *Host) Total() (sum Server) {
	for i := range h.Kinds {
		sum.Add(&h.Kinds[i].Sum)
	}
	return sum
}
