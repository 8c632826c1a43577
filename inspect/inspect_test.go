package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

type place struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp" unit:"m"`
}

type purse struct {
	Gold  uint16 `net:"min=0,max=500,owner"`
	Plan  uint8  `net:"allies" enum:"wait,attack"`
	Alarm bool
	Name  string `net:"max=12"`
}

type push struct {
	X int8 `net:"min=-1,max=1"`
}

type score struct {
	Round uint8 `net:"min=0,max=9"`
}

// game has players, chests, and a server's system that pushes players.
type game struct {
	pos    ecs.Component[place]
	bag    ecs.Component[purse]
	cmd    ecs.Component[push]
	score  ecs.Singleton[score]
	player ecs.Prefab
	chest  ecs.Prefab
	shove  float32 // distance that the server's system pushes players in every 32nd tick
}

func (g *game) protocol() *foretick.Protocol {
	p := foretick.NewProtocol("chests", 1)
	p.Component(&g.pos, foretick.Predicted())
	p.Component(&g.bag)
	p.Command(&g.cmd)
	p.Singleton(&g.score)
	p.Prefab(&g.player, "player", &g.pos, &g.bag, &g.cmd)
	p.Prefab(&g.chest, "chest", &g.pos, &g.bag)
	foretick.Interest(p, &g.pos, snapshot.AreaConfig{Enter: 20, Leave: 30}, func(at *place) (x, y, z float32) { return at.X, at.Y, 0 })
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.player, player) })
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		pos, cmd := g.pos.Slice(rows), g.cmd.Slice(rows)
		for i := range pos {
			pos[i].X += float32(float32(cmd[i].X) * f.DT)
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.pos))
	p.Server("shove", func(f *foretick.ServerFrame, rows ecs.Rows) {
		if g.shove == 0 || f.Tick%32 != 0 {
			return
		}
		pos := g.pos.Slice(rows)
		for i := range pos {
			pos[i].Y += g.shove
		}
	}, ecs.Write(&g.pos), ecs.With(&g.cmd))
	return p
}

// match is a server with clients in virtual time, and an inspector.
type match struct {
	*simtest.Match
	t       *testing.T
	game    *game
	srv     *server.Server
	clients []*client.Client
	in      *inspect.Inspector
	chests  []ecs.Entity
}

var line = sim.Link{Latency: 30 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.02}

func play(t *testing.T, clients int, shove float32) *match {
	m := &match{Match: simtest.New(1), t: t, game: &game{shove: shove}, in: inspect.New(inspect.Config{})}
	var err error
	m.srv, err = m.Serve(server.Config{Protocol: m.game.protocol(), Logger: slog.New(m.in.LogHandler(nil)).With("end", "match")})
	require.NoError(t, err)
	for _, x := range []float32{5, 90} {
		e := m.srv.Frame().Spawn(&m.game.chest, ecs.Nobody)
		m.game.pos.Get(m.srv.World(), e).X = x
		m.chests = append(m.chests, e)
	}
	for i := range clients {
		g := &game{}
		c, err := m.Join(client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) push { return push{X: int8(v.Tick/40%3) - 1} })}, simtest.Seat{Up: line, Down: line})
		require.NoError(t, err)
		m.clients = append(m.clients, c)
		require.NoError(t, m.in.AddClient(fmt.Sprint("player ", i+1), c))
	}
	require.NoError(t, m.in.AddServer("match", m.srv))
	m.run(2 * time.Second)
	return m
}

func (m *match) run(d time.Duration) { m.Run(m.Net.Now() + d) }

// wait runs the match while fn waits for the ends of ticks.
func wait[T any](m *match, fn func(context.Context) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	go func() {
		v, err := fn(ctx)
		done <- result{v, err}
	}()
	for {
		select {
		case r := <-done:
			return r.v, r.err
		default:
			m.run(50 * time.Millisecond)
		}
	}
}

func (m *match) values(end string, id inspect.EntityID) inspect.Values {
	m.t.Helper()
	v, err := wait(m, func(ctx context.Context) (inspect.Values, error) { return m.in.Values(ctx, end, id) })
	require.NoError(m.t, err)
	return v
}

