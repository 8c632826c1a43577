package matchtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
)

// TestLongLevelData: level data of more than the limit is refused, and the match continues.
func TestLongLevelData(t *testing.T) {
	h := newVenue(t, server.Config{})
	require.NoError(t, h.srv.NextLevel(make([]byte, 1024), nil))
	h.run(time.Second)
	require.ErrorContains(t, h.srv.NextLevel(make([]byte, 1025), nil), "the most is 1024")
	require.True(t, h.comes("", time.Second))
}

// TestMoreThanAPlayerCanBeShown: a player can receive 65 535 entities. Further ones are counted, the
// log says once what to do, and the player receives them when others are gone.
func TestMoreThanAPlayerCanBeShown(t *testing.T) {
	var leaf ecs.Prefab
	h := newVenue(t, server.Config{Timeout: time.Hour}, func(h *venue, p *foretick.Protocol) { p.Prefab(&leaf, "leaf", &h.game.Pos) })
	h.enters("").asleep = false
	leaves := []ecs.Entity{}
	spawn := func(n int) {
		for range n {
			leaves = append(leaves, h.srv.Frame().Spawn(&leaf, ecs.Nobody))
		}
	}
	spawn(65_535 - h.srv.World().Len())
	h.run(time.Second / 10)
	require.Zero(t, h.srv.Stats().NotShown)
	spawn(1)
	h.run(time.Second / 10)
	require.Positive(t, h.srv.Stats().NotShown)
	require.Equal(t, 1, strings.Count(h.log.String(), "too many entities for a player"))
	for _, e := range leaves[len(leaves)-100:] {
		h.srv.Frame().Destroy(e)
	}
	h.run(time.Second)
	was := h.srv.Stats().NotShown
	h.run(time.Second / 10)
	require.Equal(t, was, h.srv.Stats().NotShown)
}
