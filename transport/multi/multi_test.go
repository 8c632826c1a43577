package multi_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
	"github.com/foretick/foretick/transport/ws"
)

// house is a server of joined endpoints, with their addresses.
type house struct {
	*multi.Endpoint
	udp, ws string
	dialled int
}

const timeout = 600 * time.Millisecond

func open(t testing.TB, u udp.Config, w ws.Config) *house {
	t.Helper()
	u.Timeout, w.Timeout = timeout, timeout
	ue, err := udp.Listen("127.0.0.1:0", u)
	require.NoError(t, err)
	we, err := ws.Listen("127.0.0.1:0", w)
	require.NoError(t, err)
	e, err := multi.New(ue, we)
	require.NoError(t, err)
	return &house{Endpoint: e, udp: ue.LocalAddr().String(), ws: "ws://" + we.LocalAddr().String() + "/"}
}

// dial connects by UDP and by WebSocket in turn.
func (h *house) dial(t testing.TB, token string) transport.Endpoint {
	t.Helper()
	var e transport.Endpoint
	var err error
	if h.dialled++; h.dialled%2 == 1 {
		e, err = udp.Dial(h.udp, udp.Config{Token: []byte(token), Timeout: timeout})
	} else {
		e, err = ws.Dial(h.ws, ws.Config{Token: []byte(token), Timeout: timeout})
	}
	require.NoError(t, err)
	return e
}

func TestConformance(t *testing.T) {
	costtest.Sockets(t)
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		return transporttest.Net{
			Concurrent: true,
			Timeout:    timeout,
			Allocs:     3, // those of a WebSocket
			Server:     func() transport.Endpoint { return open(t, udp.Config{}, ws.Config{}) },
			Client:     func(srv transport.Endpoint) transport.Endpoint { return srv.(*house).dial(t, "") },
			Refuse: func(c transport.Code, reason string) transport.Endpoint {
				no := func(netip.AddrPort, []byte) ([]byte, error) {
					return nil, &transport.DisconnectError{Code: c, Reason: reason}
				}
				return open(t, udp.Config{Accept: no}, ws.Config{Accept: no})
			},
		}
	})
}

func echo(_ netip.AddrPort, token []byte) ([]byte, error) { return token, nil }

// events collects events until there are enough of them, for at most ten seconds.
func events(t testing.TB, e transport.Endpoint, enough int) (all []transport.Event) {
	t.Helper()
	var ev [4]transport.Event
	for end := time.Now().Add(10 * time.Second); len(all) < enough && time.Now().Before(end); time.Sleep(time.Millisecond) {
		for n := e.Recv(ev[:]); n > 0; n = e.Recv(ev[:]) {
			all = append(all, ev[:n]...)
		}
	}
	require.Len(t, all, enough)
	return all
}

func TestPartsStayApart(t *testing.T) {
	h := open(t, udp.Config{Accept: echo, MaxPeers: 3}, ws.Config{Accept: echo, MaxPeers: 4})
	defer h.Close(transport.Closed, "")
	require.Equal(t, 7, h.MaxPeers())
	byUDP, byWS := h.dial(t, "ann"), h.dial(t, "ann")
	defer byUDP.Close(transport.Closed, "")
	defer byWS.Close(transport.Closed, "")
	names := map[string]transport.PeerID{}
	for _, ev := range events(t, h, 2) {
		require.Equal(t, transport.Connected, ev.Kind)
		name, ok := h.Name(ev.Peer)
		require.True(t, ok)
		names[name] = ev.Peer
		var info transport.Info
		require.True(t, h.Info(ev.Peer, &info))
		require.Equal(t, "ann", string(info.Identity))
	}
	require.Len(t, names, 2, "one identity by two parts: neither replaced the other")
	require.NoError(t, h.Send(names["ws"], []byte("four")))
	require.ErrorIs(t, h.Send(names["udp"], make([]byte, 4000)), transport.ErrTooBig)
	c := h.Counters(nil)
	require.Equal(t, multi.Counters{Name: "udp", Peers: 1, MaxPeers: 3, Connected: 1, SendFailed: 1}, c[0])
	require.Equal(t, multi.Counters{Name: "ws", Peers: 1, MaxPeers: 4, Connected: 1, Sent: 1, SentBytes: 4}, c[1])
	require.IsType(t, &udp.Endpoint{}, h.Part("udp"))
	require.Nil(t, h.Part("dtls"))

	// A ban is in effect in every part.
	h.Ban([]byte("ann"), time.Time{}, "enough")
	for _, ev := range events(t, h, 2) {
		require.Equal(t, transport.Disconnected, ev.Kind)
		require.Equal(t, transport.Kicked, ev.Code)
		_, ok := h.Name(ev.Peer)
		require.False(t, ok)
	}
	require.Zero(t, h.Counters(nil)[0].Peers)
	require.False(t, h.DisconnectIdentity([]byte("ann"), transport.Kicked, ""))
	h.Unban([]byte("ann"))
	again := h.dial(t, "ann")
	defer again.Close(transport.Closed, "")
	require.Equal(t, transport.Connected, events(t, h, 1)[0].Kind)
}

