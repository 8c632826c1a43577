package ws

import "github.com/foretick/foretick/transport"

var _ transport.Limited = (*Endpoint)(nil)

// MaxPeers implements transport.Limited: it returns Config.MaxPeers.
func (e *Endpoint) MaxPeers() int { return e.cfg.MaxPeers }
