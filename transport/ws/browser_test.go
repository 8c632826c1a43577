//go:build !js

package ws_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// build compiles the client for js/wasm.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "browser.wasm")
	cmd := releasetest.GoCommand("build", "-o", file, "./testdata/browser")
	cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

func goroot(t *testing.T) string {
	t.Helper()
	out, err := releasetest.GoCommand("env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// silent is a server that accepts and then never reads.
func silent(t *testing.T) *httptest.Server {
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{ws.Subprotocol}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.Read(r.Context())
		c.Write(r.Context(), websocket.MessageBinary, []byte{2})
		<-done
	}))
	t.Cleanup(func() { close(done); srv.Close() })
	return srv
}

// A client in js/wasm plays against native servers. Node runs it, whose WebSocket has the browsers'
// interface.
func TestBrowser(t *testing.T) {
	t.Parallel()
	node := releasetest.Program(t, "node")
	file := build(t)
	var tokens []string
	srv := listen(t, ws.Config{Timeout: time.Second, Accept: func(_ netip.AddrPort, token []byte) ([]byte, error) {
		tokens = append(tokens, string(token))
		return token, nil
	}})
	defer srv.Close(0, "")
	refuses := listen(t, ws.Config{Accept: func(netip.AddrPort, []byte) ([]byte, error) {
		return nil, &transport.DisconnectError{Code: 300, Reason: "nicht auf der Liste: später"}
	}})
	defer refuses.Close(0, "")

	lib := filepath.Join(goroot(t), "lib", "wasm", "wasm_exec_node.js")
	// Node has the browsers' WebSocket since version 20.10, and by default since 22.
	cmd := exec.Command(node, "--experimental-websocket", "--stack-size=8192", lib, file, srv.url(), refuses.url(),
		"ws"+strings.TrimPrefix(silent(t).URL, "http"), "ws://127.0.0.1:1/")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := time.After(60 * time.Second)
	var farewell transport.Event
	for running := true; running; {
		select {
		case err := <-ended:
			require.NoError(t, err, "%s%s", out.String(), errs.String())
			running = false
		case <-over:
			cmd.Process.Kill()
			t.Fatalf("not at an end after a minute: %s%s", out.String(), errs.String())
		case <-time.After(2 * time.Millisecond):
		}
		var ev [16]transport.Event
		for _, ev := range ev[:srv.Recv(ev[:])] {
			switch {
			case ev.Kind == transport.Disconnected:
				farewell = ev
			case ev.Kind == transport.Data && string(ev.Data) == "drop me":
				srv.Disconnect(ev.Peer, transport.FirstUserCode, "später, 漢")
			case ev.Kind == transport.Data:
				srv.Send(ev.Peer, ev.Data)
			}
		}
	}
	assert.Equal(t, "echoed 8\n"+
		"disconnected code 256 später, 漢\n"+
		"disconnected code 300 nicht auf der Liste: später\n"+
		"disconnected unreachable the connection failed\n"+
		"dropped the oldest\n"+
		"connected\nclosed\n", out.String())
	assert.Equal(t, []string{"from the browser", "again"}, tokens)
	if farewell.Kind == 0 {
		farewell = wait(t, srv, transport.Disconnected)
	}
	assert.Equal(t, transport.Code(301), farewell.Code)
	assert.Equal(t, "auf Wiedersehen", farewell.Reason)
}
