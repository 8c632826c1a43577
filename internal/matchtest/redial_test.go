//go:build unix

package matchtest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// falls is an environment variable. It says what a server process of this test serves: transport,
// address and certificate.
const falls = "FORETICK_TEST_FALLS"

// TestFallingServer is no test of its own: it is the server process of TestRedial.
func TestFallingServer(t *testing.T) {
	what := strings.Fields(os.Getenv(falls))
	if len(what) == 0 {
		return
	}
	e, addr, err := listenAt(what[0], what[1], what[2])
	require.NoError(t, err)
	var g Walk
	srv, err := server.New(server.Config{Protocol: g.Protocol(), Transport: e})
	require.NoError(t, err)
	fmt.Println("open", addr)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	_ = srv.Run(ctx)
}

func listenAt(kind, at, key string) (transport.Endpoint, string, error) {
	switch kind {
	case "dtls":
		b, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			return nil, "", err
		}
		cert, err := certificateOf(b)
		if err != nil {
			return nil, "", err
		}
		e, err := dtls.Listen(at, dtls.Config{Certificate: &cert, MaxPeers: 200})
		if err != nil {
			return nil, "", err
		}
		return e, e.LocalAddr().String(), nil
	case "ws":
		e, err := ws.Listen(at, ws.Config{MaxPeers: 200})
		if err != nil {
			return nil, "", err
		}
		return e, e.LocalAddr().String(), nil
	}
	e, err := udp.Listen(at, udp.Config{MaxPeers: 200})
	if err != nil {
		return nil, "", err
	}
	return e, e.LocalAddr().String(), nil
}

// certificateBytes and certificateOf pass a certificate from one process to the next.
func certificateBytes(c tls.Certificate) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	return append([]byte{byte(len(key) >> 8), byte(len(key))}, append(key, c.Certificate[0]...)...), err
}

func certificateOf(b []byte) (tls.Certificate, error) {
	n := int(b[0])<<8 | int(b[1])
	key, err := x509.ParsePKCS8PrivateKey(b[2 : 2+n])
	return tls.Certificate{Certificate: [][]byte{b[2+n:]}, PrivateKey: key}, err
}

// serveAt starts a server process, and waits until its port is open.
func serveAt(t *testing.T, kind, at, key string) (p *exec.Cmd, addr string) {
	t.Helper()
	p = exec.Command(os.Args[0], "-test.run", "^TestFallingServer$") // #nosec G204 -- this test's own binary
	p.Env = append(os.Environ(), falls+"="+kind+" "+at+" "+key)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return p, strings.Fields(line)[1]
}

// A server is killed, or in every second round told to stop, and started again. However short
// that takes, every client plays again within two seconds of the port being open. This is
// with -soak; the short form allows more time, for a busy machine.
func TestRedial(t *testing.T) {
	costtest.Sockets(t)
	if os.Getenv(falls) != "" || os.Getenv(walks) != "" {
		return
	}
	clients, rounds, within := 4, 2, 20*time.Second
	downs := []time.Duration{300 * time.Millisecond}
	if *soak {
		clients, rounds, within = 25, 4, 2*time.Second
		downs = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 10 * time.Second}
	}
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	b, err := certificateBytes(cert)
	require.NoError(t, err)
	key, pins := base64.StdEncoding.EncodeToString(b), []dtls.Pin{dtls.PinOf(cert)}
	for _, kind := range []string{"udp", "dtls", "ws"} {
		t.Run(kind, func(t *testing.T) {
			p, addr := serveAt(t, kind, "127.0.0.1:0", key)
			dial := func() (transport.Endpoint, error) {
				switch kind {
				case "dtls":
					return dtls.Dial(addr, dtls.Config{Pins: pins})
				case "ws":
					return ws.Dial("ws://"+addr+"/", ws.Config{})
				}
				return udp.Dial(addr, udp.Config{})
			}
			var all []*client.Client
			for range clients {
				var g Walk
				e, err := dial()
				require.NoError(t, err)
				c, err := client.New(client.Config{Protocol: g.Protocol(), Transport: e, Redial: dial})
				require.NoError(t, err)
				defer func() { _ = c.Close() }()
				all = append(all, c)
				// The clients join one after another. Later they reconnect all at once.
				for end := time.Now().Add(20 * time.Second); c.View().State != client.Playing && time.Now().Before(end); time.Sleep(time.Millisecond) {
					for _, c := range all {
						c.Step(time.Now())
					}
				}
			}
			// step plays for a while, or until all clients play by their n-th connection.
			step := func(d time.Duration, n uint64) (playing int) {
				for end := time.Now().Add(d); time.Now().Before(end) && playing < clients; time.Sleep(5 * time.Millisecond) {
					playing = 0
					for _, c := range all {
						v := c.Step(time.Now())
						require.NotEqual(t, client.Closed, v.State, "%v", v.Err)
						if v.State == client.Playing && c.Stats().Connections >= n {
							playing++
						}
					}
				}
				return playing
			}
			require.Equal(t, clients, step(20*time.Second, 1))
			n := uint64(1)
			for _, down := range downs {
				back, slowest := 0, time.Duration(0)
				for round := range rounds {
					step(500*time.Millisecond, 1<<63)
					if round%2 == 0 {
						require.NoError(t, p.Process.Kill())
					} else {
						require.NoError(t, p.Process.Signal(os.Interrupt))
					}
					_ = p.Wait()
					step(down, 1<<63)
					n++
					p, _ = serveAt(t, kind, addr, key)
					limit := within
					if kind == "dtls" {
						limit += within / 2
					}
					open := time.Now()
					back += step(limit, n)
					slowest = max(slowest, time.Since(open))
				}
				t.Logf("%s, down for %v: %d of %d play, the last after %v", kind, down, back, clients*rounds, slowest.Round(time.Millisecond))
				require.Equal(t, clients*rounds, back)
			}
		})
	}
}
