//go:build !js

package main

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ws"
)

// Behind a proxy, a browser's address is what the proxy wrote last. Whatever else is in the header is
// the browser's own.
func TestProxyHeader(t *testing.T) {
	require.Nil(t, (&options{}).clientAddr())
	at := (&options{proxyHeader: "X-Forwarded-For"}).clientAddr()
	for header, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "10.0.0.1, 192.0.2.7": "192.0.2.7", "2001:db8::1": "2001:db8::1", "192.0.2.7, nonsense": "", "": "",
	} {
		addr := at(&ws.Request{Header: http.Header{"X-Forwarded-For": {header}}}).Addr()
		if want == "" {
			require.False(t, addr.IsValid(), header)
		} else {
			require.Equal(t, netip.MustParseAddr(want), addr, header)
		}
	}
}
