//go:build !js

package main

import (
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/arena/web"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// pages are two sessions as pages have them, on the match of -web.
type pages struct {
	t     *testing.T
	match *webMatch
	all   [2]*web.Session
	list  []float32 // the first one's newest frame
}

func newPages(t *testing.T) *pages {
	t.Helper()
	o, err := parse([]string{"-web", ":0", "-peaceful"}, io.Discard)
	require.NoError(t, err)
	w, err := newWebMatch(o, webClient{})
	require.NoError(t, err)
	site := httptest.NewServer(w.handler())
	p := &pages{t: t, match: w}
	t.Cleanup(func() {
		for _, s := range p.all {
			s.Close()
		}
		_ = w.server.Close("")
		w.close()
		site.Close()
	})
	for i := range p.all {
		dial := func(path string) func() (transport.Endpoint, error) {
			return func() (transport.Endpoint, error) {
				return ws.Dial(strings.Replace(site.URL, "http", "ws", 1)+path, ws.Config{})
			}
		}
		p.all[i], err = web.NewSession(web.Config{Play: dial("/play"), Truth: dial("/truth"), TickRate: o.tickRate})
		require.NoError(t, err)
	}
	p.until("both play", func() bool { return p.state(0)["state"] == "playing" && p.state(1)["state"] == "playing" })
	p.run(time.Second)
	return p
}

func (p *pages) step() {
	p.match.server.Step(time.Now())
	p.list = p.all[0].Frame(time.Now())
	p.all[1].Step(time.Now())
	time.Sleep(8 * time.Millisecond)
}

func (p *pages) run(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		p.step()
	}
}

func (p *pages) until(what string, want func() bool) {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); !want(); p.step() {
		require.True(p.t, time.Now().Before(end), what)
	}
}

func (p *pages) state(i int) map[string]any { return p.all[i].State(time.Now()) }

func (p *pages) player(i int) foretick.PlayerID {
	n, _ := p.state(i)["player"].(float64)
	return foretick.PlayerID(n)
}

func (p *pages) set(i, which int, v float32) {
	p.all[i].Events(time.Now(), []float32{5, float32(which), v})
}

func (p *pages) key(i int, name string, down float32) {
	for n, of := range web.KeyNames() {
		if of == name {
			p.all[i].Events(time.Now(), []float32{1, float32(n), down})
		}
	}
}

// reruns returns how many late inputs of a page's player made their own ticks run again.
func (p *pages) reruns(i int) uint64 {
	st, ok := p.match.server.PlayerStats(p.match.server.Player(p.player(i)))
	require.True(p.t, ok)
	return st.InputsRerun
}

// late walks back and forth on both pages while inputs come late.
func (p *pages) late() {
	for i := range p.all {
		p.set(i, 9, 1) // a spike
	}
	for _, key := range []string{"d", "a", "w", "s", "d", "a"} {
		for i := range p.all {
			p.key(i, key, 1)
		}
		p.run(120 * time.Millisecond)
		for i := range p.all {
			p.key(i, key, 0)
		}
		p.run(50 * time.Millisecond)
	}
	p.run(1500 * time.Millisecond)
}

// "Late inputs" on one page is an option of its own player alone: the other player's late inputs still
// run in their own ticks.
func TestWebLateInputsOfOnePlayer(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	p.set(0, 16, 0)
	p.run(time.Second)
	was := [2]uint64{p.reruns(0), p.reruns(1)}
	for range 5 { // on a busy machine a spike may hit no input
		if p.late(); p.reruns(1) > was[1] {
			break
		}
	}
	require.Equal(t, was[0], p.reruns(0), "it switched them off")
	require.Greater(t, p.reruns(1), was[1], "the other did not")
}

// A page shows its last shot's three hitboxes of a player that walks: what it saw, what the
// server judged by, and where the server had that player.
func TestWebShotShowsWhatTheServerHad(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	p.set(0, 1, 250) // a round trip that makes the player's view old
	p.run(3 * time.Second)
	had := map[foretick.Tick][2]float32{}
	judged := p.match.game.Watch.Explain
	p.match.game.Watch.Explain = func(f *foretick.Frame, by foretick.PlayerID, seen foretick.HitView, ray lagcomp.Ray) {
		for _, rows := range p.match.game.Avatars.Owned(f.World, p.player(1)) {
			at := p.match.game.Pos.Slice(rows)[0]
			had[f.Tick] = [2]float32{at.X, at.Y}
		}
		judged(f, by, seen, ray)
	}
	require.NoError(t, p.match.server.Do("test.place", func(f *foretick.ServerFrame) { // where no wall is between them
		for i, x := range []float32{-16, -9} {
			for _, rows := range p.match.game.Avatars.Owned(f.World, p.player(i)) {
				at := &p.match.game.Pos.Slice(rows)[0]
				at.X, at.Y = x, -16
			}
		}
	}))
	p.run(time.Second)
	const aim, ring, saw, used, present = 4, 6, 1, 2, 3
	apart := 0.
	for _, key := range []string{"w", "s", "w"} {
		others, _ := p.state(0)["others"].(map[string]any)
		require.Len(t, others, 1)
		for _, at := range others {
			at := at.([]any)
			p.all[0].Events(time.Now(), []float32{aim, float32(at[0].(float64)), float32(at[1].(float64))})
		}
		p.key(1, key, 1)
		p.run(250 * time.Millisecond)
		p.key(0, "space", 1)
		p.run(100 * time.Millisecond)
		p.key(0, "space", 0)
		p.run(150 * time.Millisecond)
		p.key(1, key, 0)
		p.run(time.Second)
		rings := map[int][][2]float32{}
		for at := web.HeaderSize; at < len(p.list); at += web.RecordSize {
			if r := p.list[at:]; r[0] == ring {
				rings[int(r[4])] = append(rings[int(r[4])], [2]float32{r[1], r[2]})
			}
		}
		require.NotEmpty(t, rings[saw])
		require.Len(t, rings[used], 1)
		require.Len(t, rings[present], 1, "what the server had")
		tick, _ := p.state(0)["shotTick"].(float64)
		const step = 0.25 // what it walks in a tick: the present may be before or after its own step
		require.InDelta(t, had[foretick.Tick(tick)][0], rings[present][0][0], step)
		require.InDelta(t, had[foretick.Tick(tick)][1], rings[present][0][1], step)
		apart = max(apart, math.Hypot(float64(rings[present][0][0]-rings[used][0][0]), float64(rings[present][0][1]-rings[used][0][1])))
	}
	require.Greater(t, apart, 0.6, "it walked on meanwhile")
}
