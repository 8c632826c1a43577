package ws

// Request is an HTTP request that came to a server: there are no servers in a browser.
type Request struct{}
