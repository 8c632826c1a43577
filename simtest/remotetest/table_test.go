package remotetest

import (
	"cmp"
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

var remotePredictionTable = flag.Bool("predict-remote", false, "play the whole table of docs/BENCHMARKS.md, and print it")

// brawled is the result of half a minute in which four cars crash into one another.
type brawled struct {
	stats stats.Client
	off   []float64 // distance between others' shown and true positions, sorted
	own   []float64 // distance between shown and true positions of the player's own car
	felt  int       // crashes on screens that did not happen on the server
	had   int       // crashes on the server
	down  float64   // bytes a second for each client
}

func share(of []float64, q float64) float64 { return of[int(q*float64(len(of)-1))] }

func mean(of []float64) (sum float64) {
	for _, d := range of {
		sum += d
	}
	return sum / float64(len(of))
}

func brawlOnce(t *testing.T, seed uint64, link sim.Link, blind bool) *brawled {
	type sight struct {
		tick     foretick.Tick
		player   foretick.PlayerID
		at       chassis
		own      bool
		fraction float32
	}
	const until, players = 30 * time.Second, 4
	out := &brawled{}
	var sights []sight
	felt := make([]map[foretick.Tick]bool, players+1) // crashes, first the server's, then each client's
	crashed := map[foretick.PlayerID]map[foretick.Tick]bool{}
	ends := 0
	d := newDerby(t, seed, players, both(link), func(g *bumpers) {
		g.blind = blind
		n := ends
		ends++
		felt[n] = map[foretick.Tick]bool{}
		g.spawn = func(f *foretick.ServerFrame, player foretick.PlayerID) {
			g.body.Get(f.World, f.Spawn(&g.car, player)).X = 3 * float32(player)
		}
		g.bumps = func(f *foretick.Frame, player foretick.PlayerID) {
			switch {
			case n == 0:
				if crashed[player] == nil {
					crashed[player] = map[foretick.Tick]bool{}
				}
				crashed[player][f.Tick] = true
			case !f.Replay && player == g.me:
				felt[n][f.Tick] = true
			}
		}
	}, brawl(until), func(d *derby, i int, v client.View) {
		d.cars[i].me = v.Player
		if now := d.m.Net.Now(); v.State != client.Playing || now < 3*time.Second || now > until {
			return
		}
		for player, at := range d.cars[i].places(v.World) {
			sights = append(sights, sight{v.Tick, player, at, player == v.Player, v.Fraction})
		}
	})
	d.m.Run(until)
	for i, c := range d.clients {
		st := c.Stats()
		out.stats.Add(&st)
		out.down += float64(st.BytesIn) / until.Seconds() / players
		for k := range felt[i+1] {
			if out.had++; !crashed[c.View().Player][k] {
				out.felt++
			}
		}
	}
	for _, s := range sights {
		if is, ok := d.was[s.tick][s.player]; ok {
			to := &out.off
			if s.own {
				to = &out.own
			}
			// A frame between two ticks shows a time between them.
			was := d.was[s.tick-1][s.player]
			x, y := is.X+(was.X-is.X)*(1-s.fraction), is.Y+(was.Y-is.Y)*(1-s.fraction)
			*to = append(*to, math.Hypot(float64(s.at.X-x), float64(s.at.Y-y)))
		}
	}
	slices.SortFunc(out.off, cmp.Compare[float64])
	slices.SortFunc(out.own, cmp.Compare[float64])
	return out
}

// PredictRemote in a brawl: others are shown near their true positions, shown crashes mostly
// happen, and the remaining mispredictions have causes of the other players.
func TestRemotePredictedBrawl(t *testing.T) {
	rtts := []time.Duration{150 * time.Millisecond}
	losses := []float64{0.05}
	if *remotePredictionTable {
		rtts = []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond, 250 * time.Millisecond, 400 * time.Millisecond}
		losses = []float64{0, 0.05}
	}
	for _, rtt := range rtts {
		for _, loss := range losses {
			var by [2]*brawled
			for i, blind := range []bool{true, false} {
				b := brawlOnce(t, 21, sim.Link{Latency: rtt / 2, Jitter: min(rtt/10, 10*time.Millisecond), Loss: loss}, blind)
				by[i] = b
				name := "predicted"
				if blind {
					name = "in the past"
				}
				st := &b.stats
				t.Logf("| %d ms | %.0f %% | %s | %.3f / %.3f m | %.3f / %.3f m | %d of %d | %.1f %% | %d/%d/%d/%d/%d | %.1f | %.0f |", rtt.Milliseconds(), loss*100, name,
					mean(b.off), share(b.off, 0.99), mean(b.own), share(b.own, 0.99), b.felt, b.had, 100*float64(st.Mispredictions)/float64(st.PredictedTicks),
					st.ByCause.Of(0), st.ByCause.Of(1), st.ByCause.Of(2), st.ByCause.Of(3), st.ByCause.Of(4),
					float64(st.Resimulated)/float64(st.PredictedTicks), b.down)
				require.Zero(t, st.ByCause.Of(prediction.Code))
			}
			require.Zero(t, by[1].stats.ByCause.Of(prediction.Untracked))
			if rtt >= 100*time.Millisecond {
				require.Less(t, mean(by[1].off), mean(by[0].off)/2)
				require.Less(t, mean(by[1].own), mean(by[0].own)/2)
			}
		}
	}
}
