package ws

// Request is an HTTP request to a server. In a browser it is empty, since there are no servers.
type Request struct{}
