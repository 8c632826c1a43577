package client_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

func plain() *foretick.Protocol { return foretick.NewProtocol("log", 1) }

// TestClientLogs: a client logs one line when it joins, loses its connection, returns and ends. The
// server's lines about these events name the same player.
func TestClientLogs(t *testing.T) {
	net := sim.NewNetwork(4)
	listen := net.Listen()
	var ours, theirs bytes.Buffer
	srv, err := server.New(server.Config{Protocol: plain(), Transport: listen, Timeout: time.Second, Logger: slog.New(slog.NewJSONHandler(&theirs, nil)).With("match", "m-1")})
	require.NoError(t, err)
	var end transport.Endpoint
	dial := func() (transport.Endpoint, error) {
		end = net.Dial(listen, sim.LAN, sim.LAN)
		return end, nil
	}
	first, _ := dial()
	c, err := client.New(client.Config{Protocol: plain(), Transport: first, Redial: dial, Timeout: time.Second, Logger: slog.New(slog.NewJSONHandler(&ours, nil))})
	require.NoError(t, err)
	run := func(d time.Duration) {
		for until := net.Now() + d; net.Now() < until; {
			net.Run(net.Now() + 10*time.Millisecond)
			srv.Step(simtest.Epoch.Add(net.Now()))
			c.Step(simtest.Epoch.Add(net.Now()))
		}
	}
	run(5 * time.Second)
	require.NoError(t, end.Close(transport.Gone, "the cable"))
	run(5 * time.Second)
	player := srv.Players(nil)
	require.Len(t, player, 1, "%s\n%s", &ours, &theirs)
	require.NoError(t, srv.Do("kick", func(f *foretick.ServerFrame) { f.Kick(player[0].ID, transport.Kicked, "enough") }))
	run(time.Second)

	lines := func(b *bytes.Buffer, keys ...string) (msgs []string) {
		for d := json.NewDecoder(b); d.More(); {
			var line map[string]any
			require.NoError(t, d.Decode(&line))
			if strings.Contains(line["msg"].(string), "foretick_debug") {
				continue // the line is about the build, not about a player
			}
			msgs = append(msgs, line["msg"].(string))
			for _, k := range keys {
				require.Contains(t, line, k, "%v", line)
			}
			require.EqualValues(t, 1, line["player"], "%v", line)
			require.Regexp(t, "^sim:", line["address"], "%v", line)
		}
		return msgs
	}
	require.Equal(t, []string{"joined", "connection lost", "joined", "connection ended"}, lines(&ours, "connection"))
	require.Equal(t, []string{"joined", "lost", "came back", "left"}, lines(&theirs, "match", "session", "address", "identity"))
}
