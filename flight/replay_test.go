package flight_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/probe"
)

// Matches with everything that comes from outside, over bad networks, end in a panic. Each
// tape replays to that panic, and every tick on the way has the recorded hash.
func TestReplaysToThePanic(t *testing.T) {
	more := time.Duration(min(costtest.Count(0, 24), 600)) * time.Second
	for seed := range uint64(min(costtest.Count(3, 3), 20)) {
		m := newMatch(t, seed, 6, flight.Config{Name: "meadow"}, &game{})
		m.events()
		m.run(more)
		m.srv.Drain("enough")
		m.run(time.Second)
		require.Equal(t, 1, m.game.drained)
		m.game.panicAt = m.srv.Tick() + 10
		m.run(2 * time.Second)
		require.NotNil(t, m.died)
		if seed == 0 {
			st := m.srv.Stats()
			require.NotZero(t, st.Resumed)
			require.NotZero(t, st.Slips)
			require.NotZero(t, st.PacketsRefused)
			require.NotZero(t, st.Requests)
		}
		tape := m.tape()
		info := tape.Info()
		require.NotNil(t, info.Panic)
		require.EqualValues(t, m.game.panicAt, info.Panic.Tick)
		require.Equal(t, m.game.panicAt-1, info.Last)
		require.Len(t, info.Opaque, 2, "the functions of Do")

		res, err := flight.Play(tape, replayed(func(g *game) { g.panicAt = m.game.panicAt }))
		require.NoError(t, err, "seed %d", seed)
		require.NotNil(t, res.Panic)
		require.Equal(t, info.Panic.Text, res.Panic.Text)
		require.Equal(t, int(info.Last), res.Ticks)

		// The hashes are those of the match itself, and not only those on the tape.
		r, err := flight.NewReplay(tape, replayed(func(g *game) { g.panicAt = m.game.panicAt }))
		require.NoError(t, err)
		compared := 0
		for {
			tick, err := r.Next()
			if err != nil {
				require.ErrorAs(t, err, new(*flight.PanicError))
				break
			}
			if hash, ok := m.hashes[tick]; ok {
				compared++
				require.Equal(t, hash, probe.OfServer(r.Server()).Hash(), tick)
			}
		}
		require.Greater(t, compared, 400)
		r.Close()

		// Without the panic the tape plays on to its end.
		res, err = flight.Play(tape, replayed(nil))
		require.NoError(t, err)
		require.Nil(t, res.Panic)
	}
}
