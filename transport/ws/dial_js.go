//go:build js

package ws

import "context"

// Dial returns a client's endpoint that connects to a server, such as "wss://play.example.com/game". It does not wait:
// a Connected event follows, or a Disconnected event. Its code is Refused (or the code that the server's hook chose),
// Full, Timeout (no reply), or Unreachable, because a browser hides from its scripts why a handshake failed. Dial
// returns an error for a faulty config or URL.
func Dial(url string, cfg Config) (*Endpoint, error) {
	return dialBy(url, cfg, func(ctx context.Context, url string, _ func() bool) (socket, string, error) {
		s, err := openBrowser(ctx, url)
		if err != nil {
			return nil, "", err
		}
		return s, "", nil
	})
}
