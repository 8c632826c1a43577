package matchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// TestSharedSystemsAskNoViews: what a player saw differs between the ends. So a shared system
// that asks for it panics, on either end.
func TestSharedSystemsAskNoViews(t *testing.T) {
	asks := map[string]func(f *foretick.Frame){
		"Rewind":       func(f *foretick.Frame) { f.Rewind(1) },
		"RewindBehind": func(f *foretick.Frame) { f.RewindBehind(1, 2) },
		"RewindTo":     func(f *foretick.Frame) { f.RewindTo(ecs.Nobody, f.Tick-1, 0) },
		"Present":      func(f *foretick.Frame) { f.Present() },
	}
	for name, ask := range asks {
		for end, onServer := range map[string]bool{"server": true, "client": false} {
			t.Run(name+" on a "+end, func(t *testing.T) {
				said := askInShared(t, func(f *foretick.Frame) {
					if f.IsServer() == onServer {
						ask(f)
					}
				})
				require.ErrorContains(t, said, `shared system "look" asks what a player saw`)
			})
		}
	}
}

// askInShared plays a game whose shared system calls do, and returns the error of its panic.
func askInShared(t *testing.T, do func(f *foretick.Frame)) (said error) {
	t.Helper()
	end := func() (*Walk, *foretick.Protocol) {
		g := &Walk{}
		p := g.Protocol()
		p.Shared("look", func(f *foretick.Frame, _ ecs.Rows) { do(f) }, ecs.With(&g.Move))
		return g, p
	}
	defer func() {
		if r := recover(); r != nil {
			said, _ = r.(error)
		}
	}()
	m := simtest.New(1)
	_, p := end()
	_, err := m.Serve(server.Config{Protocol: p})
	require.NoError(t, err)
	g, p := end()
	read := func(client.View) Move { return Move{} }
	_, err = m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Move, read)}, simtest.Seat{})
	require.NoError(t, err)
	m.Run(2 * time.Second)
	return nil
}
