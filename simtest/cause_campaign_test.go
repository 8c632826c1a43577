package simtest_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

var (
	causeSeeds = flag.Int("causes", costtest.Count(8, 24), "how many matches TestCauseCampaign plays; 1000 before a release")
	causeFirst = flag.Uint64("cause", 0, "the seed of the first")
)

// deeds records the campaign's own actions. The causes of corrections are compared with them.
type deeds struct {
	server map[foretick.Tick]bool                       // ticks in which only the server wrote something
	paint  map[foretick.Tick]map[foretick.PlayerID]bool // players whose run painted on the server
}

// causeMatch is a match in which everything happens that clients cannot know.
type causeMatch struct {
	*afternoon
	deeds
	r      *rand.Rand
	hidden map[foretick.PlayerID]bool
	rest   bool
	faults []string
}

func (a *causeMatch) link() sim.Link {
	ms := func(n int) time.Duration { return time.Duration(a.r.IntN(n+1)) * time.Millisecond }
	l := sim.Link{Latency: ms(150), Jitter: ms(30)}
	if a.r.IntN(2) == 0 {
		l.Loss, l.Duplicate, l.Reorder = a.r.Float64()*0.15, a.r.Float64()*0.05, a.r.Float64()*0.05
	}
	return l
}

func (a *causeMatch) did(f *foretick.Frame) { a.server[f.Tick+1] = true }

// act does one thing between ticks.
func (a *causeMatch) act() {
	n := a.r.IntN(len(a.clients))
	c := a.clients[n]
	player := c.View().Player
	f, body, pack := a.srv.Frame(), a.g.bodies[player], a.g.packs[player]
	later := func(n int, fn func()) { a.m.Net.At(a.m.Net.Now()+time.Duration(1+a.r.IntN(n))*time.Millisecond, fn) }
	if !f.World.Alive(body) {
		return
	}
	switch a.r.IntN(9) {
	case 0:
		_ = a.games[n].heal.Send(c, heal{uint8(1 + a.r.IntN(3))})
	case 1:
		a.g.pos.Get(f.World, body).Y--
		a.did(f.Frame)
	case 2:
		if f.World.Alive(pack) {
			if a.g.pos.Has(f.World, pack) {
				a.g.pos.Remove(f.World, pack)
			} else {
				a.g.pos.Add(f.World, pack, position{})
			}
			a.did(f.Frame)
		}
	case 3:
		a.hidden[player] = !a.hidden[player]
		f.SetVisible(player, pack, !a.hidden[player])
	case 4:
		if f.World.Alive(pack) && !a.hidden[player] {
			f.Destroy(pack)
		} else if !a.hidden[player] {
			a.g.packs[player] = f.Spawn(&a.g.pack, player)
		}
		a.did(f.Frame)
	case 5:
		a.m.FreezeServer(true)
		later(1500, func() { a.m.FreezeServer(false) })
	case 6:
		a.m.Freeze(c, true)
		later(1500, func() { a.m.Freeze(c, false) })
	case 7:
		up := a.link()
		up.Loss = 1
		a.m.Link(c, up, a.link())
		later(900, func() { a.m.Link(c, a.link(), a.link()) })
	default:
		a.m.Link(c, a.link(), a.link())
	}
}

// judge compares a cause with the actions.
func (a *causeMatch) judge(n int, w prediction.Misprediction) string {
	me := a.clients[n].View().Player
	switch w.Cause {
	case prediction.Input:
		if w.Input != nil && w.Executed != nil && w.CauseTicks <= 1 && w.Input == w.Executed {
			return "the server ran the same command"
		}
	case prediction.ServerEffect:
		if w.System != "(hidden from its own player)" && w.System != "request heal" && !a.server[w.CauseTick] {
			return "the server did nothing then"
		}
	case prediction.RemoteInput:
		for player := range a.paint[w.CauseTick] {
			if player != me {
				return ""
			}
		}
		return "nobody else painted then"
	case prediction.Untracked:
		if w.Player == 0 || w.Player == uint16(me) {
			return "there is nothing that is not tracked"
		}
	default:
		return "nobody planted a fault"
	}
	return ""
}

