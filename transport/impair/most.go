package impair

import "github.com/foretick/foretick/transport"

var _ transport.Limited = (*Endpoint)(nil)

// MaxPeers implements transport.Limited: it returns the wrapped endpoint's
// limit.
func (e *Endpoint) MaxPeers() int {
	if l, ok := e.inner.(transport.Limited); ok {
		return l.MaxPeers()
	}
	return 0
}
