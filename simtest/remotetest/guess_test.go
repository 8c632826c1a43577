package remotetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport/sim"
)

// orderly is a melee in which only the players act.
func orderly(t *testing.T, r rules, clients int, each func(i int, c *client.Config), pads func(i int, v client.View) kick) (*fray, []*melee) {
	t.Helper()
	b := &fray{m: simtest.New(5), g: &melee{rules: r, rand: rand.New(rand.NewPCG(5, 78)), rest: true}}
	srv, err := b.m.Serve(server.Config{Protocol: b.g.protocol()})
	require.NoError(t, err)
	b.g.srv = srv
	var ends []*melee
	for i := range clients {
		g := &melee{rules: r}
		cfg := client.Config{Protocol: g.protocol(), Sample: client.Sample(&g.cmd, func(v client.View) kick { return pads(i, v) })}
		if each != nil {
			each(i, &cfg)
		}
		c, err := b.m.Join(cfg, both(sim.Link{Latency: 60 * time.Millisecond}))
		require.NoError(t, err)
		g.me = func() foretick.PlayerID { return c.View().Player }
		ends = append(ends, g)
	}
	return b, ends
}

// A guess of remote input may press everything. Events and spawns of the predicted remote
// players are dropped, since the server sends the true ones.
func TestRemotePredictedShotsArePassedOver(t *testing.T) {
	b, ends := orderly(t, rules{rate: 60, guess: 2, local: true}, 2, nil, func(_ int, v client.View) kick {
		return kick{Held: true, Fire: v.Tick%9 == 0, Drop: v.Tick%20 == 0, X: float32(v.Tick/30%2)*2 - 1}
	})
	b.m.Run(6 * time.Second)
	for _, g := range ends {
		require.Empty(t, g.faults)
		require.Greater(t, g.n["guessed shot"], 50)
		require.Greater(t, g.n["shot"], 20)
	}
	for _, c := range b.m.Clients(nil) {
		require.Zero(t, c.Stats().ByCause.Of(prediction.Code))
	}
}

// A car that loses its driver continues without input, also on the former driver's screen.
func TestNobodyPressesPedals(t *testing.T) {
	b, _ := orderly(t, rules{rate: 60, guess: 1}, 2, nil, func(int, client.View) kick { return kick{X: 0.5, Held: true} })
	b.m.Run(2 * time.Second)
	clients := b.m.Clients(nil)
	w := b.m.Server().World()
	for _, rows := range b.g.cars.Owned(w, clients[0].View().Player) {
		require.NoError(t, w.Transfer(rows.Entity(0), ecs.Nobody))
	}
	b.m.Run(2500 * time.Millisecond)
	before := clients[0].Stats()
	b.m.Run(5 * time.Second)
	st := clients[0].Stats()
	require.Equal(t, before.Mispredictions, st.Mispredictions, "%v", st.ByCause)
	require.Greater(t, st.Compared, before.Compared+50)
}

// A sync test of a client that predicts nothing does nothing.
func TestSyncTestWithoutPrediction(t *testing.T) {
	b, ends := orderly(t, rules{rate: 60, guess: 1}, 1, func(_ int, c *client.Config) {
		c.NoPrediction = true
	}, func(int, client.View) kick { return kick{X: 0.5} })
	require.NoError(t, campaign.SyncTestClient(b.m.Clients(nil)[0], 4, func(d simtest.Desync) { t.Error(d) }))
	b.m.Run(2 * time.Second)
	require.Equal(t, client.Playing, b.m.Clients(nil)[0].View().State)
	require.Empty(t, ends[0].faults)
}

// Common entities are sent to all players, however far away. Audit expects that.
func TestAuditOfAFarCommon(t *testing.T) {
	b, _ := orderly(t, rules{rate: 60, interest: true}, 1, nil, func(int, client.View) kick { return kick{} })
	b.m.Run(time.Second)
	f := b.m.Server().Frame()
	b.g.body.Get(f.World, f.Spawn(&b.g.ball, ecs.Nobody)).X = 50
	b.m.Run(3 * time.Second)
	a := b.m.Audit(b.m.Clients(nil)[0])
	require.Zero(t, a.Differences, a.First)
	require.Equal(t, 2, a.Entities)
}

// When a client's clock is set back, it makes new commands for some ticks. If such a command is
// too late, the server runs the earlier one, which is the cause of the misprediction.
func TestCauseOfCommandsMadeAnew(t *testing.T) {
	b := playMelee(1042, 8*time.Second, lateNone, map[string]int{})
	require.Empty(t, b.wrong)
	require.Positive(t, b.stats.ByCause.Of(prediction.Input))
}

// When snapshots postpone entities, a car may have a new owner, or there may be a car that the
// client does not know. Then that is the cause of a misprediction, and not the code.
func TestRemotePredictedCauseOfWhatWasPutOff(t *testing.T) {
	remotePrediction := uint64(0)
	for _, seed := range []uint64{18, 37, 38} {
		if small && seed != 18 {
			continue
		}
		b := playMelee(seed, 8*time.Second, lateNone, map[string]int{})
		require.Empty(t, b.wrong, "seed %d", seed)
		remotePrediction += b.stats.ByCause.Of(prediction.RemoteInput)
	}
	require.Positive(t, remotePrediction)
}
