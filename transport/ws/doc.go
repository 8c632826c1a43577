// Package ws carries datagrams over WebSocket (RFC 6455), for browsers and for networks that let nothing else
// through. docs/STANDARD-ws.md describes every message.
//
// A server is both an http.Handler and an endpoint; its http.Server handles TLS, paths and reverse proxies. A native
// client uses github.com/coder/websocket; a client compiled to js/wasm uses the browser's own WebSocket.
//
//	srv, err := ws.NewServer(ws.Config{})
//	web := &http.Server{Addr: ":443", Handler: srv, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second,
//		MaxHeaderBytes: 16 << 10}
//	go web.ListenAndServeTLS("cert.pem", "key.pem")
//
//	cli, err := ws.Dial("wss://play.example.com/", ws.Config{Token: ticket})
//
// Listen is shorter, and brings an http.Server without TLS.
//
// # Limits
//
// A server drops clients that are slow or silent before they play: the handshake and the hello each have
// Config.Timeout. Config.MaxPending and MaxPendingPerAddr limit connections without a hello, MaxConns limits all
// connections, and ControlRate limits pings and keep-alives. Config.ClientAddr finds the address of clients of a
// reverse proxy.
//
// Listen enforces all of these. With a custom http.Server, set its limits for the time before it calls the handler,
// as in the example above. Without ReadHeaderTimeout a client may take forever to send its header. Without
// IdleTimeout it may hold connections of other handlers. Without MaxHeaderBytes a header may be a megabyte long. An
// http.Server does not limit connections: give it a listener that does (golang.org/x/net/netutil.LimitListener), or
// put a reverse proxy in front. From the handler on, the Server's own limits apply whatever the http.Server's
// settings: it closes the connections that it refuses.
//
// WebSocket runs over TCP: nothing is lost or reordered (Info.Ordered is true), but a lost TCP segment
// delays all later data until it is sent again. Data that the endpoint cannot send yet waits in a
// queue. The first datagram after a Flush replaces the datagrams to the same peer that still wait: see
// Counters.Replaced. Datagrams sent between two calls of Flush, or within 2 ms, wait together, up to
// Config.SendQueue bytes. Beyond that, a new datagram pushes out the oldest. So Send never waits, and a
// slow connection gets the newest state.
//
// The server refuses scripts on pages of other hosts, unless Config.Origins or Config.AnyOrigin allows them.
// Datagrams are as secure as TLS makes them: Info.Secure reports whether this end of the connection uses it.
//
// A server has one goroutine for its timers and two for each connection; a client has three in total. All end with
// Close.
//
// Compatibility: promised, but for the names that docs/COMPATIBILITY.md lists.
package ws
