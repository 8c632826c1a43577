package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// TestClosedServerRests: a closed server has no tick due, so a loop that waits for the next tick
// does not run hot until the process ends. Packets of clients that reconnect may still wake it.
func TestClosedServerRests(t *testing.T) {
	for name, closed := range map[string]func(s *server.Server) error{
		"Close":           func(s *server.Server) error { return s.Close("over") },
		"CloseForRestart": func(s *server.Server) error { return s.CloseForRestart("a new build") },
	} {
		t.Run(name, func(t *testing.T) {
			m := simtest.New(1)
			g, cg := &traffic{}, &traffic{}
			srv, err := m.Serve(server.Config{Protocol: g.protocol()})
			require.NoError(t, err)
			_, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) driverCommand { return driverCommand{} })}, simtest.Seat{})
			require.NoError(t, err)
			m.Run(time.Second)
			require.NoError(t, closed(srv))
			require.Greater(t, time.Until(srv.Next()), 1000*time.Hour)
			steps := 0
			m.AroundServer = func(step func()) {
				if steps++; steps > 1000 {
					t.Fatalf("%d steps of a closed server by %v", steps, m.Net.Now())
				}
				step()
			}
			m.Run(10 * time.Second)
			require.NoError(t, m.Err())
		})
	}
	srv, err := simtest.New(1).Serve(server.Config{Protocol: new(traffic).protocol()})
	require.NoError(t, err)
	require.NoError(t, srv.Close("before the first step"))
	require.Greater(t, time.Until(srv.Next()), 1000*time.Hour)
}
