package relay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/settled/settledtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var near = sim.Link{Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond}

// lag runs a table for a time, and returns by how many ticks the newest settled tick was behind the
// relay's clock at most.
func (t *table) lag(d time.Duration) (most float64) {
	for end := t.until + d; t.until < end; {
		t.run(time.Millisecond)
		m := t.relay.match
		most = max(most, m.clock.ticks(t.relay.now)-float64(m.settling.newest))
	}
	return most
}

// TestSettlesAtOnce: a tick settles as soon as all inputs are there, and not before the tick before it
// has begun.
func TestSettlesAtOnce(t *testing.T) {
	tb := newTable(t, Config{}, time.Millisecond)
	a, b := tb.add(near), tb.add(near)
	tb.run(2 * time.Second)
	before := tb.relay.Stats()
	require.Equal(t, 2, before.Players)
	require.Less(t, tb.lag(2*time.Second), 0.2)
	after := tb.relay.Stats()
	require.Equal(t, before.StoodIn, after.StoodIn)
	require.InDelta(t, 120, after.Ticks-before.Ticks, 1)
	require.Zero(t, after.Waited+after.Late)
	require.Greater(t, len(a.early), 100)
	require.Positive(t, b.early[len(b.early)-1])
	tb.equal()
	a.lead, b.lead = 40, 40
	tb.run(time.Second)
	m := tb.relay.match
	require.InDelta(t, m.clock.ticks(tb.relay.now)+0.5, float64(m.settling.newest), 0.6, "peers cannot make the match run faster")
}

// TestSilentPlayerCostsWaitOnce: a player whose inputs end holds the others up for Wait, once. After
// Timeout it leaves in the same tick for all.
func TestSilentPlayerCostsWaitOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		silence func(*dummy)
		leaves  bool
	}{
		{"sends nothing", func(d *dummy) { d.silent = true }, true},
		{"sends no commands", func(d *dummy) { d.still = true }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := newTable(t, Config{Players: 3, Wait: 100 * time.Millisecond, Timeout: 3 * time.Second}, time.Millisecond)
			a, b, silent := tb.add(near), tb.add(near), tb.add(near)
			tb.run(2 * time.Second)
			c.silence(silent)
			require.InDelta(t, 7, tb.lag(time.Second), 0.3, "Wait, and the tick itself")
			require.Less(t, tb.lag(4*time.Second), 1.2)
			st := tb.relay.Stats()
			require.EqualValues(t, 1, st.Waited)
			tb.equal()
			if !c.leaves {
				require.Zero(t, st.Left)
				require.Equal(t, 3, st.Players)
				silent.still = false
				silent.made = 0
				tb.run(time.Second)
				before := tb.relay.Stats().StoodIn
				tb.run(time.Second)
				require.Equal(t, before, tb.relay.Stats().StoodIn, "it plays again")
				return
			}
			require.EqualValues(t, 1, st.Left)
			require.Equal(t, 2, st.Players)
			require.Len(t, a.joined(silent.hello.Player, false), 1)
			require.Equal(t, a.joined(silent.hello.Player, false), b.joined(silent.hello.Player, false))
		})
	}
}

// TestStandInsRepeatThenIdle: what stands in for a missing input is the last one without presses, and
// zero after RepeatInput.
func TestStandInsRepeatThenIdle(t *testing.T) {
	r := settledtest.Rules
	s := settled.NewStanding(&r, 2)
	cfg := Config{RepeatInput: 50 * time.Millisecond}
	p := newPlaces(&cfg, s, r.Rate)
	g := &guest{state: following, showed: true}
	require.EqualValues(t, 1, p.take(g, [16]byte{1}, &r))
	send := netcode.NewCommandSender(3, netcode.CommandConfig{Fields: settled.Widths(r.Fields)})
	send.Push(netcode.Command{Tick: 1, Render: 1, Data: []byte{0xff, 0xff, 0x3f}})
	require.NoError(t, p.all[0].readCommands(send.Append(nil, 100), 0, 8, 0))
	want := [][]byte{{0xff, 0xff, 0x3f}, {0xff, 0xff, 0}, {0xff, 0xff, 0}, {0xff, 0xff, 0}, {0, 0, 0}, {0, 0, 0}}
	var tick settled.Tick
	for i, w := range want {
		p.fill(&tick, netcode.Tick(i+1), netcode.Tick(i))
		require.Equal(t, []settled.Input{{Player: 1, Command: w, StandIn: i > 0}}, tick.Inputs, "tick %d", i+1)
	}
	require.EqualValues(t, 5, p.stoodIn)
}

