package rollback

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestNewWorldEndsEvents: a peer that begins with a new world cancels what it showed, and goes on to count.
// Without events.cancel in Peer.enter, a predicted event stays open.
func TestNewWorldEndsEvents(t *testing.T) {
	lost, neg := 0, 0
	for seed := range uint64(3) {
		b := newBout(t, 30+seed, relay.Config{Players: 2, Timeout: time.Minute})
		link := sim.Link{Latency: 30 * time.Millisecond}
		b.join(0, link, Config{}, nil)
		c := b.join(0, link, Config{Redial: func() (transport.Endpoint, error) { return nil, nil }}, nil)
		ticks := uint64(0)
		c.before = func(v View) {
			if v.RolledBack < 0 {
				neg = min(neg, v.RolledBack)
			}
			if n := c.peer.Stats().Ticks; n < ticks {
				neg--
			}
			ticks = c.peer.Stats().Ticks
		}
		b.run(4 * time.Second)
		open := func() int { h := &c.game.heard; return h.predicted - h.confirmed - h.cancelled }
		for range 2000 {
			b.run(5 * time.Millisecond)
			if open() > 0 {
				break
			}
		}
		was := open()
		c.spoil = true
		b.run(40 * time.Millisecond)
		c.spoil = false
		b.run(3 * time.Second)
		least := 1 << 30
		for range 600 {
			b.run(5 * time.Millisecond)
			least = min(least, open())
		}
		v := c.peer.View()
		require.Positive(t, was)
		require.Equal(t, Playing, v.State)
		if least > 0 {
			lost++
		}
	}
	require.Zero(t, lost)
	require.Zero(t, neg)
}

// TestCatchingUpDelaysNothing: what a late player lacks while it catches up is no reason to delay its input.
func TestCatchingUpDelaysNothing(t *testing.T) {
	b := newBout(t, 41, relay.Config{Players: 3})
	b.join(0, far, Config{}, nil)
	early := b.join(0, far, Config{}, nil)
	b.run(40 * time.Second)
	late := b.join(b.net.Now(), far, Config{}, nil)
	for i := range 6 {
		b.run(time.Second)
		v := late.peer.View()
		if i >= 2 {
			require.LessOrEqual(t, v.Delay, early.peer.View().Delay+3)
		}
	}
}

// TestDelayOfANewMatch: the input delay follows in a match whose ticks lie before those of the last one.
func TestDelayOfANewMatch(t *testing.T) {
	d := delay{hand: 3, above: 3, window: 8, rate: 60}
	for tick := foretick.Tick(90000); tick < 90100; tick++ {
		d.follow(tick)
	}
	require.Equal(t, 3, d.ticks)
	d.begin()
	d.hand = 10
	for tick := foretick.Tick(1); tick < 3000; tick++ {
		d.follow(tick)
	}
	require.Equal(t, 10, d.ticks)
}

// TestReplayOfOtherCommands: a replay whose commands have another size is refused.
func TestReplayOfOtherCommands(t *testing.T) {
	replay, _ := recorded(t, 24, 3*time.Second)
	var f replayFile
	require.NoError(t, f.read(bytes.NewReader(replay), 1<<20))
	f.rules.Size, f.rules.Fields, f.places = 1, nil, 16
	f.begin.standing = make([]byte, 16)
	s := settled.NewStanding(&f.rules, f.places)
	tick := settled.Tick{Tick: 1}
	for i := range 16 {
		tick.Changes = append(tick.Changes, settled.RosterChange{Player: foretick.PlayerID(i + 1), Joined: true, Person: 1})
		tick.Inputs = append(tick.Inputs, settled.Input{Player: foretick.PlayerID(i + 1), Command: []byte{0}})
	}
	f.ticks = s.Append(nil, &tick)
	var out bytes.Buffer
	require.NoError(t, f.write(&out))
	_, err := NewReplay(ReplayConfig{Protocol: new(fighters).protocol(t), From: &out})
	require.ErrorIs(t, err, errReplay)
}

// TestForeignPacketsCount: a packet that no relay sent counts as malformed.
func TestForeignPacketsCount(t *testing.T) {
	b := newBout(t, 1, relay.Config{Players: 2})
	c := b.join(0, far, Config{}, nil)
	b.run(2 * time.Second)
	c.peer.link.handle(&transport.Event{Kind: transport.Data, Peer: c.peer.link.peer, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}})
	require.Equal(t, uint64(1), c.peer.Stats().Malformed)
}

