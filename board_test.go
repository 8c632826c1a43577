package foretick_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/udp"
)

// TestStatsWhileRunning: any goroutine may read the figures and the players while Run runs in
// others. The race detector checks it.
func TestStatsWhileRunning(t *testing.T) {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	srv, err := server.New(server.Config{Protocol: declare(nil), Transport: listen})
	require.NoError(t, err)
	dial, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
	require.NoError(t, err)
	cli, err := client.New(client.Config{Protocol: declare(nil), Transport: dial})
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	var running sync.WaitGroup
	running.Go(func() { _ = srv.Run(ctx) })
	running.Go(func() { _ = cli.Run(ctx, time.Second/60, nil) })
	played := make(chan bool, 3)
	for range 3 {
		running.Go(func() {
			var player []server.Player
			for ctx.Err() == nil {
				player = srv.Players(player[:0])
				st, own := srv.Stats(), cli.Stats()
				one, ok := srv.PlayerStats(srv.Player(1))
				if len(player) == 1 && ok && one.PacketsIn > 5 && st.Ticks > 5 && st.Joined == 1 && own.Snapshots > 5 && own.Connections == 1 {
					played <- true
					return
				}
				time.Sleep(time.Millisecond)
			}
			played <- false
		})
	}
	for range 3 {
		require.True(t, <-played)
	}
	cancel()
	running.Wait()
	require.Equal(t, uint64(1), srv.Stats().Left)
	require.Empty(t, srv.Players(nil))
	_, ok := srv.PlayerStats(srv.Player(1))
	require.False(t, ok)
}

// TestLogLinesSayWho: every line about a player has the player's address, identity and session.
func TestLogLinesSayWho(t *testing.T) {
	var out bytes.Buffer
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{})
	require.NoError(t, err)
	p := declare(func(_ *handles, p *foretick.Protocol) {
		p.OnJoin(func(*foretick.ServerFrame, foretick.PlayerID) { panic("planted") })
	})
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	require.NoError(t, err)
	dial, err := udp.Dial(listen.LocalAddr().String(), udp.Config{})
	require.NoError(t, err)
	cli, err := client.New(client.Config{Protocol: declare(nil), Transport: dial})
	require.NoError(t, err)
	for end := time.Now().Add(10 * time.Second); srv.Stats().Left == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		cli.Step(time.Now())
		srv.Step(time.Now())
	}
	_ = cli.Close()
	_ = srv.Close("")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.GreaterOrEqual(t, len(lines), 3, "joined, panic, left")
	for _, line := range lines {
		if strings.Contains(line, "foretick_debug") {
			continue // a line about the build, rather than a player
		}
		for _, key := range []string{" player=1 ", " session=", " address=127.0.0.1", " identity="} {
			require.Contains(t, line, key)
		}
	}
	require.Contains(t, out.String(), "msg=panic")
}
