// Package ws carries datagrams over WebSocket (RFC 6455), for browsers and for networks that let nothing else
// through. docs/STANDARD-ws.md holds the format of every message.
//
// A server is an http.Handler as well as an endpoint; TLS, paths and reverse proxies are its http.Server's affair. A
// client runs natively, over github.com/coder/websocket, and compiled to js/wasm, over the browser's own WebSocket.
//
//	srv, err := ws.NewServer(ws.Config{})
//	web := &http.Server{Addr: ":443", Handler: srv, ReadHeaderTimeout: 5 * time.Second}
//	go web.ListenAndServeTLS("cert.pem", "key.pem")
//
//	cli, err := ws.Dial("wss://play.example.com/", ws.Config{Token: ticket})
//
// Listen is shorter, and brings an http.Server without TLS.
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