// TestLateInputsAreDropped: inputs that come after their tick settled change nothing, are counted, and
// their sender learns that others stand in for them.
func TestLateInputsAreDropped(t *testing.T) {
	tb := newTable(t, Config{Wait: 50 * time.Millisecond}, time.Millisecond)
	tb.add(near)
	late := tb.add(near)
	tb.run(2 * time.Second)
	require.Zero(t, tb.relay.Stats().Late)
	late.ownGone = nil
	late.lead = -8
	late.made = 0
	tb.run(2 * time.Second)
	st := tb.relay.Stats()
	require.Greater(t, st.Late, uint64(80))
	require.Greater(t, len(late.ownGone), 80)
	require.Negative(t, late.early[len(late.early)-1], "it is told how late it is")
	tb.equal()
}

// TestAbsentPlayersReturnInTime: the relay does not wait for a player that made it wait, but an input that
// comes before its clock reaches the tick counts, though all others came long before.
func TestAbsentPlayersReturnInTime(t *testing.T) {
	tb := newTable(t, Config{Wait: -1}, time.Millisecond)
	link := sim.Link{Latency: 20 * time.Millisecond}
	a := tb.add(link)
	tb.run(5 * time.Millisecond)
	b := tb.add(link)
	a.lead, b.lead = 12, 2
	tb.run(3 * time.Second)
	before := tb.relay.Stats().StoodIn
	b.early = nil
	tb.run(2 * time.Second)
	require.Equal(t, before, tb.relay.Stats().StoodIn)
	require.Less(t, slices.Max(b.early), int16(256), "%v: otherwise the test shows nothing", b.early)
}

// TestHostilePackets: what a peer sends beside the rules is dropped and counted, and does not hold up the
// others. A peer that goes on is dropped.
func TestHostilePackets(t *testing.T) {
	tb := newTable(t, Config{Players: 3, Wait: -1}, time.Millisecond)
	a, b, bad := tb.add(near), tb.add(near), tb.add(near)
	tb.run(time.Second)
	r := rand.New(rand.NewPCG(5, 6))
	types := []netcode.MessageType{netcode.MessageHello, netcode.MessageCommands, settled.MessagePresence, settled.MessageSettled, 200}
	bad.garbage = func() (netcode.MessageType, []byte) {
		body := make([]byte, r.IntN(40))
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		_ = bad.conn.SendOn(uint8(r.IntN(2)), 0, uint8(r.IntN(9)), body)
		return types[r.IntN(len(types))], body
	}
	tb.run(4 * time.Second)
	require.True(t, bad.gone)
	require.Equal(t, transport.Malformed, bad.code, bad.reason)
	require.GreaterOrEqual(t, tb.relay.Stats().Malformed, uint64(mostFaults))
	require.False(t, a.gone || b.gone)
	tb.equal()
}

