package transporttest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/transporttest"
)

// network returns a world's Net, with a fault in it.
func network(f *fault) func(t testing.TB) transporttest.Net {
	return func(testing.TB) transporttest.Net {
		w := &world{net: sim.NewNetwork(1)}
		inner := make(map[transport.Endpoint]*locked)
		wrap := func(ep *locked, with func(*world, *locked) transport.Endpoint) transport.Endpoint {
			var out transport.Endpoint = ep
			if with != nil {
				out = with(w, ep)
			}
			inner[out] = ep
			return out
		}
		allocs := 0.0
		if f.caught != "" && f.caught != "Allocation" {
			allocs = 1000 // the wrapper that makes the fault allocates too
		}
		return transporttest.Net{
			Server:     func() transport.Endpoint { return wrap(w.listen(), f.server) },
			Client:     func(srv transport.Endpoint) transport.Endpoint { return wrap(w.dial(inner[srv]), f.client) },
			Wait:       w.wait,
			Concurrent: true,
			Allocs:     allocs,
			Timeout:    5 * time.Second,
			Vanish:     func(cli transport.Endpoint) { w.vanish(inner[cli]) },
			Refuse: func(c transport.Code, reason string) transport.Endpoint {
				srv := w.listen()
				srv.ep.SetAccept(func(string) ([]byte, error) { return nil, &transport.DisconnectError{Code: c, Reason: reason} })
				return wrap(srv, f.server)
			},
		}
	}
}

// The suite finds no fault in a correct transport, not even if its events are copied.
func TestSuitePassesTheGood(t *testing.T) {
	same := func(_ *world, ep *locked) transport.Endpoint {
		return changed(ep, func(*transport.Event) bool { return true })
	}
	for _, f := range []fault{{name: "good"}, {name: "copied", caught: "nowhere", server: same, client: same}} {
		for _, name := range transporttest.Cases() {
			assert.Empty(t, failed(name, network(&f)), "%s: %s", f.name, name)
		}
	}
}

// The example passes the suite.
func TestExample(t *testing.T) { conforms(t) }

// The suite finds each fault with the case that is meant for it.
func TestSuiteCatchesTheFaulty(t *testing.T) {
	defer transporttest.SetStuck(time.Minute)
	patience := transporttest.SetPatience(10 * time.Second)
	defer transporttest.SetPatience(patience)
	names := make(map[string]bool)
	meant := make(map[string]bool)
	for _, f := range faults {
		assert.False(t, names[f.name], "%s is there twice", f.name)
		names[f.name], meant[f.caught] = true, true
		transporttest.SetStuck(time.Minute)
		if f.hangs {
			transporttest.SetStuck(500 * time.Millisecond)
		}
		transporttest.SetPatience(patience)
		if f.caught == "Leak" { // this case waits in real time, and finds nothing
			transporttest.SetPatience(time.Second)
		}
		said := failed(f.caught, network(&f))
		assert.NotEmpty(t, said, "%s did not find: %s", f.caught, f.name)
		assert.Equal(t, f.hangs, strings.Contains(strings.Join(said, ""), "does not return"), "%s: %s", f.name, said)
		t.Logf("%s: %s: %s", f.name, f.caught, strings.Join(said[:min(1, len(said))], ""))
	}
	for _, name := range transporttest.Cases() {
		assert.True(t, meant[name], "no fault shows that %s finds any", name)
	}
}
