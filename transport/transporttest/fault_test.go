package transporttest_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foretick/foretick/transport"
)

// fault is one way to break the contract, in a server, a client, or both, and the case that finds it.
type fault struct {
	name   string
	caught string
	hangs  bool
	server func(w *world, ep *locked) transport.Endpoint
	client func(w *world, ep *locked) transport.Endpoint
}

// is returns a fault that changes events of one kind.
func is(k transport.EventKind, change func(ev *transport.Event) bool) func(w *world, ep *locked) transport.Endpoint {
	return func(_ *world, ep *locked) transport.Endpoint {
		return changed(ep, func(ev *transport.Event) bool { return ev.Kind != k || change(ev) })
	}
}

// twice returns a fault that reports events of a kind twice: one in every.
func twice(k transport.EventKind, every int) func(w *world, ep *locked) transport.Endpoint {
	return func(_ *world, ep *locked) transport.Endpoint {
		n := 0
		return edited(ep, func(ev transport.Event) []transport.Event {
			if ev.Kind == k {
				if n++; n%every == 0 {
					return []transport.Event{ev, ev}
				}
			}
			return []transport.Event{ev}
		})
	}
}

func drop(*transport.Event) bool { return false }

// every returns a function that returns true each n-th time.
func every(n int) func() bool {
	var k atomic.Int64
	return func() bool { return k.Add(1)%int64(n) == 0 }
}

var faults = slices.Concat(eventFaults, dataFaults, queueFaults, endFaults, callFaults)

var eventFaults = []fault{
	{name: "the server drops Connected", caught: "Connect", server: is(transport.Connected, drop)},
	{name: "the client drops Connected", caught: "Connect", client: is(transport.Connected, drop)},
	{name: "Connected comes twice", caught: "Connect", server: twice(transport.Connected, 1)},
	{name: "Connected carries data", caught: "Connect", client: is(transport.Connected, func(ev *transport.Event) bool {
		ev.Data = []byte("hello")
		return true
	})},
	{name: "Data carries a code", caught: "Delivery", server: is(transport.Data, func(ev *transport.Event) bool {
		ev.Code = transport.Closed
		return true
	})},
	{name: "Disconnected is dropped", caught: "CloseClient", server: is(transport.Disconnected, drop)},
	{name: "Disconnected comes twice", caught: "DisconnectByServer", client: twice(transport.Disconnected, 1)},
	{name: "Data comes after Disconnected", caught: "LastWords", server: func(_ *world, ep *locked) transport.Endpoint {
		var held []transport.Event
		return edited(ep, func(ev transport.Event) []transport.Event {
			switch {
			case ev.Kind == transport.Data && held == nil:
				ev.Data = bytes.Clone(ev.Data)
				held = []transport.Event{ev}
				return nil
			case ev.Kind == transport.Disconnected:
				return append([]transport.Event{ev}, held...)
			}
			return []transport.Event{ev}
		})
	}},
	{name: "data is lost to the end", caught: "LastWords", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
			k := ep.Recv(ev)
			if k > 0 && ev[k-1].Kind == transport.Disconnected {
				ev[0] = ev[k-1]
				return 1
			}
			return k
		}}
	}},
	{name: "a PeerID is used again", caught: "Reuse", server: reusesIDs},
	{name: "clients are mixed up", caught: "ManyClients", server: func(_ *world, ep *locked) transport.Endpoint {
		return changed(ep, func(ev *transport.Event) bool {
			if ev.Kind == transport.Data && ev.Peer.Slot() < 2 {
				ev.Peer = transport.MakePeerID(1-ev.Peer.Slot(), 1)
			}
			return true
		})
	}},
	{name: "one client's end ends another", caught: "ManyClients", server: func(_ *world, ep *locked) transport.Endpoint {
		var peers []transport.PeerID
		return changed(ep, func(ev *transport.Event) bool {
			switch ev.Kind {
			case transport.Connected:
				peers = append(peers, ev.Peer)
			case transport.Disconnected:
				for _, p := range peers {
					ep.Disconnect(p, transport.Kicked, "")
				}
			}
			return true
		})
	}},
}