// FuzzRelay: no message of a peer makes the relay panic, or allocate much.
func FuzzRelay(f *testing.F) {
	f.Add(uint8(netcode.MessageHello), uint8(0), netcode.Hello{Version: netcode.Version, Protocol: 99, Data: (&settled.Declaration{Rules: settledtest.Rules}).Append(nil)}.Append(nil))
	f.Add(uint8(settled.MessagePresence), uint8(0), settled.Presence{Settled: 3}.Append(nil))
	f.Add(uint8(0), settled.KindSum, settled.Sum{Tick: 60}.Append(nil))
	f.Add(uint8(0), settled.KindPiece, (&settled.Piece{Tick: 60, Total: 9, Data: []byte{1}}).Append(nil))
	f.Fuzz(func(t *testing.T, kind, reliable uint8, body []byte) {
		tb := newTable(t, Config{}, 0)
		d := tb.add(sim.Link{})
		tb.run(tb.rate)
		for range 20 {
			tb.run(tb.rate)
			tb.relay.Step(epoch.Add(tb.until))
		}
		require.Len(t, tb.relay.guests.all, 1)
		g := tb.relay.guests.all[0]
		require.NotZero(t, g.player, d.reason)
		costtest.Bound(t, len(body), func() {
			_ = tb.relay.readMessage(g, netcode.Message{Type: netcode.MessageType(kind), Body: body})
			for channel := range uint8(2) {
				_ = tb.relay.readReliable(g, netcode.Reliable{Channel: channel, Kind: reliable, Payload: body})
			}
			tb.relay.send()
		})
	})
}

// TestJoinStaggered: 64 players come one after another, the last ones long after the ring has lost the
// first tick. All are let in, and have the same world.
func TestJoinStaggered(t *testing.T) {
	tb := newTable(t, Config{Players: 64, History: 10 * time.Second, Wait: -1}, 10*time.Millisecond)
	for i := range 64 {
		tb.add(near).declared.Rate = 20
		if i >= 20 { // the first ones come together
			tb.run(350 * time.Millisecond)
		}
	}
	together := map[netcode.Tick]int{}
	for _, c := range tb.peers[0].changes {
		together[c.tick]++
		require.LessOrEqual(t, together[c.tick], settled.MostChanges)
	}
	for range 60 {
		if tb.relay.Stats().Players == 64 {
			break
		}
		tb.run(time.Second)
	}
	st := tb.relay.Stats()
	require.Equal(t, 64, st.Players)
	require.EqualValues(t, 64, st.Joined)
	require.Greater(t, st.Worlds, uint64(5))
	require.Zero(t, st.Malformed+st.Differed+st.Lies)
	tb.run(time.Second)
	tb.equal()
	tb.add(near).declared.Rate = 20
	tb.run(500 * time.Millisecond)
	require.Equal(t, transport.Full, tb.peers[64].code)
}

// TestTooLongCommand: a game whose inputs of one tick do not fit into a packet is refused.
func TestTooLongCommand(t *testing.T) {
	for size, fits := range map[uint16]bool{400: true, 401: true, 600: false, settled.MaxCommand: false} {
		r := settled.Rules{Rate: 60, Size: size}
		require.Equal(t, fits, settled.LongestTick(&r, 2) <= settled.MostTick, "%d bytes", size)
		write, read := settled.NewStanding(&r, 2), settled.NewStanding(&r, 2)
		command := make([]byte, size)
		for i := range command {
			command[i] = 0xff
		}
		tick := settled.Tick{Tick: 1, Inputs: []settled.Input{{Player: 1, Command: command, StandIn: true}, {Player: 2, Command: command, StandIn: true}},
			Changes: []settled.RosterChange{{Player: 1, Joined: true}, {Player: 2, Joined: true}}}
		b := write.Append(nil, &tick)
		require.LessOrEqual(t, len(b), settled.LongestTick(&r, 2))
		_, ok := read.Read(b, &tick)
		require.True(t, ok)
	}
	tb := newTable(t, Config{}, time.Millisecond)
	d := tb.add(near)
	d.declared.Rules = settled.Rules{Rate: 60, Size: 600}
	tb.run(500 * time.Millisecond)
	require.Equal(t, transport.Mismatch, d.code)
	require.Contains(t, d.reason, "fit into a packet")
}

// lateMatch is a match of some players that has run for longer than its ring holds.
func lateMatch(t testing.TB, players int, cfg Config, link sim.Link, size int) *table {
	cfg.Players = players + 2
	if cfg.History == 0 {
		cfg.History = 10 * time.Second
	}
	tb := newTable(t, cfg, 2*time.Millisecond)
	for range players {
		tb.add(link).size = size
	}
	tb.run(cfg.History + time.Second)
	require.Equal(t, players, tb.relay.Stats().Players)
	return tb
}

