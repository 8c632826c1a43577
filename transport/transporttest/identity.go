package transporttest

import (
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
)

// Doors creates the endpoints for one test of a transport.BanList. The network between them must lose nothing and
// deliver within a second.
type Doors struct {
	// Server returns an endpoint that accepts everyone, up to maxPeers peers, and uses same for a second connection
	// of one identity. Required.
	Server func(same transport.Same, maxPeers int) transport.BanList

	// Client returns an endpoint that dials the server with a token that the server maps to this identity; an empty
	// one means no identity. Required.
	Client func(server transport.BanList, identity string) transport.Endpoint

	// Release frees any other resources. nil: there are none.
	Release func()
}

// RunIdentity tests, as subtests of t, how a server handles its peers' identities. It calls doors for each subtest
// and closes the endpoints.
func RunIdentity(t *testing.T, doors func(t testing.TB) Doors) {
	for _, c := range doorCases {
		t.Run(c.name, func(t *testing.T) { c.try(t, doors) })
	}
}

type doorCase struct {
	name string
	run  func(h *house)
}

var doorCases = []doorCase{
	{"ReplaceOld", replacesTheOld},
	{"ReplaceOldWhenFull", replacesTheOldWhenFull},
	{"RefuseNew", refusesTheNew},
	{"AllowBoth", allowsBoth},
	{"Kick", kicksByIdentity},
	{"Ban", bansByIdentity},
	{"Nobody", leavesNobodyAlone},
}

func (c *doorCase) try(t testing.TB, doors func(t testing.TB) Doors) {
	d := doors(t)
	s := &suite{TB: t, net: Net{Wait: time.Sleep, Release: d.Release}}
	if d.Release == nil {
		s.net.Release = func() {}
	}
	defer s.closeAll()
	c.run(&house{suite: s, doors: d})
}

// house is a server with clients that have identities.
type house struct {
	*suite
	doors Doors
	door  transport.BanList
	srv   *end
}

func (h *house) openDoor(same transport.Same, maxPeers int) {
	h.door = h.doors.Server(same, maxPeers)
	h.srv = h.addEnd(h.door, false)
}

func (h *house) knock(identity string) *end { return h.addEnd(h.doors.Client(h.door, identity), true) }

// enterAs connects a client.
func (h *house) enterAs(identity string) *link {
	h.Helper()
	from := len(h.srv.seen)
	l := &link{srv: h.srv, cli: h.knock(identity)}
	h.until(identity+" is connected", func() bool {
		l.toServer, l.toClient = l.cli.peerOf(0, transport.Connected), h.srv.peerOf(from, transport.Connected)
		return l.toServer != 0 && l.toClient != 0
	})
	if got := string(h.srv.info(l.toClient).Identity); got != identity {
		h.Errorf("%q is known as %q", identity, got)
	}
	return l
}

// talks checks that a connection works in both directions.
func (h *house) talks(l *link) {
	h.Helper()
	up, down := len(l.srv.data(l.toClient)), len(l.cli.data(l.toServer))
	l.cli.mustSend(l.toServer, datagram(1, 30))
	l.srv.mustSend(l.toClient, datagram(2, 30))
	h.until("it is talked", func() bool {
		return len(l.srv.data(l.toClient)) > up && len(l.cli.data(l.toServer)) > down
	})
}

// leaves checks that both ends report the end of a connection.
func (h *house) leaves(l *link, want ending) {
	h.Helper()
	h.until("both ends are told", func() bool {
		return l.srv.endOf(l.toClient) != nil && l.cli.endOf(l.toServer) != nil
	})
	if ev := l.srv.endOf(l.toClient); ev.Code != want.code {
		h.Errorf("the server got %v, not %v", ev.Code, want.code)
	}
	if ev := l.cli.endOf(l.toServer); ev.Code != want.code || want.reason != "" && ev.Reason != want.reason {
		h.Errorf("the client got %v %q, not %v %q", ev.Code, ev.Reason, want.code, want.reason)
	}
}

// refused checks that a client is refused.
func (h *house) refused(identity string, want ending) {
	h.Helper()
	from, cli := len(h.srv.seen), h.knock(identity)
	h.until(identity+" is refused", func() bool { return cli.peerOf(0, transport.Disconnected) != 0 })
	ev := cli.endOf(cli.peerOf(0, transport.Disconnected))
	if ev.Code != want.code || want.reason != "" && ev.Reason != want.reason {
		h.Errorf("%q was refused with %v %q, not %v %q", identity, ev.Code, ev.Reason, want.code, want.reason)
	}
	if cli.peerOf(0, transport.Connected) != 0 || h.srv.peerOf(from, transport.Connected) != 0 {
		h.Errorf("%q was refused and still connected", identity)
	}
}

