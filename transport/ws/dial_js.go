//go:build js

package ws

import "context"

// Dial returns a client's endpoint that connects to a server, such as "wss://play.example.com/game". It does not wait:
// Connected follows, or Disconnected with Refused (or the code that the server's hook chose), Full, Timeout when nobody
// answers, or Unreachable: a browser does not tell its scripts why a handshake failed. Errors: what is wrong with the
// config or the URL.
func Dial(url string, cfg Config) (*Endpoint, error) {
	return dialBy(url, cfg, func(ctx context.Context, url string, _ func() bool) (socket, string, error) {
		s, err := openBrowser(ctx, url)
		if err != nil {
			return nil, "", err
		}
		return s, "", nil
	})
}
