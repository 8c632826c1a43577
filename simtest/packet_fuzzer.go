package simtest

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// PacketFuzzer feeds a game's server and client with packets that no honest peer would
// send, made of packets that one did (see [Mutator]), and checks what must hold
// for each: no panic, no hang, little memory. A storm is made of lives: in each
// a server and two clients begin anew, play a little, and are then fed.
type PacketFuzzer struct {
	// New makes one end of the game.
	New func() Player
	// Seed of all lives.
	Seed uint64
	// Clock reads the time, to find what takes too long: time.Now in a test. nil
	// does not look at it.
	Clock func() time.Time
	// Slow is how long a batch of 64 packets may take. 0 means 10 ms, ten times
	// what one packet may.
	Slow time.Duration
	// Shared says that other lives are played at the same time: what a batch
	// allocates is not looked at then, as it cannot be told whose it is.
	Shared bool
}

// Weather counts what a storm did.
type Weather struct {
	Lives     uint64
	Packets   uint64 // mutated ones fed to either end, or to a server's decoders alone
	Taken     uint64 // those that the client's connection took whole
	Malformed uint64 // those that it refused
	Snapshots uint64 // that the client applied all the same
	Commands  uint64 // that a server's decoders read
	Firsts    uint64 // mutated packets that were the first words of a connection
	Dropped   uint64 // lives in which the server ended the connection, as it should
	MostBytes uint64 // allocated for a batch of 64
	Slowest   time.Duration
}

// Add sums another storm's counts up.
func (w *Weather) Add(o Weather) {
	w.Lives += o.Lives
	w.Packets += o.Packets
	w.Taken += o.Taken
	w.Malformed += o.Malformed
	w.Snapshots += o.Snapshots
	w.Commands += o.Commands
	w.Firsts += o.Firsts
	w.Dropped += o.Dropped
	w.MostBytes = max(w.MostBytes, o.MostBytes)
	w.Slowest = max(w.Slowest, o.Slowest)
}

const (
	fuzzBatch   = 64
	fuzzBatches = 24 // of each direction in a life
	fuzzCalm    = 45 // ticks of honest play before
	// A batch may allocate what a single packet may, and twice its own bytes.
	fuzzAllowance = 64 << 10
)

// Live plays one life. The error names what broke; the same storm and life break
// again.
func (s *PacketFuzzer) Live(life uint64) (w Weather, err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := make([]byte, 4<<10)
			err = fmt.Errorf("simtest: seed %d, life %d: panic: %v\n%s", s.Seed, life, v, stack[:runtime.Stack(stack, false)])
		}
	}()
	slow := s.Slow
	if slow == 0 {
		slow = 10 * time.Millisecond
	}
	// A busy machine is slow now and then, but not at one and the same place.
	var least [2 * fuzzBatches]time.Duration
	for try := range 6 {
		var took [2 * fuzzBatches]time.Duration
		if w, err = s.live(life, &took); err != nil {
			return w, err
		}
		w.Slowest = 0
		for i := range took {
			if try > 0 {
				took[i] = min(took[i], least[i])
			}
			w.Slowest = max(w.Slowest, took[i])
		}
		if least = took; w.Slowest <= slow {
			return w, nil
		}
	}
	return w, fmt.Errorf("simtest: seed %d, life %d: a batch takes %v every time", s.Seed, life, w.Slowest)
}

func (s *PacketFuzzer) live(life uint64, took *[2 * fuzzBatches]time.Duration) (Weather, error) {
	var w Weather
	l, err := newLife(s, life)
	if err != nil {
		return w, err
	}
	for range fuzzCalm {
		l.tick()
	}
	if l.client.View().State != foretick.Playing {
		return w, fmt.Errorf("simtest: the client is %v after %d ticks of honest play", l.client.View().State, fuzzCalm)
	}
	l.serve()
	before := l.client.Stats()
	for n := range fuzzBatches {
		for i, up := range []bool{true, false} {
			took[2*n+i] = l.measure(&w, n%8 == 0 && !s.Shared, func() { l.batch(up) })
		}
		if w.MostBytes > fuzzAllowance+2*longest*fuzzBatch {
			return w, fmt.Errorf("simtest: seed %d, life %d, batch %d: %d bytes allocated", s.Seed, life, n, w.MostBytes)
		}
		l.speakFirst()
		l.tick()
		if l.client.View().State != foretick.Playing {
			break // it was told that it is not wanted
		}
	}
	if n := l.server.Stats().CorePanics + l.client.Stats().CorePanics; n > 0 {
		return w, fmt.Errorf("simtest: seed %d, life %d: %d panics in decoding", s.Seed, life, n)
	}
	if l.lost {
		w.Dropped++
	}
	after := l.client.Stats()
	w.Lives++
	w.Packets += uint64(l.fed) + l.firsts
	w.Firsts += l.firsts
	w.Taken += after.Connection.Received - before.Connection.Received
	w.Malformed += after.Connection.Malformed - before.Connection.Malformed
	w.Snapshots += after.Snapshots - before.Snapshots
	w.Commands += l.commands
	return w, nil
}