// TestWorldArrives: a world of 300 kB comes whole through losses, in pieces, and the peer that got it
// plays on as the others do.
func TestWorldArrives(t *testing.T) {
	link := near
	link.Loss = 0.02
	tb := lateMatch(t, 2, Config{SendRate: 200_000}, link, 300_000)
	late := tb.add(link)
	late.size = 300_000
	tb.run(10 * time.Second)
	require.Equal(t, 1, late.worlds)
	require.Len(t, late.pieces, 300_000)
	st := tb.relay.Stats()
	require.Equal(t, 3, st.Players)
	require.EqualValues(t, 1, st.Worlds)
	require.Zero(t, st.Malformed+st.Differed)
	tb.equal()
}

// TestWrongWorldIsRefused: a world that is not that of the majority does not reach the joiner, and
// another player is asked. Who sends two is dropped.
func TestWrongWorldIsRefused(t *testing.T) {
	tb := lateMatch(t, 3, Config{}, near, 5000)
	w := tb.relay.match.worlds
	require.True(t, w.ask(tb.relay.now))
	liar := tb.player(w.transfer.from.player) // who would be asked
	liar.lies = true
	for n := 1; n <= 2; n++ {
		late := tb.add(near)
		late.size = 5000
		for p := range tb.relay.match.places.all {
			if p != int(liar.hello.Player)-1 { // so that the liar is asked first
				tb.relay.match.places.all[p].stoodIn = tb.relay.match.settling.newest
			}
		}
		asked := tb.relay.match.places.at(liar.hello.Player)
		asked.slow = 0
		tb.run(8 * time.Second)
		require.Equal(t, n == 1, asked.slow == 1, "it is asked after the others from now on")
		require.EqualValues(t, n, tb.relay.Stats().Lies)
		require.Equal(t, 1, late.worlds)
		require.Equal(t, n == 2, liar.gone)
		tb.equal()
	}
	require.Equal(t, transport.Protocol, liar.code)
	require.Equal(t, 4, tb.relay.Stats().Players)
}

// TestTwoMustAgree: of two players whose worlds differ, nobody knows which one is right, and nobody gets
// either.
func TestTwoMustAgree(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 64)
	tb.player(2).wrong = 1
	tb.run(time.Second)
	late := tb.add(near)
	tb.run(25 * time.Second)
	require.Zero(t, late.worlds)
	require.Equal(t, transport.Full, late.code)
	require.Zero(t, tb.relay.Stats().Lies)
}

// TestWorldOfASilentPlayer: a player that is asked and does not answer is given up for another.
func TestWorldOfASilentPlayer(t *testing.T) {
	tb := lateMatch(t, 2, Config{Timeout: time.Minute}, near, 5000)
	tb.add(near).size = 5000
	tb.run(100 * time.Millisecond)
	require.NotNil(t, tb.relay.match.worlds.transfer.from)
	asked := tb.player(tb.relay.match.worlds.transfer.from.player)
	asked.silent = true
	tb.run(15 * time.Second)
	require.Equal(t, 1, tb.peers[2].worlds)
	require.Equal(t, 3, tb.relay.Stats().Players)
	tb.equal()
}

