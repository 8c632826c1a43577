package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

// If the server removes an entity of the player's own, in a system or outside of systems, that is
// a misprediction with the cause ServerEffect.
func TestRemovedByTheServerIsCounted(t *testing.T) {
	d := newParade(t, 1, sim.Link{Latency: 50 * time.Millisecond}, 0)
	d.m.Run(2 * time.Second)
	car, turrets := d.vehicle(1)
	d.rest()
	c := d.clients[0]
	require.EqualValues(t, 1, c.View().Player)
	before := c.Stats()
	for i, e := range []ecs.Entity{turrets[0], car} {
		d.wrong = nil
		d.srv.Frame().Destroy(e)
		d.rest()
		after := c.Stats()
		require.EqualValues(t, i+1, after.Mispredictions-before.Mispredictions)
		require.EqualValues(t, i+1, after.ByCause.Of(prediction.ServerEffect)-before.ByCause.Of(prediction.ServerEffect))
		require.Len(t, d.wrong, i+1, "the car takes another player's turret with it")
		require.Equal(t, "(entity)", d.wrong[0].Field)
		require.Equal(t, "(outside of systems)", d.wrong[0].System)
		require.Contains(t, d.wrong[0].Why(), "the server")
	}
}
