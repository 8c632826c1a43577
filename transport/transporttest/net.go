package transporttest

import (
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Net creates the endpoints of one test and controls their time. The network between them must lose nothing and
// deliver within a second.
type Net struct {
	// Server returns an endpoint that accepts at least 16 clients. Required; called once per test.
	Server func() transport.Endpoint

	// Client returns an endpoint that dials the server, without waiting for the connection. Required.
	Client func(server transport.Endpoint) transport.Endpoint

	// Wait lets d pass. nil: time.Sleep.
	Wait func(d time.Duration)

	// Concurrent says that any goroutine may call the methods, and that the endpoint's goroutines end with Close. The
	// suite then tests both. Use false for a transport in virtual time, which has a single goroutine.
	Concurrent bool

	// Allocs is the most allocations for sending and receiving a datagram. Use 0 for a transport that does not
	// allocate.
	Allocs float64

	// Timeout is the silence after which the transport drops a connection. The suite tests that a connection survives
	// longer silence of its users. 0: not tested.
	Timeout time.Duration

	// Vanish makes a client's endpoint disappear without notice, like a killed process. nil: it is not tested that
	// the server notices. Requires Timeout.
	Vanish func(client transport.Endpoint)

	// Release frees other resources between the endpoints, for example a proxy and its goroutines. It is called after
	// the endpoints are closed. nil: there are none.
	Release func()

	// Refuse returns a server that refuses everyone with a code and reason. nil: not tested.
	Refuse func(c transport.Code, reason string) transport.Endpoint
}

// Run runs the suite as subtests of t. It calls network for each subtest, closes the endpoints and then calls
// Release. A call that does not return fails the subtest after a minute, and is abandoned.
func Run(t *testing.T, network func(t testing.TB) Net) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.try(t, network) })
	}
}

// try runs one case.
func (c *testCase) try(t testing.TB, network func(t testing.TB) Net) {
	s := &suite{TB: t, net: network(t)}
	if s.net.Server == nil || s.net.Client == nil {
		t.Fatal("transporttest: Net.Server and Net.Client are required")
	}
	if s.net.Wait == nil {
		s.net.Wait = time.Sleep
	}
	if s.net.Release == nil {
		s.net.Release = func() {}
	}
	if c.needs != nil && !c.needs(&s.net) {
		t.Logf("not tested, because Net lacks a field: %s", c.without)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.closeAll()
		c.run(s)
	}()
	end := time.NewTimer(stuck.get())
	defer end.Stop()
	select {
	case <-done:
	case <-end.C:
		t.Errorf("still running after %v: a call that must not block does not return:\n%s", stuck.get(), strings.Join(stacks(), "\n\n"))
	}
}

type testCase struct {
	name    string
	run     func(s *suite)
	needs   func(n *Net) bool
	without string // the name of the test that is skipped
}

var cases = []testCase{
	{name: "Connect", run: connects},
	{name: "Delivery", run: delivers},
	{name: "Boundaries", run: keepsBoundaries},
	{name: "TooBig", run: refusesTooBig},
	{name: "NoPeer", run: knowsNoStrangers},
	{name: "Ownership", run: leavesBuffersAlone},
	{name: "Ready", run: signals},
	{name: "Reuse", run: neverUsesAnIDAgain},
	{name: "DisconnectByServer", run: serverDisconnects},
	{name: "DisconnectByClient", run: clientDisconnects},
	{name: "DisconnectIsSilentHere", run: disconnectIsSilentHere},
	{name: "CloseServer", run: serverCloses},
	{name: "CloseClient", run: clientCloses},
	{name: "LastWords", run: endsAfterTheLastData},
	{name: "ClosedEndpoint", run: closedStaysClosed},
	{name: "ManyClients", run: tellsClientsApart},
	{name: "SlowConsumer", run: boundsTheQueue},
	{name: "Fairness", run: servesPeersInTurn},
	{name: "Statistics", run: counts},
	{name: "Allocation", run: allocatesLittle},
	{name: "Idle", run: livesWhenIdle, needs: func(n *Net) bool { return n.Timeout > 0 },
		without: "that keep-alives hold an idle connection"},
	{name: "Vanish", run: noticesTheVanished, needs: func(n *Net) bool { return n.Timeout > 0 && n.Vanish != nil },
		without: "that a silent peer times out"},
	{name: "Refuse", run: tellsTheRefused, needs: func(n *Net) bool { return n.Refuse != nil },
		without: "that a refused client learns why"},
	{name: "ConcurrentUse", run: bearsConcurrentUse, needs: func(n *Net) bool { return n.Concurrent },
		without: "use from several goroutines"},
	{name: "ConcurrentClose", run: bearsConcurrentClose, needs: func(n *Net) bool { return n.Concurrent },
		without: "closing while in use"},
	{name: "Leak", run: leaksNoGoroutine, needs: func(n *Net) bool { return n.Concurrent },
		without: "that goroutines end with Close"},
}