// reusesIDs reports all connections of a slot by the id of the first one.
func reusesIDs(_ *world, ep *locked) transport.Endpoint {
	now := make(map[transport.PeerID]transport.PeerID)
	b := changed(ep, func(ev *transport.Event) bool {
		id := transport.MakePeerID(ev.Peer.Slot(), 1)
		if ev.Kind == transport.Connected {
			now[id] = ev.Peer
		}
		ev.Peer = id
		return true
	})
	b.send = func(p transport.PeerID, d []byte) error { return ep.Send(now[p], d) }
	b.info = func(p transport.PeerID, out *transport.Info) bool { return ep.Info(now[p], out) }
	b.disconnect = func(p transport.PeerID, c transport.Code, reason string) { ep.Disconnect(now[p], c, reason) }
	return b
}

var dataFaults = []fault{
	{name: "a datagram in fifty is lost", caught: "Delivery", server: func(_ *world, ep *locked) transport.Endpoint {
		lost := every(50)
		return changed(ep, func(ev *transport.Event) bool { return ev.Kind != transport.Data || !lost() })
	}},
	{name: "a datagram in fifty comes twice", caught: "Delivery", client: twice(transport.Data, 50)},
	{name: "a datagram in fifty is damaged", caught: "Delivery", client: func(_ *world, ep *locked) transport.Endpoint {
		hit := every(50)
		return changed(ep, func(ev *transport.Event) bool {
			if ev.Kind == transport.Data && hit() {
				ev.Data[len(ev.Data)/2] ^= 4
			}
			return true
		})
	}},
	{name: "empty datagrams are lost", caught: "Boundaries", server: is(transport.Data, func(ev *transport.Event) bool {
		return len(ev.Data) > 0
	})},
	{name: "datagrams are cut", caught: "Boundaries", server: is(transport.Data, func(ev *transport.Event) bool {
		ev.Data = ev.Data[:min(len(ev.Data), 512)]
		return true
	})},
	{name: "short datagrams are padded", caught: "Boundaries", server: is(transport.Data, func(ev *transport.Event) bool {
		ev.Data = append(bytes.Clone(ev.Data), make([]byte, max(0, 4-len(ev.Data)))...)
		return true
	})},
	{name: "all Data is in one buffer", caught: "Delivery", server: func(_ *world, ep *locked) transport.Endpoint {
		var buf [2000]byte
		return changed(ep, func(ev *transport.Event) bool {
			if ev.Kind == transport.Data {
				ev.Data = buf[:copy(buf[:], ev.Data)]
			}
			return true
		})
	}},
	{name: "Data is in the buffer of Send", caught: "Ownership", server: func(_ *world, ep *locked) transport.Endpoint {
		var buf [2000]byte
		b := changed(ep, func(ev *transport.Event) bool {
			if ev.Kind == transport.Data && len(ev.Data) == 200 {
				ev.Data = buf[:copy(buf[:], ev.Data)]
			}
			return true
		})
		b.send = func(p transport.PeerID, d []byte) error { return ep.Send(p, buf[:copy(buf[:], d)]) }
		return b
	}},
	{name: "Send keeps its argument", caught: "Ownership", client: func(w *world, ep *locked) transport.Endpoint {
		var mu sync.Mutex
		var kept []func()
		w.polls = append(w.polls, func() {
			mu.Lock()
			defer mu.Unlock()
			for _, send := range kept {
				send()
			}
			kept = nil
		})
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			mu.Lock()
			defer mu.Unlock()
			kept = append(kept, func() { ep.Send(p, d) })
			return nil
		}}
	}},
	{name: "too big a datagram is cut and sent", caught: "TooBig", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error { return ep.Send(p, d[:min(len(d), 1191)]) }}
	}},
	{name: "the error of too big a datagram names no sizes", caught: "TooBig", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			if err := ep.Send(p, d); !errors.Is(err, transport.ErrTooBig) {
				return err
			}
			return transport.ErrTooBig
		}}
	}},
	{name: "no statistics", caught: "Statistics", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, info: func(p transport.PeerID, out *transport.Info) bool {
			ok := ep.Info(p, out)
			out.Stats = transport.Stats{}
			return ok
		}}
	}},
	{name: "an MTU too small for a game", caught: "Connect", client: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, info: func(p transport.PeerID, out *transport.Info) bool {
			ok := ep.Info(p, out)
			out.MTU = 100
			return ok
		}}
	}},
	{name: "a datagram costs allocations", caught: "Allocation", server: is(transport.Data, func(ev *transport.Event) bool {
		ev.Data = bytes.Clone(ev.Data)
		return true
	})},
}

