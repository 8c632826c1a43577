package transporttest_test

import (
	"sync"
	"time"

	"github.com/foretick/foretick/transport"
)

var endFaults = []fault{
	{name: "another close code", caught: "DisconnectByServer", client: is(transport.Disconnected, func(ev *transport.Event) bool {
		ev.Code = transport.Closed
		return true
	})},
	{name: "codes above 255 are cut", caught: "DisconnectByClient", server: is(transport.Disconnected, func(ev *transport.Event) bool {
		ev.Code &= 255
		return true
	})},
	{name: "no detail", caught: "CloseClient", server: is(transport.Disconnected, func(ev *transport.Event) bool {
		ev.Reason = ""
		return true
	})},
	{name: "a detail beyond bounds", caught: "DisconnectByServer", client: is(transport.Disconnected, func(ev *transport.Event) bool {
		if len(ev.Reason) == transport.MaxReason {
			ev.Reason += "..."
		}
		return true
	})},
	{name: "the local Disconnect is told", caught: "DisconnectIsSilentHere", server: func(_ *world, ep *locked) transport.Endpoint {
		var told []transport.Event
		return &bent{Endpoint: ep, disconnect: func(p transport.PeerID, c transport.Code, reason string) {
			told = append(told, transport.Event{Kind: transport.Disconnected, Peer: p, Code: c})
			ep.Disconnect(p, c, reason)
		}, recv: func(ev []transport.Event) int {
			k := copy(ev, told)
			told = told[k:]
			return k + ep.Recv(ev[k:])
		}}
	}},
	{name: "what a dropped peer had sent is told", caught: "DisconnectIsSilentHere", server: stored(
		func(q []transport.Event, ev transport.Event) []transport.Event { return append(q, ev) })},
	{name: "a dropped peer may be sent to", caught: "DisconnectIsSilentHere", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			if err := ep.Send(p, d); err != transport.ErrNoPeer {
				return err
			}
			return nil
		}}
	}},
	{name: "strangers have Info", caught: "NoPeer", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, info: func(p transport.PeerID, out *transport.Info) bool { ep.Info(p, out); return true }}
	}},
	{name: "Disconnect looks at the slot only", caught: "NoPeer", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, disconnect: func(p transport.PeerID, c transport.Code, reason string) {
			for g := range uint32(4) {
				ep.Disconnect(transport.MakePeerID(p.Slot(), g), c, reason)
			}
		}}
	}},
	{name: "a client's Close tells nobody", caught: "CloseClient", client: func(w *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, close: func(c transport.Code, reason string) error {
			w.vanish(ep)
			return ep.Close(c, reason)
		}}
	}},
	{name: "a server's Close tells one client only", caught: "CloseServer", server: func(w *world, ep *locked) transport.Endpoint {
		known := 0
		b := changed(ep, func(ev *transport.Event) bool {
			if ev.Kind == transport.Connected {
				known++
			}
			return true
		})
		b.close = func(c transport.Code, reason string) error {
			for i := 1; i < known; i++ {
				ep.Disconnect(transport.MakePeerID(i, 1), transport.None, "")
			}
			return ep.Close(c, reason)
		}
		return b
	}},
	{name: "the second Close is good", caught: "ClosedEndpoint", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, close: func(c transport.Code, reason string) error { ep.Close(c, reason); return nil }}
	}},
	{name: "a closed endpoint tells events", caught: "ClosedEndpoint", server: func(_ *world, ep *locked) transport.Endpoint {
		b := &bent{Endpoint: ep}
		b.close = func(c transport.Code, reason string) error {
			b.recv = func(ev []transport.Event) int { ev[0] = transport.Event{Kind: transport.Data, Peer: 1}; return 1 }
			return ep.Close(c, reason)
		}
		return b
	}},
	{name: "Send on a closed endpoint knows no peer", caught: "ClosedEndpoint", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			if err := ep.Send(p, d); err != transport.ErrClosed {
				return err
			}
			return transport.ErrNoPeer
		}}
	}},
	{name: "idle connections are given up", caught: "Idle", server: givesUp(5*time.Second, transport.Timeout)},
	{name: "the vanished are not noticed", caught: "Vanish", server: is(transport.Disconnected, func(ev *transport.Event) bool {
		return ev.Code != transport.Timeout
	})},
	{name: "the vanished are said to have left", caught: "Vanish", server: is(transport.Disconnected, func(ev *transport.Event) bool {
		if ev.Code == transport.Timeout {
			ev.Code = transport.Closed
		}
		return true
	})},
	{name: "the vanished are given up too soon", caught: "Vanish", server: givesUp(time.Second, transport.Timeout)},
	{name: "the refused learn another code", caught: "Refuse", client: is(transport.Disconnected, func(ev *transport.Event) bool {
		ev.Code = transport.Refused
		return true
	})},
	{name: "the server is told of the refused", caught: "Refuse", server: func(w *world, ep *locked) transport.Endpoint {
		told := false
		return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
			if k := ep.Recv(ev); k > 0 || told || w.now() < 20*time.Millisecond {
				return k
			}
			told = true
			ev[0] = transport.Event{Kind: transport.Connected, Peer: 99}
			return 1
		}}
	}},
}

