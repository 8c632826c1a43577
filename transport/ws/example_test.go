//go:build !js

package ws_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// A server as a handler of an http.Server, and a client.
func Example() {
	srv, err := ws.NewServer(ws.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")
	web := httptest.NewServer(srv) // in production, an http.Server
	defer web.Close()
	cli, err := ws.Dial("ws"+strings.TrimPrefix(web.URL, "http"), ws.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cli.Close(transport.Closed, "")

	var events [1]transport.Event // package udp's example shows a game's loop
	for cli.Recv(events[:]) == 0 {
		<-cli.Ready()
	}
	var info transport.Info
	cli.Info(events[0].Peer, &info)
	fmt.Printf("%v, in order: %v\n", events[0].Kind, info.Ordered)
	// Output:
	// connected, in order: true
}

// A server runs behind a reverse proxy, which appends the address of each request to X-Forwarded-For.
// The proxy wrote only the last entry; the client may have written those before it. The header is
// trusted only in the proxy's requests.
func ExampleConfig_clientAddr() {
	proxy := netip.MustParsePrefix("10.0.0.0/24") // only the proxy connects from here
	clientAddr := func(r *http.Request) netip.AddrPort {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !proxy.Contains(from.Addr().Unmap()) {
			return netip.AddrPort{} // RemoteAddr is used
		}
		lines := r.Header.Values("X-Forwarded-For")
		if len(lines) == 0 {
			return netip.AddrPort{}
		}
		hops := strings.Split(lines[len(lines)-1], ",")
		client, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1]))
		if err != nil {
			return netip.AddrPort{}
		}
		return netip.AddrPortFrom(client, 0) // the proxy does not report the port
	}
	srv, err := ws.NewServer(ws.Config{ClientAddr: clientAddr})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close(transport.Closed, "")

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Forwarded-For", "192.0.2.66, 203.0.113.7")
	r.RemoteAddr = "10.0.0.4:5555"
	fmt.Println("from the proxy:", clientAddr(r).Addr())
	r.RemoteAddr = "198.51.100.9:5555"
	fmt.Println("from elsewhere, believed:", clientAddr(r).IsValid())
	// Output:
	// from the proxy: 203.0.113.7
	// from elsewhere, believed: false
}
