//go:build unix

package matchtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/udp"
)

// walks is an environment variable with the address at which a client process of this test plays.
const walks = "FORETICK_TEST_WALK"

// TestWalker is no test of its own: it is the client process of TestStopped.
func TestWalker(t *testing.T) {
	addr := os.Getenv(walks)
	if addr == "" {
		return
	}
	var g Walk
	dial := func() (transport.Endpoint, error) { return udp.Dial(addr, udp.Config{}) }
	e, err := dial()
	require.NoError(t, err)
	c, err := client.New(client.Config{
		Protocol: g.Protocol(), Transport: e, Redial: dial,
		Sample: client.Sample(&g.Move, func(v client.View) Move { return Move{X: float32(int(v.Tick/30%2))*2 - 1} }),
	})
	require.NoError(t, err)
	begun := time.Now()
	for tick := time.NewTicker(time.Second / 60); time.Since(begun) < 2*time.Minute; <-tick.C {
		if c.Step(time.Now()).State == client.Closed {
			return
		}
	}
}

// walker starts a client process.
func walker(t *testing.T, addr string) *exec.Cmd {
	t.Helper()
	p := exec.Command(os.Args[0], "-test.run", "^TestWalker$") // #nosec G204 -- this test's own binary
	p.Env = append(os.Environ(), walks+"="+addr)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGCONT)
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

// TestStopped stops a client's process for less than its history, for more, and for so long
// that the server ends its connection. Each time the client gets its own body back, which
// stayed where it was, and plays in step within two seconds. No other client is reset, misses
// more than one input in fifty, or loses its connection. This is with -soak; the short form
// allows more, for a busy machine.
func TestStopped(t *testing.T) {
	costtest.Sockets(t)
	if os.Getenv(walks) != "" {
		return
	}
	t.Parallel()
	within, missed := 20*time.Second, uint64(5) // a busy machine is late now and then, so a tenth of the requirement
	timeout, stops := 4*time.Second, []time.Duration{800 * time.Millisecond, 1200 * time.Millisecond, 6 * time.Second}
	if *soak {
		within, missed = 2*time.Second, 50
		timeout, stops = 5*time.Second, []time.Duration{800 * time.Millisecond, 3 * time.Second, 20 * time.Second}
	}
	var g Walk
	p := g.Protocol()
	var absent, returned []foretick.PlayerID
	p.OnDisconnect(func(_ *foretick.ServerFrame, player foretick.PlayerID) { absent = append(absent, player) })
	p.OnReconnect(func(_ *foretick.ServerFrame, player foretick.PlayerID) { returned = append(returned, player) })
	query := p.Query(ecs.With(&g.Pos))
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{Timeout: timeout})
	require.NoError(t, err)
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, Timeout: timeout})
	require.NoError(t, err)
	defer func() { _ = srv.Close("") }()
	// run steps the server for a while, and calls look after each tick.
	run := func(d time.Duration, look func() (enough bool)) bool {
		for end := time.Now().Add(d); time.Now().Before(end); {
			srv.Step(time.Now())
			if look != nil && look() {
				return true
			}
			select {
			case <-listen.Ready():
			case <-time.After(max(time.Until(srv.Next()), 0)):
			}
		}
		return false
	}
	body := func(player foretick.PlayerID) (e ecs.Entity, at Position) {
		for _, rows := range query.Owned(srv.World(), player) {
			e, at = rows.Entity(0), g.Pos.Slice(rows)[0]
		}
		return e, at
	}
	stopped := walker(t, listen.LocalAddr().String())
	require.True(t, run(20*time.Second, func() bool { return len(srv.Players(nil)) == 1 }))
	walker(t, listen.LocalAddr().String())
	require.True(t, run(20*time.Second, func() bool { return len(srv.Players(nil)) == 2 }))
	run(1500*time.Millisecond, nil)
	me, other := srv.Players(nil)[0], srv.Players(nil)[1]
	entity, _ := body(me.ID)
	for _, stop := range stops {
		before, _ := srv.PlayerStats(other)
		require.NoError(t, stopped.Process.Signal(syscall.SIGSTOP))
		run(stop-100*time.Millisecond, nil)
		_, at := body(me.ID)
		run(100*time.Millisecond, nil)
		e, now := body(me.ID)
		require.Equal(t, entity, e, "%v: it stayed in the world", stop)
		require.Equal(t, at, now, "%v: neutral", stop)
		require.NoError(t, stopped.Process.Signal(syscall.SIGCONT))

		// In step means that a second without a missing input begins within two seconds.
		from, since, tick := time.Now(), time.Duration(0), srv.Tick()
		st, _ := srv.PlayerStats(me)
		taken := st.InputsTaken
		ok := run(within+1200*time.Millisecond, func() bool {
			st, _ := srv.PlayerStats(me)
			if st.InputsTaken-taken != uint64(srv.Tick()-tick) { // a tick ran without an input
				since = time.Since(from)
			}
			taken, tick = st.InputsTaken, srv.Tick()
			return time.Since(from)-since > time.Second
		})
		require.True(t, ok, "%v: not in step after %v", stop, since)
		e, _ = body(me.ID)
		require.Equal(t, entity, e)
		after, _ := srv.PlayerStats(other)
		t.Logf("stopped for %v: in step after %v; the other missed %d inputs of %d", stop, since.Round(time.Millisecond),
			after.InputsMissing-before.InputsMissing, after.InputsTaken-before.InputsTaken)
		require.Less(t, since, within, stop)
		require.LessOrEqual(t, after.InputsMissing-before.InputsMissing, 3+(after.InputsTaken-before.InputsTaken)/missed)
	}
	require.Equal(t, []foretick.PlayerID{me.ID}, absent, "the longest alone was given up")
	require.Equal(t, []foretick.PlayerID{me.ID}, returned)
	require.EqualValues(t, 2, srv.Stats().Joined)
	require.Zero(t, srv.Stats().Left)
}