// TestLateSpectator: a spectator gets ticks from any tick on that the ring holds, and a world otherwise.
// Around both ends nothing is read that is not there.
func TestLateSpectator(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 5000)
	m := tb.relay.match
	newest := m.settling.newest
	oldest := newest - netcode.Tick(m.settling.kept) + 1
	require.Greater(t, oldest, netcode.Tick(5))
	for _, end := range []netcode.Tick{oldest, newest} {
		for has := end - 4; has != end+5; has++ {
			g := &guest{conn: netcode.NewConn(netcode.Config{Channels: settled.Channels()})}
			w := m.admit(g, &settled.Declaration{Rules: settledtest.Rules, Match: m.id, Holds: has})
			in := has >= oldest-1 && has <= newest
			require.Equal(t, !in, w.World, "has %d of %d to %d", has, oldest, newest)
			h, ticks, err := settled.ReadSettled(m.appendSettled(nil, g, tb.relay.now, 1200))
			require.NoError(t, err)
			if m.worlds.forget(g); !in {
				require.Zero(t, h.Count)
				continue
			}
			require.Equal(t, has+1, w.Next)
			require.Equal(t, has+1, h.First)
			require.Equal(t, min(int(newest-has), settled.MaxTicks), h.Count)
			s := *m.settling.standing
			for range h.Count {
				var ok bool
				ticks, ok = s.Skip(ticks)
				require.True(t, ok)
			}
			require.Empty(t, ticks)
		}
	}
	watcher := tb.watch(near)
	tb.run(5 * time.Second)
	require.Equal(t, 1, watcher.worlds)
	require.Equal(t, 1, tb.relay.Stats().Observers)
	tb.equal()
	watcher.mute = true // it falls behind, until the ring has lost its next tick
	tb.run(11 * time.Second)
	watcher.mute = false
	tb.run(5 * time.Second)
	require.Equal(t, 2, watcher.worlds)
	require.Equal(t, 2, tb.relay.Stats().Players)
	tb.equal()
}

// TestReconnect: a player that comes back with its token has its place again without joining anew: with
// the inputs that it missed if the ring has them, else with a world.
func TestReconnect(t *testing.T) {
	tb := lateMatch(t, 3, Config{Timeout: 30 * time.Second}, near, 5000)
	back := tb.peers[1]
	place := back.hello.Player
	for n, keeps := range []bool{true, false} {
		back.redial(near, keeps)
		tb.run(6 * time.Second)
		require.Equal(t, place, back.hello.Player)
		require.True(t, back.hello.Resumed)
		require.Equal(t, !keeps, back.hello.World)
		st := tb.relay.Stats()
		require.EqualValues(t, n+1, st.Resumed)
		require.EqualValues(t, 3, st.Joined)
		require.Zero(t, st.Left+st.Malformed+st.Differed)
		tb.equal()
	}
	before := tb.relay.Stats().StoodIn
	tb.run(time.Second)
	require.Equal(t, before, tb.relay.Stats().StoodIn)
	require.Equal(t, 1, back.worlds)
}

// TestDifferingSumsAreTold: who has another world than most players is told, and so is one of them.
func TestDifferingSumsAreTold(t *testing.T) {
	tb := lateMatch(t, 3, Config{}, near, 64)
	st := tb.relay.Stats()
	require.Greater(t, st.Compared, uint64(5))
	require.Zero(t, st.Differed)
	one, other := tb.player(1), tb.player(2)
	other.wrong = 1
	tb.run(1500 * time.Millisecond)
	require.NotEmpty(t, other.differs)
	d := other.differs[0]
	require.False(t, d.Most)
	require.Zero(t, d.Tick%60)
	require.Equal(t, d.Tick-60, d.Agreed)
	require.EqualValues(t, 1, d.Other)
	require.Equal(t, settled.Differ{Tick: d.Tick, Agreed: d.Agreed, Other: 2, Theirs: d.Theirs + 1, Most: true}, one.differs[0])
	require.Empty(t, tb.player(3).differs)
	require.Positive(t, tb.relay.Stats().Differed)
}

// TestAgreedMeansAll: a tick is named as one at which all worlds were equal only if the sums of all came, and never an
// older one than before, nor one after the tick that differs.
func TestAgreedMeansAll(t *testing.T) {
	r := settledtest.Rules
	p := newPlaces(&Config{}, settled.NewStanding(&r, 2), r.Rate)
	for i := range byte(2) {
		p.take(&guest{conn: netcode.NewConn(netcode.Config{Channels: settled.Channels()}), state: following, showed: true}, [16]byte{i + 1}, &r)
	}
	s := sums{places: p}
	begin := func(tick netcode.Tick) *sumRound {
		s.begin(&settled.Tick{Tick: tick, Inputs: []settled.Input{{Player: 1}, {Player: 2}}}, time.Second)
		return s.round(tick)
	}
	begin(60)
	s.take(1, settled.Sum{Tick: 60, Sum: 7})
	s.step(5 * time.Second) // player 2 told nothing
	require.True(t, s.round(60).decided)
	require.Zero(t, s.agreed)
	begin(120)
	begin(180)
	for _, tick := range []netcode.Tick{180, 120} {
		s.take(1, settled.Sum{Tick: tick, Sum: 7})
		s.take(2, settled.Sum{Tick: tick, Sum: 7})
		require.EqualValues(t, 180, s.agreed)
	}
	older := begin(150) // which differs
	s.take(1, settled.Sum{Tick: 150, Sum: 7})
	s.take(2, settled.Sum{Tick: 150, Sum: 8})
	require.True(t, older.decided)
	require.Zero(t, s.agreedBefore(150))
	require.EqualValues(t, 180, s.agreedBefore(240))
}

