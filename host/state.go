package host

import "slices"

// Draining reports whether Drain or Shutdown was called.
func (h *Host) Draining() bool { return h.drains.Load() != nil }

// Limits returns Config.MaxMatches and Config.MaxPlayers, with their defaults. Of players, 0 means
// no limit.
func (h *Host) Limits() (matches, players int) { return h.cfg.MaxMatches, h.cfg.MaxPlayers }

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