// TestClosedPeerWaitsForNobody: a peer that has ended does not wait.
func TestClosedPeerWaitsForNobody(t *testing.T) {
	b := newBout(t, 8, relay.Config{Players: 2, Wait: time.Second})
	link := sim.Link{Latency: 20 * time.Millisecond}
	other := b.join(0, link, Config{Window: Lockstep}, nil)
	slow := b.join(0, link, Config{Window: Lockstep}, nil)
	b.run(3 * time.Second)
	slow.hidden = true
	b.run(300 * time.Millisecond)
	require.True(t, other.peer.View().Waiting)
	require.NoError(t, other.peer.Close())
	n := other.peer.Stats().StalledSteps
	b.run(time.Second)
	require.Equal(t, n, other.peer.Stats().StalledSteps)
}

// TestPlaceOfAnother: a player whose place was another one's is not Playing while the ticks of that one run.
func TestPlaceOfAnother(t *testing.T) {
	b := newBout(t, 44, relay.Config{Players: 2})
	b.join(0, far, Config{}, nil)
	gone := b.join(0, far, Config{}, nil)
	b.run(20 * time.Second)
	player := gone.peer.View().Player
	require.NoError(t, gone.peer.Close())
	gone.hidden = true
	b.run(20 * time.Second)
	late := b.join(b.net.Now(), far, Config{}, nil)
	wrong := 0
	late.before = func(v View) {
		if v.State == Playing && v.Settled < 1500 {
			wrong++
		}
	}
	b.run(5 * time.Second)
	require.Equal(t, player, late.peer.View().Player)
	require.Equal(t, Playing, late.peer.View().State)
	require.Zero(t, wrong)
}

// TestWorldBeyondTheLimits: a match's world that is larger than a late player's configuration allows ends the late
// player's part of the match at once, and the error names the field.
func TestWorldBeyondTheLimits(t *testing.T) {
	for want, cfg := range map[string]Config{
		"raise rollback.Config.MaxWorld, which is 500":     {MaxWorld: 500},
		"raise rollback.Config.MaxEntities, which is 1000": {MaxEntities: 1000},
		"": {MaxEntities: 3000}, // it fits
	} {
		t.Run(want, func(t *testing.T) {
			b := newBout(t, 1, relay.Config{Players: 3, History: 10 * time.Second})
			for range 2 {
				b.join(0, far, Config{}, nil).game.boxes = 2500
			}
			b.run(13 * time.Second)
			cfg.Redial = func() (transport.Endpoint, error) { return nil, nil }
			late := b.join(b.net.Now(), far, cfg, nil)
			b.run(8 * time.Second)
			v := late.peer.View()
			if want == "" {
				require.Equal(t, Playing, v.State)
				require.NoError(t, v.Err)
				var replay bytes.Buffer
				require.NoError(t, late.peer.WriteReplay(&replay))
				again := ReplayConfig{Protocol: new(fighters).protocol(t), From: bytes.NewReader(replay.Bytes())}
				_, err := NewReplay(again)
				require.NoError(t, err)
				again.From, again.MaxEntities = &replay, 1000
				_, err = NewReplay(again)
				require.ErrorContains(t, err, "raise rollback.ReplayConfig.MaxEntities, which is 1000")
				return
			}
			var why *transport.DisconnectError
			require.ErrorAs(t, v.Err, &why)
			require.Equal(t, transport.Overflow, why.Code)
			require.Contains(t, why.Reason, want)
			require.LessOrEqual(t, len(why.Reason), 123, "a reason fits into a WebSocket's")
			require.Zero(t, late.peer.Stats().Malformed)
			require.EqualValues(t, 1, late.peer.Stats().Connections, "it does not try again")
		})
	}
}

// TestPeerThatFallsBehind: a peer that is so far behind that the relay no longer has its next tick gets a world,
// and keeps its connection.
func TestPeerThatFallsBehind(t *testing.T) {
	for _, redials := range []bool{false, true} {
		b := newBout(t, 61, relay.Config{Players: 2, History: 10 * time.Second, Timeout: time.Minute})
		b.join(0, far, Config{}, nil)
		b.join(0, far, Config{}, nil)
		b.run(time.Second)
		cfg := Config{Observe: true, Timeout: time.Minute}
		if redials {
			cfg.Redial = func() (transport.Endpoint, error) { return nil, nil }
		}
		c := b.join(b.net.Now(), far, cfg, nil)
		b.run(3 * time.Second)
		c.hidden = true // such as a tab in the background
		b.run(14 * time.Second)
		c.hidden = false
		b.run(8 * time.Second)
		require.Equal(t, Playing, c.peer.View().State)
		require.Equal(t, [3]uint64{1, 1, 0}, [3]uint64{c.peer.Stats().Connections, c.peer.Stats().Worlds, c.peer.Stats().Malformed})
	}
}