// givesUp ends connections that have been silent for d.
func givesUp(d time.Duration, c transport.Code) func(w *world, ep *locked) transport.Endpoint {
	return func(w *world, ep *locked) transport.Endpoint {
		heard := make(map[transport.PeerID]time.Duration)
		return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
			k := ep.Recv(ev)
			for _, e := range ev[:k] {
				heard[e.Peer] = w.now()
				if e.Kind == transport.Disconnected {
					delete(heard, e.Peer)
				}
			}
			for p, at := range heard {
				if w.now()-at >= d && k < len(ev) {
					delete(heard, p)
					ep.Disconnect(p, c, "")
					ev[k] = transport.Event{Kind: transport.Disconnected, Peer: p, Code: c}
					k++
				}
			}
			return k
		}}
	}
}

var callFaults = []fault{
	{name: "Send takes its time", caught: "SlowConsumer", client: func(_ *world, ep *locked) transport.Endpoint {
		slow := every(1500)
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			if slow() {
				time.Sleep(1100 * time.Millisecond)
			}
			return ep.Send(p, d)
		}}
	}},
	{name: "Send waits for ever", hangs: true, caught: "SlowConsumer", client: func(_ *world, ep *locked) transport.Endpoint {
		full := every(500)
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			if full() {
				select {}
			}
			return ep.Send(p, d)
		}}
	}},
	{name: "Recv waits for ever when there is nothing", hangs: true, caught: "Connect", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, recv: func(ev []transport.Event) int {
			<-ep.Ready()
			return ep.Recv(ev)
		}}
	}},
	{name: "a second Close waits for ever", hangs: true, caught: "ConcurrentClose", server: func(_ *world, ep *locked) transport.Endpoint {
		var once sync.Mutex
		return &bent{Endpoint: ep, close: func(c transport.Code, reason string) error {
			once.Lock() // never unlocked
			return ep.Close(c, reason)
		}}
	}},
	{name: "each of several Closes is the first", caught: "ConcurrentClose", server: func(_ *world, ep *locked) transport.Endpoint {
		return &bent{Endpoint: ep, close: func(c transport.Code, reason string) error { ep.Close(c, reason); return nil }}
	}},
	{name: "concurrent sends damage one another", caught: "ConcurrentUse", server: func(_ *world, ep *locked) transport.Endpoint {
		inside := make(chan struct{}, 1)
		return &bent{Endpoint: ep, send: func(p transport.PeerID, d []byte) error {
			select {
			case inside <- struct{}{}:
				time.Sleep(20 * time.Microsecond) // so that other goroutines run
				err := ep.Send(p, d)
				<-inside
				return err
			default:
				return ep.Send(p, make([]byte, len(d)))
			}
		}}
	}},
	{name: "a goroutine is left behind", caught: "Leak", server: func(_ *world, ep *locked) transport.Endpoint {
		go func() { select {} }()
		return ep
	}},
	{name: "a client that is closed while it dials leaves a goroutine behind", caught: "Leak",
		client: func(_ *world, ep *locked) transport.Endpoint {
			var info transport.Info
			return &bent{Endpoint: ep, close: func(c transport.Code, reason string) error {
				if !ep.Info(transport.MakePeerID(0, 1), &info) {
					go func() { select {} }()
				}
				return ep.Close(c, reason)
			}}
		}},
}
