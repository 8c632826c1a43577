package host

import "slices"

// Draining reports whether Drain or Shutdown was called.
func (h *Host) Draining() bool { return h.drains.Load() != nil }

// Identities appends the identities of the peers in all matches to dst, sorted and each once.
// Peers without an identity are left out.
func (h *Host) Identities(dst []string) []string {
	n := len(dst)
	h.mu.Lock()
	for _, m := range h.matches {
		dst = m.port.identities(dst)
	}
	h.mu.Unlock()
	slices.Sort(dst[n:])
	return append(dst[:n], slices.Compact(dst[n:])...)
}

// identities appends the identities of a match's peers.
func (p *port) identities(dst []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.peers {
		if len(r.identity) > 0 {
			dst = append(dst, string(r.identity))
		}
	}
	return dst
}
