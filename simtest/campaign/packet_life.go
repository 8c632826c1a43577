package campaign

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/alarm"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
)

// life is a server, a client that is fed with packets, and one that is left
// alone.
type life struct {
	fuzz     *PacketFuzzer
	at       time.Duration
	server   *server.Server
	client   *client.Client
	peace    *client.Client
	listen   *pipe
	ends     [2]*pipe // endpoints of client and peace
	acts     [2]func()
	up, down *Mutator
	feed     [fuzzBatch][]byte
	fed      int
	early    *Mutator // mutates the first packets that the client sent
	peers    transport.PeerID
	firsts   uint64
	conn     *netcode.Conn // a server's end of a connection, without the server
	buffer   *netcode.CommandBuffer
	commands uint64
	welcomes [][]byte
	numbers  [2]uint16
	lost     bool
	memory   runtime.MemStats
}

func newLife(s *PacketFuzzer, number uint64) (*life, error) {
	l := &life{fuzz: s, listen: &pipe{}, up: NewMutator(s.Seed, 2*number), down: NewMutator(s.Seed, 2*number+1), early: NewMutator(s.Seed, ^number), peers: 2}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], s.Seed+number)
	p := s.New()
	var err error
	l.server, err = server.New(server.Config{Protocol: p.Protocol, Transport: l.listen, Random: rand.NewChaCha8(seed)})
	if err != nil {
		return nil, err
	}
	probe.OfServer(l.server).OnPanic(func(p probe.Panicked) {
		panic(fmt.Sprintf("in %s of player %d: %v", p.Handler, p.Player, p.Value))
	})
	probe.OfServer(l.server).SetArchitecture(architecture)
	if p.Begin != nil {
		p.Begin(l.server)
	}
	for i := range l.ends {
		l.ends[i] = &pipe{}
		p := s.New()
		c, err := client.New(client.Config{
			Protocol: p.Protocol, Transport: l.ends[i], Sample: p.Sample, Logger: alarm.Logger(func(err error) { panic(err) }),
		})
		if err != nil {
			return nil, err
		}
		probe.OfClient(c).SetArchitecture(architecture)
		if l.client == nil {
			l.client = c
		} else {
			l.peace = c
		}
		l.acts[i] = func() {
			if p.Act != nil {
				p.Act(c)
			}
		}
		l.ends[i].event(transport.Event{Kind: transport.Connected, Peer: 1})
		l.listen.event(transport.Event{Kind: transport.Connected, Peer: transport.PeerID(i + 1)})
	}
	return l, nil
}

// playTick lets everyone play one tick honestly.
func (l *life) playTick() {
	now := simtest.Epoch.Add(l.at)
	l.client.Step(now)
	l.peace.Step(now)
	for _, act := range l.acts {
		act()
	}
	for i, e := range l.ends {
		for _, b := range e.sent {
			if i == 0 {
				l.up.Learn(b.data)
				if len(l.early.corpus) < fuzzEarly {
					l.early.Learn(b.data)
				}
			}
			l.listen.data(transport.PeerID(i+1), b.data)
		}
		e.dropSent()
	}
	l.server.Step(now)
	for _, b := range l.listen.sent {
		if b.to == 1 {
			l.down.Learn(b.data)
			l.welcome(b.data)
		}
		if int(b.to) <= len(l.ends) {
			l.ends[b.to-1].data(1, b.data)
		}
	}
	l.lost = l.lost || l.listen.ended
	l.listen.dropSent()
	l.at += probe.OfServer(l.server).Interval()
}

// welcome stores the server's first message, which contains the size of a
// command.
func (l *life) welcome(b []byte) {
	if len(l.welcomes) > 0 || len(b) < headerLeast {
		return
	}
	for _, p := range split(nil, b[sumBytes+header(b[sumBytes:]):]) {
		if netcode.MessageType(p.kind) == netcode.MessageWelcome {
			l.welcomes = append(l.welcomes, append([]byte{}, p.body...))
		}
	}
}