// TestMatchEndsWithItsLastPlayer: when the last player leaves, watchers are sent away, and the next player
// begins another match, which another game may play.
func TestMatchEndsWithItsLastPlayer(t *testing.T) {
	tb := newTable(t, Config{}, time.Millisecond)
	a := tb.add(near)
	tb.run(time.Second)
	watcher := tb.watch(near)
	tb.run(time.Second)
	require.Equal(t, 1, tb.relay.Stats().Observers)
	a.conn.Close(uint16(transport.Closed), "bye")
	tb.run(time.Second)
	require.Nil(t, tb.relay.match)
	require.Equal(t, transport.Closed, watcher.code)
	b := tb.add(near)
	b.declared.Rate = 30
	tb.run(time.Second)
	require.Equal(t, 1, tb.relay.Stats().Players)
	require.NotEqual(t, a.hello.Match, b.hello.Match)
	for what, change := range map[string]func(*dummy){
		"ticks a second": func(d *dummy) { d.declared.Rate = 60 },
		"window":         func(d *dummy) { d.declared.Rate, d.declared.Window = 30, 0 },
		"tags":           func(d *dummy) { d.declared.Rate, d.declared.Tags = 30, 8 },
	} {
		other := tb.add(near)
		change(other)
		tb.run(500 * time.Millisecond)
		require.Equal(t, transport.Mismatch, other.code)
		require.Contains(t, other.reason, what)
	}
	tb.relay.Drain("no more matches")
	other := tb.add(near)
	other.declared.Rate = 30
	tb.run(500 * time.Millisecond)
	require.Equal(t, "no more matches", other.reason)
	b.conn.Close(uint16(transport.Closed), "bye")
	tb.run(500 * time.Millisecond)
	require.ErrorIs(t, tb.relay.Close(""), transport.ErrClosed)
	require.EqualValues(t, 4, tb.relay.Stats().Refused)
}

// TestMatchWithoutAWorld: if the last player that has the match's world leaves while another one waits for it, the match
// ends, and those who wait may begin another one. Before, they waited in vain, and so did all who came later.
func TestMatchWithoutAWorld(t *testing.T) {
	tb := lateMatch(t, 2, Config{}, near, 70_000)
	for _, d := range tb.peers {
		d.trickle = true // so that its world does not come whole
	}
	late := tb.add(near)
	tb.run(2 * time.Second)
	m := tb.relay.match
	require.Equal(t, 1, tb.relay.Stats().Waiting)
	tb.peers[0].conn.Close(uint16(transport.Closed), "bye")
	tb.run(time.Second)
	require.Same(t, m, tb.relay.match, "one has the world")
	tb.peers[1].end.Disconnect(tb.peers[1].peer, transport.Timeout, "")
	tb.run(2 * time.Second)
	require.Same(t, m, tb.relay.match, "it may come back")
	tb.run(9 * time.Second)
	require.Nil(t, tb.relay.match)
	require.Equal(t, transport.Restart, late.code)
	require.Contains(t, late.reason, "nobody has the match's world")
	next := tb.add(near)
	tb.run(time.Second)
	require.False(t, next.gone, next.reason)
	require.Equal(t, 1, tb.relay.Stats().Players)
}

