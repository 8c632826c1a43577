package transport

import "net/netip"

// Accept decides on a client that asks an endpoint to be let in. It returns the identity to show in
// [Info], or an error to refuse the client. A *[DisconnectError] sets the code, any other error refuses
// with [Refused], and the client receives the error's text. An error with a method Reason() string,
// which returns one word, is counted by that word. token is valid during the call. Calls are made one at
// a time, so Accept must not block. It may call the endpoint.
type Accept func(addr netip.AddrPort, token []byte) (identity []byte, err error)