// batch feeds one end with mutated packets. A server soon ends the connection of a peer
// that sends such packets. So it gets only the first few, and separate decoders get the rest.
func (l *life) batch(up bool) {
	u, number := l.down, &l.numbers[0]
	u.Tick = probe.OfClient(l.client).Newest() + 1
	if up {
		u, number = l.up, &l.numbers[1]
		u.Tick = l.server.Tick() + 2
	}
	if *number == 0 {
		*number = binary.LittleEndian.Uint16(u.corpus[len(u.corpus)-1][1:])
	}
	for i := range l.feed {
		*number++ // numbers of later honest packets then count as too old
		k := *number
		if u.rand.IntN(8) == 0 {
			k = uint16(u.rand.Uint32())
		}
		l.feed[i] = u.Packet(l.feed[i][:0], k)
		switch {
		case !up:
			l.ends[0].data(1, l.feed[i])
		case i < fuzzPatience && !l.lost:
			l.listen.data(1, l.feed[i])
		default:
			l.decode(l.feed[i], l.server.Tick())
		}
	}
	l.fed += len(l.feed)
}

// fuzzPatience is how many packets of a batch the server itself gets.
const fuzzPatience = 4

const (
	fuzzEarly  = 8 // how many of a client's first packets are mutated
	fuzzFirsts = 4 // new connections after each batch, and packets on each of them
)

// speakFirst opens new connections that start with mutated packets, and closes
// them.
func (l *life) speakFirst() {
	for range fuzzFirsts {
		l.peers++
		l.listen.event(transport.Event{Kind: transport.Connected, Peer: l.peers})
		for n := range uint16(fuzzFirsts) {
			l.listen.data(l.peers, l.early.Packet(nil, n))
			l.firsts++
		}
		l.listen.event(transport.Event{Kind: transport.Disconnected, Peer: l.peers})
	}
}

// decode reads a packet like a server, without checking its sender.
func (l *life) decode(b []byte, now foretick.Tick) {
	if l.conn.Receive(l.at, b) != nil {
		return
	}
	for m, ok := l.conn.NextMessage(); ok; m, ok = l.conn.NextMessage() {
		switch m.Type {
		case netcode.MessageHello:
			_, _ = netcode.ParseHello(m.Body)
		case netcode.MessageReady:
			_, _ = netcode.ParseClientConfig(m.Body)
		case netcode.MessageCommands:
			if l.buffer.Read(m.Body, float64(now)) == nil {
				l.commands++
			}
			for t := range uint32(4) {
				_, _ = l.buffer.Take(now + t)
			}
		}
	}
	for r, ok := l.conn.NextReliable(); ok; r, ok = l.conn.NextReliable() {
		_, _ = netcode.ParseSchemaRequest(r.Payload)
	}
	for _, ok := l.conn.NextEvent(); ok; _, ok = l.conn.NextEvent() {
		continue
	}
	for _, ok := l.conn.NextFate(); ok; _, ok = l.conn.NextFate() {
		continue
	}
}

// makeDecoders creates the decoders, in the state of an established connection.
func (l *life) makeDecoders() {
	l.conn = netcode.NewConn(netcode.Config{})
	for range fuzzCalm {
		l.conn.Begin(l.at).Finish()
	}
	size := 1
	for _, b := range l.welcomes {
		if w, err := netcode.ParseWelcome(b); err == nil {
			size = max(size, int(w.CommandSize))
		}
	}
	l.buffer = netcode.NewCommandBuffer(size, 2*64)
}

// measurePackets calls feed, lets both ends process the packets, and returns the time that
// took. With memory it also measures allocations, which costs more than the rest.
func (l *life) measurePackets(w *Weather, memory bool, feed func()) (took time.Duration) {
	feed()
	now := simtest.Epoch.Add(l.at - probe.OfServer(l.server).Interval()) // no tick is due
	if memory {
		runtime.ReadMemStats(&l.memory)
	}
	allocated := l.memory.TotalAlloc
	var begun time.Time
	if l.fuzz.Clock != nil {
		begun = l.fuzz.Clock()
	}
	l.server.Step(now)
	l.client.Step(now)
	if l.fuzz.Clock != nil {
		took = l.fuzz.Clock().Sub(begun)
	}
	if memory {
		runtime.ReadMemStats(&l.memory)
		w.MostBytes = max(w.MostBytes, l.memory.TotalAlloc-allocated)
	}
	return took
}
