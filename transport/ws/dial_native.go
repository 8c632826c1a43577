//go:build !js

package ws

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/foretick/foretick/transport"
)

// Dial returns a client's endpoint that connects to a server, such as "wss://play.example.com/game" or
// "ws://192.0.2.7:8080". It does not wait: a Connected or a Disconnected event follows. The code of a Disconnected
// event is Refused (or the code that the server's hook chose), Full, Timeout (no reply), or Unreachable (the network,
// or HTTP, reports that there is no server). Dial returns an error for a faulty config or URL, with every fault.
func Dial(url string, cfg Config) (*Endpoint, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
		DialContext: (&net.Dialer{}).DialContext, TLSHandshakeTimeout: 10 * time.Second}
	return DialWith(&http.Client{Transport: t}, url, cfg)
}

// DialWith is Dial with the caller's HTTP client, for custom certificates, proxies and headers. It does not exist in
// a browser.
func DialWith(client *http.Client, url string, cfg Config) (*Endpoint, error) {
	return dialBy(url, cfg, func(ctx context.Context, url string, tolerated func() bool) (socket, string, error) {
		var conn net.Conn
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) { conn = i.Conn }})
		c, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{Subprotocol},
			OnPingReceived: onPing(tolerated), OnPongReceived: onPong(tolerated)})
		if err != nil {
			return nil, "", notDialled(resp, err)
		}
		if c.Subprotocol() != Subprotocol {
			newSocket(c, conn).freeSocket()
			return nil, "", &transport.DisconnectError{Code: transport.Mismatch, Reason: "the server does not speak " + Subprotocol}
		}
		if conn == nil {
			return newSocket(c, nil), "", nil
		}
		return newSocket(c, conn), conn.RemoteAddr().String(), nil
	})
}

// notDialled translates the failure of a handshake.
func notDialled(resp *http.Response, err error) error {
	code, reason := transport.Unreachable, err.Error()
	if resp != nil {
		reason = strings.TrimSpace(fmt.Sprintf("HTTP status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
		switch resp.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			code, reason = transport.Refused, reason+": the server, or a proxy before it, lets nobody in from here"
		case http.StatusTooManyRequests:
			code = transport.Full
		case http.StatusBadRequest, http.StatusUpgradeRequired:
			code, reason = transport.Mismatch, reason+": this address is no server of the game, or a proxy before it does not pass the WebSocket handshake on"
		}
	}
	return &transport.DisconnectError{Code: code, Reason: reason}
}
