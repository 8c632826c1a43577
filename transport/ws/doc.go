// Package ws carries datagrams over WebSocket (RFC 6455), for browsers and for networks that let nothing else
// through. docs/STANDARD-ws.md holds the format of every message.
//
// A server is an http.Handler as well as an endpoint; TLS, paths and reverse proxies are its http.Server's affair. A
// client runs natively, over github.com/coder/websocket, and compiled to js/wasm, over the browser's own WebSocket.
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
// A server cuts off who is slow, or says nothing, before it plays: the handshake and the hello have Config.Timeout each.
// Who has not said hello yet is bounded by Config.MaxPending and MaxPendingPerAddr, all connections by MaxConns, and
// pings and keep-alives by ControlRate. Config.ClientAddr finds the address of clients behind a reverse proxy.
//
// Listen enforces all of it. An http.Server of your own must bound what it does before it calls the handler, as the
// example above does: without ReadHeaderTimeout a client may send its header for ever, without IdleTimeout it may keep
// the connections of other handlers, and without MaxHeaderBytes a header may have a megabyte. It has no limit on
// connections: give it a listener that has one (golang.org/x/net/netutil.LimitListener), or a reverse proxy in front.
// From the handler on, the Server's own limits hold whatever the http.Server is set to: what it refuses, it closes.
//
// WebSocket runs over TCP: nothing is lost or overtaken (Info.Ordered is true), and what is lost on the way holds up
// all that comes after it until it was sent again. What an endpoint cannot pass on waits in a bounded queue, where the
// newest datagram takes the place of the oldest: Send never waits, and nothing that is older than the queue is sent.
//
// A connection is refused to the scripts of pages of other hosts, unless Config.Origins or Config.AnyOrigin allows
// them. Datagrams are as safe as TLS makes them: Info.Secure tells whether this end of the connection uses it.
//
// A server has a goroutine for its timers and two for each connection, a client three in all; all end with Close.
package ws