func replacesTheOld(h *house) {
	h.openDoor(transport.ReplaceOld, 8)
	bob, old := h.enterAs("bob"), h.enterAs("ann")
	for range 3 {
		young := h.enterAs("ann")
		h.leaves(old, ending{code: transport.Replaced})
		h.talks(young)
		old = young
	}
	h.talks(bob)
}

// A client that reconnects before the server has noticed its loss must not be kept out by its own old connection.
func replacesTheOldWhenFull(h *house) {
	h.openDoor(transport.ReplaceOld, 2)
	bob, old := h.enterAs("bob"), h.enterAs("ann")
	h.refused("eve", ending{code: transport.Full})
	young := h.enterAs("ann")
	h.leaves(old, ending{code: transport.Replaced})
	h.talks(young)
	h.talks(bob)
}

func refusesTheNew(h *house) {
	h.openDoor(transport.RefuseNew, 8)
	bob, ann := h.enterAs("bob"), h.enterAs("ann")
	h.refused("ann", ending{code: transport.Refused})
	h.talks(ann)
	ann.cli.mustClose(transport.Closed, "")
	h.until("the server is told", func() bool { return h.srv.endOf(ann.toClient) != nil })
	h.talks(h.enterAs("ann"))
	h.talks(bob)
}

func allowsBoth(h *house) {
	h.openDoor(transport.AllowBoth, 8)
	bob := h.enterAs("bob")
	both := []*link{h.enterAs("ann"), h.enterAs("ann")}
	for _, l := range both {
		h.talks(l)
	}
	if !h.door.DisconnectIdentity([]byte("ann"), transport.Kicked, "out, both of you") {
		h.Error("no peer was found for an identity with two peers")
	}
	for _, l := range both {
		h.leaves(l, ending{transport.Kicked, "out, both of you"})
	}
	h.talks(bob)
}

func kicksByIdentity(h *house) {
	h.openDoor(transport.ReplaceOld, 8)
	bob, ann := h.enterAs("bob"), h.enterAs("ann")
	if h.door.DisconnectIdentity([]byte("eve"), transport.Kicked, "") {
		h.Error("a peer was found for an identity without peers")
	}
	if !h.door.DisconnectIdentity([]byte("ann"), transport.FirstUserCode+7, "enough") {
		h.Error("no peer was found for a connected identity")
	}
	h.leaves(ann, ending{transport.FirstUserCode + 7, "enough"})
	if h.door.DisconnectIdentity([]byte("ann"), transport.Kicked, "") {
		h.Error("a dropped peer was found again")
	}
	h.talks(bob)
	h.talks(h.enterAs("ann"))
}

func bansByIdentity(h *house) {
	h.openDoor(transport.AllowBoth, 8)
	bob, ann := h.enterAs("bob"), h.enterAs("ann")
	h.door.Ban([]byte("ann"), time.Now().Add(time.Hour), "you know why")
	h.leaves(ann, ending{transport.Kicked, "you know why"})
	h.refused("ann", ending{transport.Refused, "you know why"})
	h.door.Ban([]byte("eve"), time.Time{}, "for good")
	h.refused("eve", ending{transport.Refused, "for good"})
	h.talks(bob)
	h.door.Ban([]byte("ann"), time.Now().Add(-time.Second), "over")
	h.talks(h.enterAs("ann"))
	h.door.Unban([]byte("eve"))
	h.talks(h.enterAs("eve"))
}

// An empty identity matches nothing: two such peers are unrelated.
func leavesNobodyAlone(h *house) {
	for _, same := range []transport.Same{transport.ReplaceOld, transport.RefuseNew} {
		h.openDoor(same, 8)
		first, second := h.enterAs(""), h.enterAs("")
		h.door.Ban(nil, time.Time{}, "")
		h.door.Ban([]byte{}, time.Time{}, "")
		if h.door.DisconnectIdentity(nil, transport.Kicked, "") {
			h.Error("nobody was found by an empty identity")
		}
		h.waitForArrivals()
		h.talks(first)
		h.talks(second)
		h.talks(h.enterAs(""))
	}
}
