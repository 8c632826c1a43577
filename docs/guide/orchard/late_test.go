package orchard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/docs/guide/orchard"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// The game as the guide has it plays with late inputs and partial ticks: of its corrections none
// has its code as the cause, though a packet in twenty is lost and inputs come late.
func TestLateInputsAndPartialTicks(t *testing.T) {
	bad := sim.LTE // bursts of delay make inputs late
	bad.Loss = 0.05
	for name, cfg := range map[string]server.Config{
		"late inputs": {Late: server.Late{Window: 150 * time.Millisecond}},
		"late world":  {Late: server.Late{Window: 150 * time.Millisecond, World: true}},
	} {
		m := begin(t, cfg)
		var seats []*seat
		for range 4 {
			seats = append(seats, m.join(simtest.Seat{Up: bad, Down: bad}, client.Config{PartialTicks: true}))
		}
		m.ready(seats...)
		for step := range 300 {
			for i, s := range seats {
				s.press = orchard.Command{X: float32((step/7+i)%3 - 1), Y: float32((step/11+i)%3 - 1)}
			}
			m.past(100 * time.Millisecond)
		}
		st := m.srv.Stats()
		require.Greater(t, st.InputsRerun, uint64(5), name)
		corrections := uint64(0)
		for _, s := range seats {
			by := s.client.Stats().ByCause
			require.Zero(t, by.Of(prediction.Code), "%s: %v", name, by)
			for _, n := range by.All() {
				corrections += n
			}
			require.Equal(t, client.Playing, s.client.View().State)
		}
		t.Logf("%s: %d inputs taken late, %d corrections, none of them code", name, st.InputsRerun, corrections)
		require.NoError(t, m.Err())
	}
}
