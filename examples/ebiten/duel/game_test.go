package duel_test

import (
	"math"
	"testing"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/ebiten/duel"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/pair"
	"github.com/foretick/foretick/transport/sim"
)

// script walks in circles and fires now and then.
func script(v client.View) duel.Command {
	at := float64(v.Tick) / 20
	return duel.Command{X: float32(math.Cos(at)), Y: float32(math.Sin(at)), Aim: float32(at), Fire: v.Tick%15 == 0}
}

func newPlayer() simtest.Player {
	g := &duel.Game{}
	return simtest.Player{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, script)}
}

func TestMatches(t *testing.T) {
	simtest.Check(t, simtest.Plan{Play: 10 * time.Second, New: newPlayer, Extremes: true}, 3)
}

func TestSync(t *testing.T) { simtest.SyncTest(t, newPlayer, simtest.SyncConfig{}) }

// A player who aims at what its screen shows hits, at 100 ms round trip, though the
// target runs. Judged in the present, most of its shots miss.
func TestShotsHitWhatIsSeen(t *testing.T) {
	if shown, kills := hunt(t, false); shown < 15 || kills != shown/4 {
		t.Errorf("%d hits on screen made %d kills", shown, kills)
	}
	if shown, kills := hunt(t, true); shown < 15 || kills > shown/8 {
		t.Errorf("without lag compensation %d hits on screen made %d kills", shown, kills)
	}
}

// hunt lets one player shoot at another who runs, and returns its hits on its own
// screen, and the kills that the server counts.
func hunt(t *testing.T, present bool) (shown, kills int) {
	m := simtest.New(1)
	truth := &duel.Game{}
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), NoLagCompensation: present})
	if err != nil {
		t.Fatal(err)
	}
	seat := simtest.Seat{Up: sim.Link{Latency: 50 * time.Millisecond}, Down: sim.Link{Latency: 50 * time.Millisecond}}
	join := func(g *duel.Game, read func(client.View) duel.Command) {
		if _, err := m.Join(client.Config{Protocol: g.Protocol(), Sample: client.Sample(&g.Cmd, read)}, seat); err != nil {
			t.Fatal(err)
		}
	}
	hunter, prey := &duel.Game{}, &duel.Game{}
	hunter.OnShot = func(s duel.Traced, own bool) {
		if own && s.Hit {
			shown++
		}
	}
	join(hunter, func(v client.View) duel.Command {
		var me, it duel.Position
		for _, rows := range hunter.Players().All(v.World) {
			if rows.Owner() == v.Player {
				me = hunter.Pos.Slice(rows)[0]
			} else {
				it = hunter.Pos.Slice(rows)[0]
			}
		}
		return duel.Command{Aim: float32(math.Atan2(float64(it.Y-me.Y), float64(it.X-me.X))), Fire: v.Tick%20 == 0 && v.Tick < 560}
	})
	join(prey, func(v client.View) duel.Command { return duel.Command{Y: float32(v.Tick/60%2)*2 - 1} })
	m.Run(20 * time.Second)
	for _, rows := range truth.Players().Owned(srv.World(), 1) {
		kills = int(truth.Health.Slice(rows)[0].Kills)
	}
	return shown, kills
}

// TestPair plays over UDP; with flags it is one end, on a machine of its own: see package pair.
func TestPair(t *testing.T) { pair.Test(t, newPlayer) }

// The costs of a match for a player are the same in every run. The limits are 1.3 times the measured values.
func BenchmarkGame(b *testing.B) {
	limits := map[string]float64{"down-B/s": 1800, "corrections/min": 1, "server-allocs/tick": 7.4, "client-allocs/step": 1.7}
	simtest.Bench(b, newPlayer, simtest.BenchConfig{Seconds: 5, Seeds: 1, Limits: limits})
}