// TestObserverThatPlays: a peer that waited to watch and then says that it plays is a player alone, and leaves its room to
// another observer.
func TestObserverThatPlays(t *testing.T) {
	tb := newTable(t, Config{MaxObservers: 1}, time.Millisecond)
	a := tb.watch(near)
	tb.run(300 * time.Millisecond)
	require.Equal(t, 1, tb.relay.Stats().Observers)
	a.role = netcode.RolePlay
	tb.run(time.Second)
	require.Equal(t, 1, tb.relay.Stats().Players)
	require.Zero(t, tb.relay.Stats().Observers)
	watcher := tb.watch(near)
	tb.run(500 * time.Millisecond)
	require.False(t, watcher.gone, watcher.reason)
}

// TestMatchEndsBeforeItsTicksWrap: a match whose ticks come near 2³² ends with a reason, also if the program was stopped
// for so long that the clock is beyond. The next player begins another match.
func TestMatchEndsBeforeItsTicksWrap(t *testing.T) {
	for name, beyond := range map[string]float64{"in time": lastTick, "an hour later": lastTick + 60*3600} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, Config{}, time.Millisecond)
			held, a, watcher := tb.add(near), tb.add(near), tb.watch(near)
			tb.run(300 * time.Millisecond)
			held.end.Disconnect(held.peer, transport.Timeout, "") // otherwise nobody has a world in a moment
			tb.run(100 * time.Millisecond)
			for _, d := range []*dummy{a, watcher} {
				d.mute, d.still = true, true // they are not told that so much time has passed
			}
			m := tb.relay.match
			m.settling.newest, m.settling.kept, m.settling.standing.Tick = lastTick-10, 0, lastTick-10
			m.clock.origin = 0
			m.clock.origin = tb.relay.now - m.clock.due(beyond-10)
			tb.run(100 * time.Millisecond)
			if name == "in time" {
				require.Same(t, m, tb.relay.match)
			}
			tb.run(200 * time.Millisecond)
			require.NotSame(t, m, tb.relay.match)
			require.EqualValues(t, netcode.Tick(lastTick), m.settling.newest)
			for _, d := range []*dummy{a, watcher} {
				require.Equal(t, transport.Closed, d.code)
				require.Contains(t, d.reason, "2³² ticks")
			}
			b := tb.add(near)
			tb.run(500 * time.Millisecond)
			require.Equal(t, 1, tb.relay.Stats().Players)
			require.NotEqual(t, a.hello.Match, b.hello.Match)
			require.Less(t, tb.relay.Stats().Tick, netcode.Tick(60))
		})
	}
}

// TestUnusedRelayCloses: with CloseAfter a relay closes once nobody has played for that time, also one to which nobody
// ever came. A match that runs keeps it open, and so does a new one in that time.
func TestUnusedRelayCloses(t *testing.T) {
	open := func(tb *table) bool { return !tb.relay.closed }
	tb := newTable(t, Config{CloseAfter: 3 * time.Second}, time.Millisecond)
	tb.run(2900 * time.Millisecond)
	require.True(t, open(tb))
	for range 2 { // two matches, one after another
		a := tb.add(near)
		tb.run(5 * time.Second)
		require.Equal(t, 1, tb.relay.Stats().Players)
		a.conn.Close(uint16(transport.Closed), "bye")
		tb.run(2500 * time.Millisecond)
		require.Nil(t, tb.relay.match)
		require.True(t, open(tb))
	}
	greets := tb.watch(near) // one who only greets does not keep it open
	tb.run(time.Second)
	require.False(t, open(tb))
	require.Equal(t, "nobody plays any more", greets.reason)

	never := newTable(t, Config{CloseAfter: 3 * time.Second}, time.Millisecond)
	never.run(3100 * time.Millisecond)
	require.False(t, open(never))
	stays := newTable(t, Config{}, time.Millisecond)
	stays.run(time.Minute)
	require.True(t, open(stays))
}

