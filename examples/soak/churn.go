package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// churn makes very many clients join one server and leave again: normally, without notice, or before
// their hello. Then it checks that the server keeps nothing of them.
func churn(o options, out io.Writer) error {
	m, started := simtest.New(o.seed), time.Now()
	player := NewPlayer()
	srv, err := m.Serve(server.Config{Protocol: player.Protocol, MaxClients: 4096, ReconnectWindow: 2 * time.Second})
	if err != nil {
		return err
	}
	listen := m.Listener()
	player.Rest(true) // only players create entities
	// Play a tenth first. It allocates everything that the game's own types need permanently, and what
	// each player number needs. A number is not reused for a minute, so the tenth takes longer. After
	// that, newcomers get the numbers of players that left.
	tenth := o.connections / 10
	pause := 90 * time.Second / time.Duration(max(1, tenth/o.clients))
	visits(m, listen, player.Protocol.Hash(), o.clients, 0, tenth, pause)
	before, heap := campaign.MapEntries(srv), heapNow()
	visits(m, listen, player.Protocol.Hash(), o.clients, tenth, o.connections, pause)
	st := srv.Stats()
	r := churned{
		Connections: o.connections, Joined: st.Joined, Left: st.Left, Refused: st.Refused, CorePanics: st.CorePanics, RealSeconds: time.Since(started).Seconds(),
		Players: len(srv.Players(nil)), Entities: srv.World().Len(), Peers: len(campaign.MapEntries(listen)),
		MapEntriesLeft: campaign.MapEntries(srv), HeapBefore: heap, HeapAfter: heapNow(),
	}
	runtime.KeepAlive(m)
	for path, n := range before {
		if r.MapEntriesLeft[path] == n {
			delete(r.MapEntriesLeft, path) // used by the game's own types
		}
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return err
	}
	return r.check()
}

// churned is the state after many connections.
type churned struct {
	Connections    int            `json:"connections"`
	Joined         uint64         `json:"joined"`
	Left           uint64         `json:"left"`
	Refused        uint64         `json:"refused"`
	CorePanics     uint64         `json:"core_panics"`
	RealSeconds    float64        `json:"real_seconds"`
	Players        int            `json:"players_left"`
	Entities       int            `json:"entities_left"`
	Peers          int            `json:"peers_left"`
	MapEntriesLeft map[string]int `json:"map_entries_left"`
	HeapBefore     uint64         `json:"heap_after_a_tenth"` // in bytes, after garbage collection
	HeapAfter      uint64         `json:"heap_after_all"`
}

func (r *churned) check() error {
	switch {
	case r.Joined < uint64(r.Connections)*8/10:
		return fmt.Errorf("only %d of %d got in", r.Joined, r.Connections)
	case r.CorePanics > 0:
		return fmt.Errorf("%d panics in decoding", r.CorePanics)
	case r.Left != r.Joined || r.Players > 0 || r.Entities > 0 || r.Peers > 0:
		return errors.New("something is left of the players")
	case len(r.MapEntriesLeft) > 0:
		return fmt.Errorf("maps are not empty: %v", r.MapEntriesLeft)
	case float64(r.HeapAfter) > 1.02*float64(r.HeapBefore)+256<<10:
		return fmt.Errorf("the heap grew from %d to %d bytes", r.HeapBefore, r.HeapAfter)
	}
	return nil
}

func heapNow() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// visitor is a client that only sends a hello.
type visitor struct {
	endpoint *sim.Endpoint
	conn     *netcode.Conn
	peer     transport.PeerID
	way      int // how the visitor leaves
}

// visits makes clients join and leave, a group at a time. Then it waits until those that left without
// notice time out.
func visits(m *simtest.Match, listen *sim.Endpoint, protocol uint64, together, from, to int, pause time.Duration) {
	for n := from; n < to; n += together {
		visit(m, listen, protocol, n, min(together, to-n))
		m.RunFor(pause)
	}
	m.Run(m.Net.Now() + 15*time.Second)
}

// visit makes a group of clients join and leave.
func visit(m *simtest.Match, listen *sim.Endpoint, protocol uint64, first, n int) {
	group := make([]*visitor, n)
	for i := range group {
		group[i] = &visitor{endpoint: m.Net.Dial(listen, sim.LAN, sim.LAN), way: (first + i) % 100}
	}
	for range 4 {
		m.Run(m.Net.Now() + 34*time.Millisecond)
		for _, v := range group {
			v.step(m.Net.Now(), protocol)
		}
	}
	for _, v := range group {
		if v.way < 2 {
			m.Net.Kill(v.endpoint) // without notice
		} else {
			_ = v.endpoint.Close(transport.Closed, "")
		}
	}
}

func (v *visitor) step(now time.Duration, protocol uint64) {
	var events [8]transport.Event
	for n := v.endpoint.Recv(events[:]); n > 0; n = v.endpoint.Recv(events[:]) {
		for _, e := range events[:n] {
			switch e.Kind {
			case transport.Connected:
				v.peer, v.conn = e.Peer, netcode.NewConn(netcode.Config{})
			case transport.Data:
				_ = v.conn.Receive(now, e.Data) // only the acknowledgements are needed
			}
		}
	}
	if v.conn == nil || v.way%10 == 9 {
		return // never sends a hello
	}
	p := v.conn.Begin(now)
	p.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: protocol}.Append(nil))
	_, b := p.Finish()
	_ = v.endpoint.Send(v.peer, b) // a lost packet is repeated
}