func field(t *testing.T, v inspect.Values, path string) inspect.Field {
	t.Helper()
	for _, c := range v.Has {
		for _, f := range c.Fields {
			if f.Path == path {
				return f
			}
		}
	}
	require.Fail(t, "no field", "%s of %+v", path, v)
	return inspect.Field{}
}

// A closed inspector has no hooks in either end, before it was open and after.
func TestClosedHooksNothing(t *testing.T) {
	m := play(t, 1, 0)
	untouched := func() {
		t.Helper()
		require.Nil(t, probe.OfServer(m.srv).Tap())
		require.Nil(t, probe.OfClient(m.clients[0]).Tap())
		require.Nil(t, m.srv.Traffic())
		require.Empty(t, probe.OfServer(m.srv).CountedBytes(nil))
		require.Empty(t, probe.OfClient(m.clients[0]).CountedBytes(nil))
	}
	untouched()
	s, err := m.in.Samples("match", 0, 100)
	require.NoError(t, err)
	require.Empty(t, s.Ticks)

	stop := m.in.Open()
	again := m.in.Open()
	stop()
	stop() // a second call does nothing
	m.run(time.Second)
	require.NotNil(t, probe.OfServer(m.srv).Tap())
	require.NotEmpty(t, probe.OfClient(m.clients[0]).CountedBytes(nil))
	s, err = m.in.Samples("match", 0, 100)
	require.NoError(t, err)
	require.InDelta(t, 30, len(s.Ticks), 2)

	again()
	m.run(200 * time.Millisecond)
	untouched()
	before, err := m.in.Samples("match", s.Next, 100)
	require.NoError(t, err)
	m.run(time.Second)
	after, err := m.in.Samples("match", s.Next, 100)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A reader gets every tick once, however many samples it reads at a time, and skips samples that
// are no longer in memory.
func TestSamples(t *testing.T) {
	m := play(t, 2, 0)
	defer m.in.Open()()
	series, err := m.in.Series("match")
	require.NoError(t, err)
	m.run(4 * time.Second)
	next, last, sent, byField := uint64(0), uint32(0), 0., 0.
	for {
		s, err := m.in.Samples("match", next, 7)
		require.NoError(t, err)
		if next = s.Next; len(s.Ticks) == 0 {
			break
		}
		for i, tick := range s.Ticks {
			require.True(t, last == 0 || tick == last+1, "%d after %d", tick, last)
			last = tick
			require.Len(t, s.Values[i], len(series))
			for k, v := range s.Values[i] {
				switch {
				case series[k].Key == "bytes_out":
					sent += float64(v)
				case series[k].Chart == "Bytes by field":
					byField += float64(v)
				case series[k].Key == "rtt_ms" && tick > 60:
					require.InDelta(t, 90, v, 60)
				}
			}
		}
	}
	require.Equal(t, m.srv.Tick(), last)
	require.Greater(t, byField, sent/20, "snapshots are much of what is sent")
	require.Less(t, byField, sent)

	small := inspect.New(inspect.Config{Samples: 8})
	require.Error(t, small.AddServer("match", m.srv), "another inspector looks")
	require.Error(t, m.in.AddServer("match", m.srv), "twice")
	require.Panics(t, func() { inspect.New(inspect.Config{Samples: -1}) })
	_, err = m.in.Series("nobody")
	require.ErrorIs(t, err, inspect.ErrNoEnd)

	c, err := m.in.Samples("player 1", 0, 1000)
	require.NoError(t, err)
	require.Greater(t, len(c.Ticks), 100)
	for i := range c.Ticks[1:] {
		require.Equal(t, c.Ticks[i]+1, c.Ticks[i+1], "a row for each tick, and not for each frame")
	}
}

// A server that falls behind shows the ticks that it skipped, in the tick that follows them.
func TestSamplesOfAServerThatFallsBehind(t *testing.T) {
	m := play(t, 1, 0)
	defer m.in.Open()()
	series, err := m.in.Series("match")
	require.NoError(t, err)
	at := slices.IndexFunc(series, func(s inspect.Series) bool { return s.Key == "ticks_lost" })
	shown := func() (sum uint64) {
		s, err := m.in.Samples("match", 0, 10000)
		require.NoError(t, err)
		for _, row := range s.Values {
			sum += uint64(row[at])
		}
		return sum
	}
	m.run(2 * time.Second)
	require.Zero(t, shown())
	for range 3 {
		m.FreezeServer(true)
		m.run(time.Second)
		m.FreezeServer(false)
		m.run(time.Second)
	}
	require.Positive(t, m.srv.Stats().TicksLost)
	require.Equal(t, m.srv.Stats().TicksLost, shown())
}

// When the ring has overwritten samples, a reader skips them.
func TestSamplesThatAreGone(t *testing.T) {
	m := play(t, 1, 0)
	m.in.Remove("match")
	_, err := m.in.Series("match")
	require.ErrorIs(t, err, inspect.ErrNoEnd)
	small := inspect.New(inspect.Config{Samples: 8, NoBytes: true})
	require.NoError(t, small.AddServer("match", m.srv))
	defer small.Open()()
	m.run(time.Second)
	s, err := small.Samples("", 3, 100)
	require.NoError(t, err)
	require.Len(t, s.Ticks, 8)
	require.Equal(t, s.Next-8, s.First)
	require.Equal(t, m.srv.Tick(), s.Ticks[7])
	s, err = small.Samples("", 1<<60, 100) // a number from another process
	require.NoError(t, err)
	require.Len(t, s.Ticks, 8)
}

// Events finds corrections by words, with their explanations.
func TestEvents(t *testing.T) {
	m := play(t, 2, 1)
	stop := m.in.Open()
	m.run(4 * time.Second)
	all := m.in.Events(inspect.EventQuery{Kind: "correction", Text: "SHOVE place.y"})
	require.NotEmpty(t, all)
	for i, e := range all {
		require.Equal(t, "server_effect", e.Cause)
		require.Contains(t, e.End, "player ")
		require.Contains(t, string(e.Detail), `"system":"shove"`)
		require.True(t, json.Valid(e.Detail))
		require.True(t, i == 0 || e.Number < all[i-1].Number, "newest first")
	}
	require.Empty(t, m.in.Events(inspect.EventQuery{Text: "shove nowhere"}))
	require.Len(t, m.in.Events(inspect.EventQuery{Most: 1}), 1)
	require.Empty(t, m.in.Events(inspect.EventQuery{After: 1 << 40}))

	who := m.clients[1].View().Player
	require.NoError(t, m.Leave(m.clients[1]))
	m.run(time.Second)
	left := m.in.Events(inspect.EventQuery{Kind: "player", End: "match"})
	require.Len(t, left, 1)
	require.Equal(t, fmt.Sprintf("player %d left", who), left[0].Text)
	lines := m.in.Logs(inspect.EventQuery{Text: fmt.Sprint("left player=", who)})
	require.Len(t, lines, 1)
	require.Equal(t, "match", lines[0].End)
	require.InDelta(t, left[0].Tick, lines[0].Tick, 2, "a line that names no tick")
	require.NotContains(t, lines[0].Text, "end=")

	stop()
	m.run(200 * time.Millisecond)
	before := len(m.in.Events(inspect.EventQuery{Kind: "correction", Most: 1000}))
	m.run(3 * time.Second)
	require.Len(t, m.in.Events(inspect.EventQuery{Kind: "correction", Most: 1000}), before, "nobody looks")
}

// Both ends show their entities and values, with the description of each field.
func TestEntities(t *testing.T) {
	m := play(t, 2, 0)
	m.game.bag.Get(m.srv.World(), m.chests[0]).Plan = 1
	all, err := wait(m, func(ctx context.Context) (inspect.Entities, error) {
		return m.in.Entities(ctx, "match", inspect.EntityQuery{Text: "chest"})
	})
	require.NoError(t, err)
	require.Equal(t, 2, all.Total)
	require.Equal(t, inspect.EntityID(m.chests[0]), all.List[0].ID)
	require.NotZero(t, all.List[0].Net)
	some, err := wait(m, func(ctx context.Context) (inspect.Entities, error) {
		return m.in.Entities(ctx, "match", inspect.EntityQuery{Most: 1, Text: "player 2"})
	})
	require.NoError(t, err)
	require.Equal(t, 1, some.Total)
	require.Equal(t, uint16(2), some.List[0].Owner)

	v := m.values("match", inspect.EntityID(m.chests[0]))
	require.Equal(t, "chest", v.Prefab)
	x := field(t, v, "place.X")
	require.Equal(t, float32(5), x.Value)
	require.Equal(t, "5 m", x.Text)
	require.True(t, x.Ranged && x.Editable)
	require.Equal(t, 100., x.Max)
	gold := field(t, v, "purse.Gold")
	require.Equal(t, "owner", gold.Audience)
	plan := field(t, v, "purse.Plan")
	require.Equal(t, "attack", plan.Text)
	require.Equal(t, []string{"wait", "attack"}, plan.Names)
	require.Equal(t, "(singletons)", m.values("match", 0).Prefab)
	require.Equal(t, 9., field(t, m.values("match", 0), "score.Round").Max)

	// The client has only received entities: the far chest is not there.
	all, err = wait(m, func(ctx context.Context) (inspect.Entities, error) {
		return m.in.Entities(ctx, "player 1", inspect.EntityQuery{Text: "chest"})
	})
	require.NoError(t, err)
	require.Equal(t, 1, all.Total)
	here := m.values("player 1", all.List[0].ID)
	require.Equal(t, uint64(0), field(t, here, "purse.Gold").Value)
	require.False(t, field(t, here, "place.X").Editable)

	_, err = wait(m, func(ctx context.Context) (inspect.Values, error) { return m.in.Values(ctx, "match", 99999) })
	require.ErrorIs(t, err, ecs.ErrStale)
}

// A call that waits for a tick of a stopped end returns when its context ends. Too many waiting
// calls are refused.
func TestQuestionsAreBounded(t *testing.T) {
	m := play(t, 1, 0)
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	results := make(chan error, 100)
	for range 100 {
		go func() {
			_, err := m.in.Entities(ctx, "match", inspect.EntityQuery{})
			results <- err
		}()
	}
	busy := 0
	for range 100 {
		if err := <-results; err == inspect.ErrBusy {
			busy++
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
	require.Equal(t, 36, busy)
	m.run(2 * time.Second) // calls whose context has ended do not run
	_, err := wait(m, func(ctx context.Context) (inspect.Entities, error) {
		return m.in.Entities(ctx, "match", inspect.EntityQuery{})
	})
	require.NoError(t, err)
	m.run(100 * time.Millisecond)
	require.Nil(t, probe.OfServer(m.srv).Tap())
}

// Sight names each rule by which a player does not receive an entity.
func TestSight(t *testing.T) {
	m := play(t, 2, 0)
	sight := func(player uint16, e ecs.Entity) inspect.Sight {
		s, err := wait(m, func(ctx context.Context) (inspect.Sight, error) {
			return m.in.Sight(ctx, "match", player, inspect.EntityID(e))
		})
		require.NoError(t, err)
		return s
	}
	gets := func(s inspect.Sight, path string) bool {
		for _, f := range s.Fields {
			if f.Path == path {
				require.NotEmpty(t, f.Why)
				return f.Gets
			}
		}
		require.Fail(t, "no field", path)
		return false
	}
	near := sight(1, m.chests[0])
	require.True(t, near.Sees && near.Known)
	require.Contains(t, near.Why[0], "within Enter (20)")
	require.True(t, gets(near, "place.X"))
	require.False(t, gets(near, "purse.Gold"))

	far := sight(1, m.chests[1])
	require.False(t, far.Sees)
	require.Contains(t, far.Why[0], "begins to send within Enter (20)")
	require.False(t, gets(far, "place.X"))

	var own ecs.Entity
	for _, e := range []uint16{1, 2} {
		all, err := wait(m, func(ctx context.Context) (inspect.Entities, error) {
			return m.in.Entities(ctx, "match", inspect.EntityQuery{Text: fmt.Sprint("player ", e)})
		})
		require.NoError(t, err)
		if e == 1 {
			own = ecs.Entity(all.List[0].ID)
			mine := sight(1, own)
			require.Contains(t, mine.Why[0], "the player's own")
			require.True(t, gets(mine, "purse.Gold"))
			continue
		}
		other := ecs.Entity(all.List[0].ID)
		require.False(t, gets(sight(1, other), "purse.Plan"))
		f := m.srv.Frame()
		f.SetTeam(1, 3)
		f.SetTeam(2, 3)
		m.run(time.Second)
		require.True(t, gets(sight(1, other), "purse.Plan"), "an ally")
		f.SetVisible(1, other, false)
		hidden := sight(1, other)
		require.False(t, hidden.Sees)
		require.Contains(t, hidden.Why[0], "SetVisible")
	}
	_, err := wait(m, func(ctx context.Context) (inspect.Sight, error) {
		return m.in.Sight(ctx, "match", 7, inspect.EntityID(own))
	})
	require.ErrorContains(t, err, "player 7")
	_, err = m.in.Sight(context.Background(), "player 1", 1, 1)
	require.ErrorIs(t, err, inspect.ErrClient)
}

// Sights lists the same for each entity as Sight returns for one.
func TestSights(t *testing.T) {
	m := play(t, 3, 0)
	f := m.srv.Frame()
	f.SetTeam(1, 3)
	f.SetTeam(2, 3)
	var third ecs.Entity
	for _, e := range probe.OfServer(m.srv).Replicated() {
		if m.srv.World().Owner(e.Entity) == 3 {
			third = e.Entity
		}
	}
	f.SetVisible(1, third, false)
	m.run(time.Second)
	sights := func(player uint16, q inspect.SightsQuery) inspect.Sights {
		all, err := wait(m, func(ctx context.Context) (inspect.Sights, error) { return m.in.Sights(ctx, "match", player, q) })
		require.NoError(t, err)
		return all
	}
	for player := range uint16(3) {
		player++
		all := sights(player, inspect.SightsQuery{})
		require.Equal(t, len(probe.OfServer(m.srv).Replicated()), all.Total)
		require.Len(t, all.List, all.Total)
		sees, kept := 0, 0
		for _, x := range all.List {
			one, err := wait(m, func(ctx context.Context) (inspect.Sight, error) { return m.in.Sight(ctx, "match", player, x.ID) })
			require.NoError(t, err)
			require.Equal(t, one.Sees, x.Sees)
			require.NotEmpty(t, x.Why)
			var withheld []string
			for _, f := range one.Fields {
				if one.Sees && !f.Gets && f.Path != "push" {
					withheld = append(withheld, f.Path)
				}
			}
			require.Equal(t, withheld, x.Withheld)
			if x.Sees {
				sees++
			}
			if !x.Sees || len(x.Withheld) > 0 {
				kept++
			}
		}
		require.Equal(t, sees, all.Sees)
		less := sights(player, inspect.SightsQuery{Unseen: true, Most: 1})
		require.Equal(t, kept, less.Found)
		require.Len(t, less.List, 1)
	}
	hidden := sights(1, inspect.SightsQuery{Text: "setvisible"})
	require.Equal(t, 1, hidden.Found)
	require.Equal(t, inspect.EntityID(third), hidden.List[0].ID)
	ally := sights(1, inspect.SightsQuery{Text: "player 2"})
	require.Equal(t, []string{"purse.Gold"}, ally.List[0].Withheld, "its plan is for allies")
	require.Equal(t, 1, sights(1, inspect.SightsQuery{Text: "chest enter", Unseen: true}).Found-1, "one is near and keeps its gold, one is far")

	_, err := wait(m, func(ctx context.Context) (inspect.Sights, error) {
		return m.in.Sights(ctx, "match", 9, inspect.SightsQuery{})
	})
	require.ErrorContains(t, err, "player 9")
	_, err = m.in.Sights(context.Background(), "player 1", 1, inspect.SightsQuery{})
	require.ErrorIs(t, err, inspect.ErrClient)
}

// Edit sets values through Server.Do, and only those that fit their fields.
func TestEdit(t *testing.T) {
	m := play(t, 1, 0)
	var asked []string
	probe.OfServer(m.srv).OnCall(func(name string) { asked = append(asked, name) })
	chest := inspect.EntityID(m.chests[0])
	edit := func(ed inspect.Edit) (any, error) {
		return wait(m, func(ctx context.Context) (any, error) { return m.in.Edit(ctx, "match", ed) })
	}
	before, err := edit(inspect.Edit{Entity: chest, Path: "purse.Gold", Value: json.Number("120"), By: "ann"})
	require.NoError(t, err)
	require.Equal(t, uint64(0), before)
	require.Equal(t, uint16(120), m.game.bag.Get(m.srv.World(), m.chests[0]).Gold)
	require.Equal(t, []string{"ann: set purse.Gold"}, asked)
	for path, v := range map[string]any{"purse.Plan": "attack", "purse.Alarm": true, "purse.Name": "loot", "place.X": 7.5} {
		_, err = edit(inspect.Edit{Entity: chest, Path: path, Value: v})
		require.NoError(t, err, path)
	}
	_, err = edit(inspect.Edit{Path: "score.Round", Value: 3})
	require.NoError(t, err)
	require.Equal(t, uint8(3), m.game.score.Get(m.srv.World()).Round)
	bag := *m.game.bag.Get(m.srv.World(), m.chests[0])
	require.Equal(t, purse{Gold: 120, Plan: 1, Alarm: true, Name: "loot"}, bag)

	for _, bad := range []struct {
		path  string
		value any
	}{
		{"purse.Gold", 501}, {"purse.Gold", json.Number("-1")}, {"purse.Gold", 1.5}, {"purse.Gold", json.Number("1e999")}, {"purse.Gold", "many"}, {"purse.Gold", nil},
		{"place.X", 100.5}, {"place.X", true}, {"purse.Plan", "flee"}, {"purse.Name", "far too long a name"}, {"purse.Name", strings.Repeat("x", 300)},
		{"purse", 1}, {"purse.Nothing", 1}, {"foretick.NetworkID.Net", 1}, {"", 1}, {strings.Repeat("x", 300), 1}, {"purse.Gold", []any{1}},
	} {
		_, err = edit(inspect.Edit{Entity: chest, Path: bad.path, Value: bad.value})
		require.ErrorIs(t, err, inspect.ErrEdit, "%s = %v", bad.path, bad.value)
	}
	require.Equal(t, bag, *m.game.bag.Get(m.srv.World(), m.chests[0]))
	_, err = edit(inspect.Edit{Path: "score.Round", Value: 10})
	require.ErrorIs(t, err, inspect.ErrEdit)
	_, err = edit(inspect.Edit{Entity: 99999, Path: "purse.Gold", Value: 1})
	require.ErrorIs(t, err, ecs.ErrStale)
	_, err = m.in.Edit(context.Background(), "player 1", inspect.Edit{Entity: chest, Path: "purse.Gold", Value: 1})
	require.ErrorIs(t, err, inspect.ErrClient)
}

// JSON lines of a server and its clients can be joined by tick. The Chrome trace is valid JSON.
func TestExport(t *testing.T) {
	m := play(t, 1, 1)
	defer m.in.Open()()
	m.run(4 * time.Second)
	var b bytes.Buffer
	require.NoError(t, m.in.WriteJSONL(&b))
	ticks := map[string]map[float64]bool{"match": {}, "player 1": {}}
	kinds := map[string]int{}
	for _, text := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var l map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &l), text)
		kinds[l["kind"].(string)]++
		if l["kind"] == "tick" {
			ticks[l["end"].(string)][l["tick"].(float64)] = true
			require.Contains(t, l["figures"], "rtt_ms")
		}
	}
	require.Equal(t, 2, kinds["end"])
	require.NotZero(t, kinds["correction"])
	both := 0
	for tick := range ticks["match"] {
		if ticks["player 1"][tick] {
			both++
		}
	}
	require.Greater(t, both, 100)

	b.Reset()
	require.NoError(t, m.in.WriteChromeTrace(&b))
	var trace struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &trace))
	phases := map[string]int{}
	for _, e := range trace.TraceEvents {
		phases[e["ph"].(string)]++
	}
	for _, phase := range []string{"M", "X", "C", "i"} {
		require.NotZero(t, phases[phase], phase)
	}
}

// The protocol is shown without a tick.
func TestProtocol(t *testing.T) {
	m := play(t, 0, 0)
	prefabs, err := m.in.Prefabs("match")
	require.NoError(t, err)
	var names []string
	for _, p := range prefabs {
		names = append(names, p.Name)
	}
	require.Contains(t, names, "chest")
	systems, err := m.in.Systems("match")
	require.NoError(t, err)
	for _, s := range systems {
		if s.Name == "walk" {
			require.Equal(t, "shared", s.Runs)
			require.Equal(t, []string{"push"}, s.Reads)
			require.Equal(t, []string{"place"}, s.Writes)
			require.NotZero(t, s.Count)
		}
	}
	_, dot, err := m.in.Graph("match")
	require.NoError(t, err)
	require.Contains(t, dot, "shove")
}