// TestOnePacketATick: in lockstep, where inputs come just in time and unevenly, a guest is still sent one packet a tick.
func TestOnePacketATick(t *testing.T) {
	tb := newTable(t, Config{Players: 4}, time.Millisecond)
	for range 4 {
		d := tb.add(sim.Link{Latency: 20 * time.Millisecond, Jitter: 4 * time.Millisecond})
		d.lead, d.declared.Window = 1.2, 0
	}
	tb.run(2 * time.Second)
	before := tb.relay.Stats()
	tb.run(10 * time.Second)
	after := tb.relay.Stats()
	sent, ticks := float64(after.PacketsOut-before.PacketsOut)/4, float64(after.Ticks-before.Ticks)
	t.Logf("%.2f packets a tick to each", sent/ticks)
	require.InDelta(t, 600, ticks, 1)
	require.InDelta(t, 1, sent/ticks, 0.1)
}

// relays are matches of two players that have played for a second, at 60 ticks a second.
func relays(t testing.TB, n int) (all []*table) {
	for range n {
		tb := newTable(t, Config{}, 0)
		for range 2 {
			tb.add(sim.Link{Latency: 10 * time.Millisecond})
		}
		all = append(all, tb)
	}
	for range settledtest.Rules.Rate {
		stepAll(all, true)
	}
	return all
}

// stepAll plays a tick of all matches. It steps the relays only if step is true.
func stepAll(all []*table, step bool) {
	for _, tb := range all {
		tb.run(tb.rate)
	}
	if step {
		for _, tb := range all {
			tb.relay.Step(epoch.Add(tb.until))
		}
	}
}

// TestFiguresOfTheRelay prints what a match of two players costs its relay.
func TestFiguresOfTheRelay(t *testing.T) {
	costtest.Figures(t)
	costtest.Ratio(t)
	n := costtest.Count(100, 1000)
	all := relays(t, n)
	bytes := func() (sum uint64) {
		for _, tb := range all {
			st := tb.relay.Stats()
			sum += st.BytesIn + st.BytesOut + 28*(st.PacketsIn+st.PacketsOut)
		}
		return sum
	}
	before, ticks := bytes(), 30
	var memory uint64
	var took time.Duration
	for range ticks {
		stepAll(all, false)
		m, d := costtest.Cost(func() {
			for _, tb := range all {
				tb.relay.Step(epoch.Add(tb.until))
			}
		})
		memory, took = memory+m, took+d
	}
	each := float64(n * ticks)
	t.Logf("%d matches of 2 players: %.2f µs, %.0f B in and out with UDP and IP headers, and %.1f B of memory a match and tick",
		n, took.Seconds()*1e6/each, float64(bytes()-before)/each, float64(memory)/each)
	for _, tb := range all {
		st := tb.relay.Stats()
		require.Equal(t, 2, st.Players)
		require.Zero(t, st.Malformed)
	}
	require.Less(t, float64(memory)/each, 40.0, "each tick takes a slot of the ring until that is full, and nothing else")
}

// BenchmarkRelay steps 1 000 matches of two players by a tick.
func BenchmarkRelay(b *testing.B) {
	all := relays(b, 1000)
	for b.Loop() {
		b.StopTimer()
		stepAll(all, false)
		b.StartTimer()
		for _, tb := range all {
			tb.relay.Step(epoch.Add(tb.until))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(all)), "µs/match")
}

// TestLongPaths: over paths of more than a second there and back, more ticks are on their way than fit into a packet, and
// the relay knows late what a player has. The players join all the same, and lose no input for good.
func TestLongPaths(t *testing.T) {
	for _, loss := range []float64{0, 0.05} {
		far := sim.Link{Latency: 650 * time.Millisecond, Jitter: 20 * time.Millisecond, InOrder: true, Loss: loss}
		tb := newTable(t, Config{}, 2*time.Millisecond)
		a, b := tb.add(far), tb.add(near)
		a.lead, b.lead = 48, 48
		tb.run(20 * time.Second)
		require.Equal(t, 2, tb.relay.Stats().Players)
		require.Len(t, b.joined(a.hello.Player, true), 1)
		for range 100 {
			tb.run(50 * time.Millisecond)
			lacks := netcode.Distance(tb.relay.match.settling.newest, a.standing.Tick)
			require.Less(t, lacks, 75, "it lacks what is on its way, with %v loss", loss)
		}
		require.Zero(t, tb.relay.Stats().Malformed)
		tb.equal()
	}
}