// life is a server, a client that is fed, and one that is left in peace.
type life struct {
	fuzz     *PacketFuzzer
	at       time.Duration
	server   *foretick.Server
	client   *foretick.Client
	peace    *foretick.Client
	listen   *pipe
	ends     [2]*pipe // of the clients
	acts     [2]func()
	up, down *Mutator
	feed     [fuzzBatch][]byte
	fed      int
	early    *Mutator // of what the client said first
	peers    transport.PeerID
	firsts   uint64
	conn     *netcode.Conn // a server's end of the connection, and no more
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
	l.server, err = foretick.NewServer(foretick.ServerConfig{Protocol: p.Protocol, Transport: l.listen, Random: rand.NewChaCha8(seed), OnPanic: func(p foretick.Panic) {
		panic(fmt.Sprintf("in %s of player %d: %v", p.Handler, p.Who, p.Value))
	}})
	if err != nil {
		return nil, err
	}
	if p.Begin != nil {
		p.Begin(l.server)
	}
	for i := range l.ends {
		l.ends[i] = &pipe{}
		p := s.New()
		c, err := foretick.NewClient(foretick.ClientConfig{
			Protocol: p.Protocol, Transport: l.ends[i], Sample: p.Sample, Logger: slog.New(alarm{func(err error) { panic(err) }}),
		})
		if err != nil {
			return nil, err
		}
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

// tick lets everybody play a tick honestly.
func (l *life) tick() {
	now := Epoch.Add(l.at)
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
		e.clear()
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
	l.listen.clear()
	l.at += l.server.Interval()
}

// welcome keeps what the server first said, for the size of a command.
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

// batch feeds one end. A server puts up with little of this: it gets the first
// few, while it does, and its decoders the rest.
func (l *life) batch(up bool) {
	u, number := l.down, &l.numbers[0]
	u.Tick = l.client.Newest() + 1
	if up {
		u, number = l.up, &l.numbers[1]
		u.Tick = l.server.Tick() + 2
	}
	if *number == 0 {
		*number = binary.LittleEndian.Uint16(u.corpus[len(u.corpus)-1][1:])
	}
	for i := range l.feed {
		*number++ // from now on the honest ones come too late
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

// stormPatience is how many of a batch the server itself gets.
const fuzzPatience = 4

const (
	fuzzEarly  = 8 // packets that a client says first
	fuzzFirsts = 4 // connections after each batch, with as many packets each
)

// speakFirst has new connections begin with mutated packets, and go again.
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

// decode reads a packet as a server does, without minding whose it is.
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

// serve makes the decoders, as they are in the middle of a connection.
func (l *life) serve() {
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

// measure has an end take what it was fed, and answers the time that this took.
// It looks at the memory, too, if asked: that costs more than the rest.
func (l *life) measure(w *Weather, memory bool, feed func()) (took time.Duration) {
	feed()
	now := Epoch.Add(l.at - l.server.Interval()) // no tick is due
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

// pipe is an endpoint without a network: what was put in comes out of Recv, and
// what is sent waits to be carried.
type pipe struct {
	in    []transport.Event
	sent  []parcel
	next  int
	ended bool
	ready chan struct{}
}

type parcel struct {
	to   transport.PeerID
	data []byte
}

func (p *pipe) event(e transport.Event) { p.in = append(p.in, e) }

func (p *pipe) data(from transport.PeerID, b []byte) {
	p.event(transport.Event{Kind: transport.Data, Peer: from, Data: b})
}

func (p *pipe) clear() { p.sent = p.sent[:0] }

// Recv implements transport.Endpoint.
func (p *pipe) Recv(ev []transport.Event) int {
	n := copy(ev, p.in[p.next:])
	if p.next += n; p.next == len(p.in) {
		p.in, p.next = p.in[:0], 0
	}
	return n
}

// Ready implements transport.Endpoint.
func (p *pipe) Ready() <-chan struct{} { return p.ready }

// Send implements transport.Endpoint.
func (p *pipe) Send(to transport.PeerID, b []byte) error {
	p.sent = append(p.sent, parcel{to, append([]byte{}, b...)})
	return nil
}

// Flush implements transport.Endpoint.
func (p *pipe) Flush() {}

// Disconnect implements transport.Endpoint.
func (p *pipe) Disconnect(peer transport.PeerID, _ transport.Code, _ string) {
	p.ended = p.ended || peer == 1
}

// Info implements transport.Endpoint.
func (p *pipe) Info(_ transport.PeerID, out *transport.Info) bool {
	*out = transport.Info{MTU: transport.MaxDatagram}
	return true
}

// Close implements transport.Endpoint.
func (p *pipe) Close(transport.Code, string) error { return nil }
