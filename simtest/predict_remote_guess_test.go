package simtest_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// orderly is a melee in which nothing happens but what the players do.
func orderly(t *testing.T, r rules, clients int, each func(i int, c *foretick.ClientConfig), pads func(i int, v foretick.View) kick) (*fray, []*melee) {
	t.Helper()
	b := &fray{m: simtest.New(5), g: &melee{rules: r, rand: rand.New(rand.NewPCG(5, 78)), rest: true}}
	srv, err := b.m.Serve(foretick.ServerConfig{Protocol: b.g.protocol()})
	require.NoError(t, err)
	b.g.srv = srv
	var ends []*melee
	for i := range clients {
		g := &melee{rules: r}
		cfg := foretick.ClientConfig{Protocol: g.protocol(), Sample: foretick.Sample(&g.cmd, func(v foretick.View) kick { return pads(i, v) })}
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

// A guess may press everything. What others then raise and spawn is passed over: it is
// the server that tells of it.
func TestRemotePredictedShotsArePassedOver(t *testing.T) {
	b, ends := orderly(t, rules{rate: 60, guess: 2, local: true}, 2, nil, func(_ int, v foretick.View) kick {
		return kick{Held: true, Fire: v.Tick%9 == 0, Drop: v.Tick%20 == 0, X: float32(v.Tick/30%2)*2 - 1}
	})
	b.m.Run(6 * time.Second)
	for _, g := range ends {
		require.Empty(t, g.faults)
		require.Greater(t, g.n["guessed shot"], 50)
		require.Greater(t, g.n["shot"], 20)
	}
	for _, c := range b.m.Clients(nil) {
		require.Zero(t, c.Stats().ByCause[prediction.Code])
	}
}

// A car that loses its driver rolls on without his foot on the pedal, on his own screen,
// too.
func TestNobodyPressesPedals(t *testing.T) {
	b, _ := orderly(t, rules{rate: 60, guess: 1}, 2, nil, func(int, foretick.View) kick { return kick{X: 0.5, Held: true} })
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

// Who predicts nothing has nothing to rehearse.
func TestSyncTestWithoutPrediction(t *testing.T) {
	b, ends := orderly(t, rules{rate: 60, guess: 1}, 1, func(_ int, c *foretick.ClientConfig) {
		c.NoPrediction, c.SyncTest = true, 4
	}, func(int, foretick.View) kick { return kick{X: 0.5} })
	b.m.Run(2 * time.Second)
	require.Equal(t, foretick.Playing, b.m.Clients(nil)[0].View().State)
	require.Empty(t, ends[0].faults)
}

// What everybody predicts is sent to everybody, however far away: an audit knows.
func TestAuditOfAFarCommon(t *testing.T) {
	b, _ := orderly(t, rules{rate: 60, interest: true}, 1, nil, func(int, foretick.View) kick { return kick{} })
	b.m.Run(time.Second)
	f := b.m.Server().Frame()
	b.g.body.Get(f.World, f.Spawn(&b.g.ball, ecs.Nobody)).X = 50
	b.m.Run(3 * time.Second)
	a := b.m.Audit(b.m.Clients(nil)[0])
	require.Zero(t, a.Differences, a.First)
	require.Equal(t, 2, a.Entities)
}

// A command that is made anew, since the client's clock was set back, may come too late:
// the server then ran with the one of before, which is the cause of what goes wrong.
func TestCauseOfCommandsMadeAnew(t *testing.T) {
	b := playMelee(1042, 8*time.Second, map[string]int{})
	require.Empty(t, b.wrong)
	require.Positive(t, b.stats.ByCause[prediction.Input])
}

// Where snapshots put things off, a car may be another's by now, or one may be there of
// which nothing is known: that is the cause of what then goes wrong, and not the code.
func TestRemotePredictedCauseOfWhatWasPutOff(t *testing.T) {
	remotePrediction := uint64(0)
	for _, seed := range []uint64{18, 37, 38} {
		if raced && seed != 18 {
			continue
		}
		b := playMelee(seed, 8*time.Second, map[string]int{})
		require.Empty(t, b.wrong, "seed %d", seed)
		remotePrediction += b.stats.ByCause[prediction.RemoteInput]
	}
	require.Positive(t, remotePrediction)
}
