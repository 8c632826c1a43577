package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/peek"
)

// TestMatchLeavesTheLayoutAlone: a match does not change its compiled protocol.
func TestMatchLeavesTheLayoutAlone(t *testing.T) {
	h := newHands(t)
	print := func() (all []string) {
		all = append(all, fmt.Sprintf("%+v %+v", h.server.p.Layout, *h.server.p.Command))
		for _, c := range h.clients {
			l := peek.At[layout.Layout](c, "p.Layout")
			all = append(all, fmt.Sprintf("%+v %+v", *l, *l.Command))
		}
		return all
	}
	before := print()
	h.run(time.Second)
	require.NoError(t, h.clients[0].Close())
	require.NoError(t, h.server.NextLevel([]byte("two"), nil))
	h.run(time.Second)
	require.Equal(t, before, print())
}
