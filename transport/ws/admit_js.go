package ws

// serveHello is for servers. A page has no server, and the program is smaller without this code.
func (e *Endpoint) serveHello(*peer, []byte) {}
