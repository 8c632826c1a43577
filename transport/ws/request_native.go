//go:build !js

package ws

import "net/http"

// Request is an HTTP request to a server. In a browser, where there are no servers, it is empty, so
// that programs for browsers need not include net/http.
type Request = http.Request
