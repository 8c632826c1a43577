package multi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

// TestCounts: each part has its traffic and its own counters, also through wrappers, under its name.
func TestCounts(t *testing.T) {
	listen := func() *udp.Endpoint {
		e, err := udp.Listen("127.0.0.1:0", udp.Config{})
		require.NoError(t, err)
		return e
	}
	join := func(parts ...Part) *Endpoint {
		e, err := NewNamed(parts...)
		require.NoError(t, err)
		return e
	}
	one, two, three := listen(), listen(), listen()
	e := join(Part{"one", one}, Part{"two", impair.Wrap(two, sim.Link{}, sim.Link{}, 1)}, Part{"dumb", sim.NewNetwork(1).Listen()})
	require.NoError(t, e.Close(0, ""))
	for _, p := range e.parts {
		nettest.FillCounters(&p.counters)
		nettest.Counts(t, "multi", p.counters, only{e, p.counters.Name})
	}
	nettest.Counts(t, "udp", one.Counters(), only{e, "one"})
	nettest.Counts(t, "udp", two.Counters(), only{e, "two"})
	outer := join(Part{"inner", join(Part{"three", three})})
	require.NoError(t, outer.Close(0, ""))
	byPart := map[string]int{}
	for _, c := range append(e.AppendCounts(nil), outer.AppendCounts(nil)...) {
		byPart[c.Part]++
	}
	require.Equal(t, map[string]int{"one": byPart["one"], "two": byPart["one"], "inner": 6, "inner/three": byPart["one"], "dumb": 6}, byPart)
}

// only shows the counts of one part.
type only struct {
	*Endpoint
	part string
}

func (o only) AppendCounts(dst []transport.Count) []transport.Count {
	from := len(dst)
	dst = o.Endpoint.AppendCounts(dst)
	n := from
	for _, c := range dst[from:] {
		if c.Part == o.part {
			dst[n] = c
			n++
		}
	}
	return dst[:n]
}