// A part that always has events does not keep the others waiting.
func TestABusyPartLetsOthersThrough(t *testing.T) {
	n := sim.NewNetwork(1)
	first, second := n.Listen(), n.Listen()
	e, err := multi.NewNamed(multi.Part{Name: "first", Endpoint: first}, multi.Part{Endpoint: second})
	require.NoError(t, err)
	defer e.Close(transport.Closed, "")
	loud, quiet := n.Dial(first, sim.Link{}, sim.Link{}), n.Dial(second, sim.Link{}, sim.Link{})
	n.Run(time.Second)
	var ev [4]transport.Event
	require.Equal(t, 2, e.Recv(ev[:]))
	var at [1]transport.Event
	require.Equal(t, 1, loud.Recv(at[:]))
	to := at[0].Peer
	require.Equal(t, 1, quiet.Recv(at[:]))
	for range 20 {
		require.NoError(t, loud.Send(to, []byte("loud")))
	}
	require.NoError(t, quiet.Send(at[0].Peer, []byte("quiet")))
	n.Run(2 * time.Second)
	heard := map[string]int{}
	for range 3 {
		for _, got := range ev[:e.Recv(ev[:])] {
			heard[string(got.Data)]++
		}
	}
	require.Equal(t, 1, heard["quiet"], "the second part waits until the first has nothing left")
	for range 20 {
		select {
		case <-e.Ready():
		case <-time.After(time.Second):
			t.Fatal("what is left is not signalled")
		}
		for _, got := range ev[:e.Recv(ev[:])] {
			heard[string(got.Data)]++
		}
		if heard["loud"] == 20 {
			return
		}
	}
	t.Fatalf("%d of 20 datagrams came", heard["loud"])
}

func TestIdentity(t *testing.T) {
	transporttest.RunIdentity(t, func(t testing.TB) transporttest.Doors {
		return transporttest.Doors{
			Server: func(same transport.Same, maxPeers int) transport.BanList {
				ue, err := udp.Listen("127.0.0.1:0", udp.Config{Same: same, MaxPeers: maxPeers, Accept: echo})
				require.NoError(t, err)
				we, err := ws.Listen("127.0.0.1:0", ws.Config{})
				require.NoError(t, err)
				e, err := multi.New(we, ue)
				require.NoError(t, err)
				return &house{Endpoint: e, udp: ue.LocalAddr().String()}
			},
			Client: func(srv transport.BanList, identity string) transport.Endpoint {
				e, err := udp.Dial(srv.(*house).udp, udp.Config{Token: []byte(identity)})
				require.NoError(t, err)
				return e
			},
		}
	})
}

func TestWhatCannotBeJoined(t *testing.T) {
	n := sim.NewNetwork(1)
	one, two := n.Listen(), n.Listen()
	_, err := multi.New()
	require.ErrorContains(t, err, "nothing to join")
	_, err = multi.New(one, nil, one)
	require.ErrorContains(t, err, "endpoint 1 is nil")
	require.ErrorContains(t, err, "endpoint 2 is given twice")
	_, err = multi.New((*udp.Endpoint)(nil))
	require.ErrorContains(t, err, "check the error of Listen")
	_, err = multi.NewNamed(multi.Part{Name: "a", Endpoint: one}, multi.Part{Name: "a", Endpoint: two})
	require.ErrorContains(t, err, `two parts are named "a"`)
	e, err := multi.New(one, two)
	require.NoError(t, err)
	c := e.Counters(nil)
	require.Equal(t, []string{"sim", "sim2"}, []string{c[0].Name, c[1].Name})
	require.Zero(t, e.MaxPeers(), "one of them does not say")
	require.NoError(t, e.Close(transport.Closed, ""))
	require.ErrorIs(t, e.Close(transport.Closed, ""), transport.ErrClosed)
	require.ErrorIs(t, e.Send(1, nil), transport.ErrClosed)
}