func playCauses(t *testing.T, seed uint64, planted bool) (*causeMatch, map[prediction.Cause]int) {
	a := &causeMatch{r: rand.New(rand.NewPCG(seed, 15)), hidden: map[foretick.PlayerID]bool{},
		deeds: deeds{map[foretick.Tick]bool{}, map[foretick.Tick]map[foretick.PlayerID]bool{}}}
	players, in := 1+a.r.IntN(3), rand.New(rand.NewPCG(seed, 16))
	if planted {
		players = 1
	}
	paints := a.r.IntN(3)
	a.afternoon = newAfternoon(t, players, a.link(), func(int, client.View) brush {
		if a.rest {
			return brush{}
		}
		return brush{X: float32(in.IntN(257))/128 - 1, Paint: paints > 0 && in.IntN(10*paints) == 0}
	})
	a.games[0].bias = planted
	a.g.entered = func(f *foretick.Frame) { a.server[f.Tick] = true }
	a.g.painted = func(f *foretick.Frame, player foretick.PlayerID) {
		if a.paint[f.Tick] == nil {
			a.paint[f.Tick] = map[foretick.PlayerID]bool{}
		}
		a.paint[f.Tick][player] = true
	}
	for at := 2 * time.Second; at < 9*time.Second && !planted; at += time.Duration(100+a.r.IntN(700)) * time.Millisecond {
		a.m.Net.At(at, a.act)
	}
	a.m.Run(9 * time.Second)
	a.rest = true
	a.m.Run(11 * time.Second)
	quiet := sim.Link{Latency: 20 * time.Millisecond}
	for _, c := range a.clients {
		a.m.Link(c, quiet, quiet)
	}
	a.m.Run(16 * time.Second)
	require.NoError(t, a.m.Err())
	by := map[prediction.Cause]int{}
	for n, told := range a.told {
		for _, w := range told {
			by[w.Cause]++
			if why := a.judge(n, w); why != "" && !planted {
				a.faults = append(a.faults, why+": "+w.String())
			}
		}
	}
	for _, c := range a.clients {
		if r := a.m.Audit(c); r.Differences > 0 && !planted {
			a.faults = append(a.faults, r.First)
		}
	}
	return a, by
}

// Whatever happens that clients cannot predict, both ends agree at rest, and every
// correction has the true cause.
func TestCauseCampaign(t *testing.T) {
	all := map[prediction.Cause]int{}
	for seed := *causeFirst; seed < *causeFirst+uint64(*causeSeeds); seed++ {
		a, by := playCauses(t, seed, false)
		for c, n := range by {
			all[c] += n
		}
		for _, f := range a.faults[:min(len(a.faults), 3)] {
			t.Errorf("seed %d (%d faults): %s", seed, len(a.faults), f)
		}
	}
	t.Log(all)
	for _, c := range []prediction.Cause{prediction.Input, prediction.ServerEffect, prediction.RemoteInput} {
		require.Positive(t, all[c], "%v", c)
	}
}

// A planted fault of the code gets the cause Code, whatever the network does.
func TestCauseCampaignFindsCode(t *testing.T) {
	code, others, unknown := 0, 0, 0
	for seed := *causeFirst; seed < *causeFirst+uint64(*causeSeeds/2); seed++ {
		a, _ := playCauses(t, seed, true)
		for _, w := range a.told[0] {
			switch {
			case w.Tick < 60 || w.Tick%20 != 0:
			case w.Cause == prediction.Code:
				code++
			default:
				others++
				if w.Cause == prediction.Unknown {
					unknown++
				}
			}
		}
	}
	t.Logf("%d code, %d not, %d without a cause", code, others, unknown)
	require.Greater(t, code, 19*others)
	require.LessOrEqual(t, 100*unknown, code)
}