// stored is a server that moves events from the network into a separate queue as time passes; add inserts an event.
func stored(add func(queue []transport.Event, ev transport.Event) []transport.Event) func(w *world, ep *locked) transport.Endpoint {
	return func(w *world, ep *locked) transport.Endpoint {
		var mu sync.Mutex
		var queue []transport.Event
		ready := make(chan struct{}, 1)
		poll := func() {
			var in [16]transport.Event
			for k := len(in); k == len(in); {
				k = ep.Recv(in[:])
				for _, ev := range in[:k] {
					ev.Data = bytes.Clone(ev.Data)
					queue = add(queue, ev)
				}
			}
			if len(queue) > 0 {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		}
		w.polls = append(w.polls, func() {
			mu.Lock()
			defer mu.Unlock()
			poll()
		})
		return &bent{Endpoint: ep, ready: func() <-chan struct{} { return ready }, recv: func(ev []transport.Event) int {
			mu.Lock()
			defer mu.Unlock()
			poll()
			k := copy(ev, queue)
			queue = slices.Delete(queue, 0, k)
			return k
		}}
	}
}

var queueFaults = []fault{
	{name: "the receive queue has no bound", caught: "SlowConsumer", server: stored(
		func(q []transport.Event, ev transport.Event) []transport.Event { return append(q, ev) })},
	{name: "a full receive queue loses the newest", caught: "SlowConsumer", server: stored(
		func(q []transport.Event, ev transport.Event) []transport.Event {
			if len(q) >= 160 && ev.Kind == transport.Data {
				return q
			}
			return append(q, ev)
		})},
	{name: "a full receive queue loses the end", caught: "SlowConsumer", server: func(_ *world, ep *locked) transport.Endpoint {
		overrun := make(map[transport.PeerID]bool)
		return changed(ep, func(ev *transport.Event) bool {
			var info transport.Info
			if ep.Info(ev.Peer, &info) && info.Stats.ReceiveDropped > 0 {
				overrun[ev.Peer] = true
			}
			return ev.Kind != transport.Disconnected || !overrun[ev.Peer]
		})
	}},
	{name: "the loudest peer is served first", caught: "Fairness", server: stored(
		func(q []transport.Event, ev transport.Event) []transport.Event {
			if i := slices.IndexFunc(q, func(e transport.Event) bool { return e.Peer > ev.Peer }); i >= 0 {
				return slices.Insert(q, i, ev)
			}
			return append(q, ev)
		})},
	{name: "Ready is a channel of its own each time", caught: "Ready", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, ready: func() <-chan struct{} {
			c := make(chan struct{}, 1)
			c <- struct{}{}
			return c
		}}
	}},
	{name: "Ready never has a signal", caught: "Ready", server: func(_ *world, ep *locked) transport.Endpoint {
		never := make(chan struct{}, 1)
		return &bent{Endpoint: ep, ready: func() <-chan struct{} { return never }}
	}},
	{name: "Ready has no signal for what is left", caught: "Ready", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
			k := ep.Recv(ev)
			select {
			case <-ep.Ready():
			default:
			}
			return k
		}}
	}},
}
