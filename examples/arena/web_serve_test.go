//go:build !js

package main

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/ws"
)

// -web returns an error if a toolchain or an address is missing, or if flags of other modes are set.
func TestWebFaults(t *testing.T) {
	var out strings.Builder
	require.ErrorContains(t, run(t.Context(), []string{"-web", "8080"}, &out), "use an address such as :8080")
	require.ErrorContains(t, run(t.Context(), []string{"-web", ":0", "-log", "x"}, &out), "-web excludes -log")
	t.Setenv("PATH", t.TempDir())
	err := run(t.Context(), []string{"-web", ":0"}, &out)
	require.ErrorContains(t, err, "install Go from https://go.dev/dl")
	require.Equal(t, 1, exitCode(err, io.Discard))
}

// hosted plays a match at an address of -web, and returns the address that it prints.
func hosted(t *testing.T, at string) string {
	t.Helper()
	o, err := parse([]string{"-web", at, "-clients", "1", "-seconds", "0"}, io.Discard)
	require.NoError(t, err)
	at, err = webAddress(o.web)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := hostWeb(ctx, o, at, webClient{}, write)
		_ = write.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	_, rest, _ := strings.Cut(line, "http://")
	addr, _, _ := strings.Cut(rest, "/")
	return addr
}

// Pages of other hosts cannot reach the match, since it shows what the server knows. Nor can clients
// that connect through a proxy. That is so at each address of this machine.
func TestWebRefusesOtherHosts(t *testing.T) {
	t.Parallel()
	all := []string{":0", "127.0.0.1:0", "localhost:0"}
	for _, at := range []string{"127.0.0.2:0", "[::1]:0"} { // not every machine has them
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Log("not on this machine: ", err)
			continue
		}
		require.NoError(t, l.Close())
		all = append(all, at)
	}
	for _, at := range all {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			addr := hosted(t, at)
			_, port, err := net.SplitHostPort(addr)
			require.NoError(t, err)
			status := func(path, host string, more http.Header) int {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
				require.NoError(t, err)
				r.Host = host
				if path == "/truth" || path == "/play" {
					r.Header = http.Header{
						"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Origin": {"http://" + host},
						"Sec-Websocket-Protocol": {ws.Subprotocol}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"MDEyMzQ1Njc4OWFiY2RlZg=="},
					}
				}
				maps.Copy(r.Header, more)
				answer, err := http.DefaultTransport.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				return answer.StatusCode
			}
			for path, well := range map[string]int{"/": 200, "/page.js": 200, "/truth": 101, "/play": 101} {
				for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "LocalHost:" + port, "[::1]:" + port, addr} {
					require.Equal(t, well, status(path, host, nil), "%s of %s", path, host)
				}
				for _, host := range []string{"example.com:" + port, "127.0.0.1.example.com", "localhost.example.com:" + port, "10.0.0.1:" + port, "[2001:db8::1]:" + port} {
					require.Equal(t, http.StatusForbidden, status(path, host, nil), "%s of %s", path, host)
				}
				for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Cf-Connecting-Ip"} {
					require.Equal(t, http.StatusForbidden, status(path, addr, http.Header{name: {"for=192.0.2.1"}}), "%s with %s", path, name)
				}
			}
		})
	}
}
