package simtest_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A client that withholds its inputs sees its death first, and then fires in the tick in which it
// died: both are down. A client that knows when it will be shot at can always do that. The
// budget of late inputs limits all other clients, which would have to withhold all the time. A
// game can ignore late shots of players that have fallen since.
func TestTradeAfterDeath(t *testing.T) {
	duels := *lateDuels / 2
	link := sim.Link{Latency: 20 * time.Millisecond}
	const never = "never"
	for _, row := range []struct {
		name   string
		window time.Duration
		holds  string // when it withholds inputs
		strict bool   // the game ignores a late shot of a player that has fallen since
		most   int    // most trades allowed in a hundred duels
	}{
		{"an honest player", lateWindow, never, false, 0},
		{"who knows when, without Late", 0, "knowing", false, 0},
		{"who knows when", lateWindow, "knowing", false, 100},
		{"who withholds as often as the budget allows", lateWindow, "often", false, 37},
		{"who knows when, in a game that ignores it", lateWindow, "knowing", true, 0},
	} {
		trades, died, late, over := 0, 0, uint64(0), uint64(0)
		const each = 50
		for played := 0; played < duels; played += each {
			var at netcode.Tick // tick of the next shot
			m, g, clients, _ := fence(t, uint64(played)+1, server.Config{Late: server.Late{Window: row.window}}, []sim.Link{link}, false, func(_ int, v client.View) lunge {
				return lunge{Fire: v.Tick == at-1}
			})
			g.strict = row.strict
			m.Run(time.Second)
			c := newCheat(t, m, link)
			srv, dice, now := m.Server(), rand.New(rand.NewPCG(uint64(played), 3)), m.Net.Now()
			saw, fired := false, false
			tick := func() {
				now += time.Second / 60
				m.Run(now)
				tick := srv.Tick()
				if at != 0 && tick >= at+1 { // it knows of the shot at once, even before a snapshot can arrive
					saw = true
				}
				held := false
				switch row.holds {
				case "knowing":
					held = at != 0 && int32(tick+3-(at-1)) >= 0 && !saw
				case "often": // six late inputs in thirty ticks
					held = tick%30 < 9 && (!saw || fired)
				}
				if !held {
					c.make(tick+3, tick, func(t netcode.Tick) lunge {
						fire := saw && !fired && int32(t-at) >= 0
						fired = fired || fire
						return lunge{Fire: fire}
					})
				}
				c.step(t, now, !held)
			}
			for range 90 {
				tick()
			}
			require.Len(t, srv.Players(nil), 2)
			for range min(each, duels-played) {
				at, saw, fired = clients[0].View().Tick+10+dice.Uint32N(30), false, false
				for srv.Tick() < at+12 {
					tick()
				}
				at, saw = 0, false
				down := rise(t, m, g)
				require.True(t, down[2])
				if died++; down[1] {
					trades++
				}
				for range 60 + dice.IntN(60) {
					tick()
				}
			}
			st, ok := srv.PlayerStats(srv.Player(2))
			require.True(t, ok)
			late, over = late+st.InputsRerun, over+st.InputsOverBudget
		}
		t.Logf("%s: of %d deaths %d are trades; %d inputs were run late, %d were over the budget", row.name, died, trades, late, over)
		require.LessOrEqual(t, trades*100, row.most*died)
		if row.most > 0 {
			require.Greater(t, trades, 0)
			require.Greater(t, late, uint64(died))
		}
	}
}
