package ws

// serveHello is a server's: a page has none, and is smaller without.
func (e *Endpoint) serveHello(*peer, []byte) {}
