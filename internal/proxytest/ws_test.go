//go:build unix

package proxytest

import (
	"bufio"
	"embed"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// setting is a proxy's setting in front of package ws, and what comes of it.
type setting struct {
	name    string
	kind    *kind
	text    string // $UP is the server's address
	says    string // is in the error of a client that does not come back by itself; empty: it plays
	browser int    // the HTTP status that a browser gets, whose page has the proxy's name
}

const (
	upgrade = "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;"
	usual   = upgrade + " proxy_set_header Host $http_host;"
	tunnel  = "	timeout client 30s\n"
)

var settings = []setting{
	{"as the guide has it", &nginx, guide("nginx.conf"), "", 101},
	{"timeouts of 1 s", &nginx, "location / { proxy_pass http://$UP; " + usual + " proxy_read_timeout 1s; proxy_send_timeout 1s; }", "", 101},
	{"buffers, and Nagle's algorithm", &nginx, "tcp_nodelay off; location / { proxy_pass http://$UP; " + usual + " proxy_buffering on; proxy_buffer_size 4k; }", "", 101},
	{"no host", &nginx, "location / { proxy_pass http://$UP; " + upgrade + " }", "", 403},
	{"a host without its port", &nginx, "location / { proxy_pass http://$UP; " + upgrade + " proxy_set_header Host $host; }", "", 403},
	{"no upgrade", &nginx, "location / { proxy_pass http://$UP; proxy_set_header Host $host; }", "HTTP status 426 Upgrade Required", 426},
	{"no such path", &nginx, "location /other { proxy_pass http://$UP; " + usual + " }", "HTTP status 404 Not Found", 404},
	{"it asks for a password", &nginx, "location / { auth_basic game; auth_basic_user_file /dev/null; proxy_pass http://$UP; " + usual + " }", "HTTP status 401 Unauthorized", 401},
	{"nobody is behind it", &nginx, "location / { proxy_pass http://127.0.0.1:1; " + usual + " }", "HTTP status 502 Bad Gateway", 502},
	{"as the guide has it", &caddy, guide("Caddyfile"), "", 101},
	{"reverse_proxy, at another path", &caddy, "handle_path /other/* {\n	reverse_proxy $UP\n}", "HTTP status 200", 200},
	{"nobody is behind it", &caddy, "reverse_proxy 127.0.0.1:1", "HTTP status 502 Bad Gateway", 502},
	{"as the guide has it", &haproxy, guide("haproxy.cfg"), "", 101},
	{"timeouts of 1 s, and none of a tunnel", &haproxy, "	timeout client 1s\nbackend b\n	timeout server 1s\n	server s $UP", "", 101},
	{"nobody is behind it", &haproxy, tunnel + "backend b\n	timeout server 30s\n	server s 127.0.0.1:1", "HTTP status 503 Service Unavailable", 503},
}

//go:embed settings
var files embed.FS

// guide is a setting that a page of the guide shows, with $UP in place of its servers' addresses.
func guide(name string) string {
	b, err := files.ReadFile("settings/" + name)
	if err != nil {
		panic(err) // they are embedded
	}
	return strings.NewReplacer("127.0.0.1:8080", "$UP", "127.0.0.1:27016", "$UP", "27015", "127.0.0.1:$PORT").Replace(string(b))
}

// proxies logs the versions of all proxies.
func proxies(t *testing.T) {
	costtest.Sockets(t)
	needs(t, "nginx", "-v")
	needs(t, "caddy", "version")
	needs(t, "haproxy", "-v")
}

// serveWS runs a server on package ws, and returns its endpoint and its address.
func serveWS(t *testing.T) (*ws.Server, string) {
	e, err := ws.NewServer(ws.Config{})
	require.NoError(t, err)
	host(t, e)
	site := httptest.NewServer(e)
	t.Cleanup(site.Close)
	return e, site.Listener.Addr().String()
}

// browse asks a proxy as a browser does whose page has the name game.example, and returns the HTTP status.
func browse(t *testing.T, addr string) int {
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_, port, _ := net.SplitHostPort(addr)
	name := "game.example:" + port
	_, err = fmt.Fprintf(c, "GET /play HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", name, name, ws.Subprotocol)
	require.NoError(t, err)
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestSettings: each proxy's usual settings carry a match, and of each wrong one the client, or the
// browser's status, says what is wrong.
func TestSettings(t *testing.T) {
	proxies(t)
	t.Parallel()
	for _, s := range settings {
		t.Run(s.kind.name+", "+s.name, func(t *testing.T) {
			t.Parallel()
			e, up := serveWS(t)
			p := s.kind.run(t, strings.ReplaceAll(s.text, "$UP", up))
			c := join(t, false, func() (transport.Endpoint, error) { return ws.Dial("ws://"+p.addr()+"/play", ws.Config{}) })
			if s.says != "" {
				require.True(t, c.play(20*time.Second, c.closed))
				require.ErrorContains(t, c.View().Err, s.says)
			} else {
				require.True(t, c.play(20*time.Second, c.plays), "%v", c.View().Err)
				require.True(t, c.play(3*time.Second, nil))
				require.Equal(t, []string{"joined"}, c.game.names)
			}
			require.Equal(t, s.browser, browse(t, p.addr()), "for a browser")
			says := "plays"
			if s.says != "" {
				says = c.View().Err.Error()
			}
			t.Logf("%s, %s: %s; %d for a browser", s.kind.name, s.name, says, s.browser)
			if s.browser == http.StatusForbidden {
				require.EqualValues(t, 1, e.Counters().Foreign)
			}
		})
	}
}

// TestReload: a proxy that reads its settings again closes what it carries. The client is in its place again.
func TestReload(t *testing.T) {
	proxies(t)
	t.Parallel()
	for _, s := range []setting{settings[0], settings[9], settings[12]} {
		t.Run(s.kind.name, func(t *testing.T) {
			t.Parallel()
			_, up := serveWS(t)
			p := s.kind.run(t, strings.ReplaceAll(s.text, "$UP", up))
			line := far(t, p.addr())
			c := join(t, true, func() (transport.Endpoint, error) { return ws.Dial("ws://"+line+"/play", ws.Config{}) })
			require.True(t, c.play(20*time.Second, c.plays))
			const times = 10
			for i := range times {
				c.play(1500*time.Millisecond, nil) // a place is held for as long as its player has played
				done := make(chan struct{})
				go func() { defer close(done); p.reload() }()
				back := c.play(20*time.Second, func() bool { return len(c.game.names) == i+2 && c.plays() })
				<-done
				require.True(t, back, "%v %v", c.game.names, c.View().Err)
				require.Equal(t, "resumed", c.game.names[i+1])
				t.Logf("reload %d: %v without a snapshot", i+1, c.quiet.Round(time.Millisecond))
				require.Less(t, c.quiet, 5*time.Second)
			}
		})
	}
}