// TestAskThatComesLate: a world is sent that the relay asks for after its tick has settled.
func TestAskThatComesLate(t *testing.T) {
	b := newBout(t, 72, relay.Config{Players: 2})
	c := b.join(0, far, Config{}, nil)
	b.run(3 * time.Second)
	newest := c.peer.sim.sums.newest.Tick
	require.NotNil(t, c.peer.record.at(newest))
	_ = c.peer.takeReliable(settled.KindAsk, settled.Ask{Tick: newest, Until: 1 << 16}.Append(nil))
	b.run(500 * time.Millisecond)
	require.Equal(t, newest, c.peer.serving.tick, "the world is in the record, and is not sent")
}

// TestCloseWhileResuming: the first Close of a peer that connects again returns nil.
func TestCloseWhileResuming(t *testing.T) {
	b := newBout(t, 81, relay.Config{Players: 2})
	c := b.join(0, far, Config{Redial: func() (transport.Endpoint, error) { return nil, nil }}, nil)
	b.run(2 * time.Second)
	c.peer.cfg.Redial = func() (transport.Endpoint, error) { return nil, errors.New("no network") }
	b.net.Kill(c.end)
	b.run(7 * time.Second)
	require.Equal(t, Resuming, c.peer.View().State)
	require.NoError(t, c.peer.Close(), "the first Close")
}

// TestDelayBeyondThePath: the input delay that the game chose holds on a path that needs less.
func TestDelayBeyondThePath(t *testing.T) {
	b := newBout(t, 83, relay.Config{Players: 2})
	link := sim.Link{Latency: 20 * time.Millisecond}
	b.join(0, link, Config{}, nil)
	c := b.join(0, link, Config{}, nil)
	for _, d := range []int{6, 12, 30, 7} {
		require.NoError(t, c.peer.SetDelay(d))
		b.run(6 * time.Second)
		require.Equal(t, d, c.peer.View().Delay)
	}
	b.compare()
}

// TestPastIsNotShown: a late player does not hear what happened long before it came.
func TestPastIsNotShown(t *testing.T) {
	b := newBout(t, 73, relay.Config{Players: 3})
	b.join(0, far, Config{}, nil)
	b.join(0, far, Config{}, nil)
	b.run(50 * time.Second)
	l := b.join(b.net.Now(), far, Config{}, nil)
	l.before = func(v View) {
		if v.State != Playing {
			require.Zero(t, v.Delay, "its world is no measure of it")
		}
		if int32(b.relay.Stats().Tick-v.Tick) > 150 {
			require.Zero(t, l.game.heard.predicted, "at tick %d", v.Tick)
		}
	}
	for range 20 {
		b.run(100 * time.Millisecond)
		if l.peer.View().State == Playing {
			break
		}
	}
	require.Less(t, 5*l.game.heard.predicted, l.game.heard.onServer, "it hears the last second or so")
	require.Greater(t, l.game.heard.onServer, 30)
	require.Greater(t, len(l.game.finals), 30, "what runs once runs here, too")
}

// TestSlowSteps: a peer whose Steps come seldom, as in a hidden tab, has in each of them all ticks since the one before. It
// does not fall behind, and needs no world.
func TestSlowSteps(t *testing.T) {
	for _, observe := range []bool{false, true} {
		b := newBout(t, 64, relay.Config{Players: 3, History: 10 * time.Second, Timeout: time.Minute})
		b.join(0, far, Config{}, nil)
		slow := b.join(0, far, Config{Observe: observe}, nil)
		b.run(2 * time.Second)
		slow.hidden = true
		for range 20 {
			b.run(3 * time.Second)
			v := slow.peer.Step(midnight.Add(b.net.Now()))
			require.Equal(t, Playing, v.State)
		}
		require.Less(t, int(b.relay.Stats().Tick-slow.peer.View().Settled), 200)
		require.Zero(t, slow.peer.Stats().Worlds)
		b.compare()
	}
}
