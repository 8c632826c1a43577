package relay

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/internal/settled/settledtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// table is a relay and peers in virtual time.
type table struct {
	testing.TB
	net   *sim.Network
	end   *sim.Endpoint
	relay *Relay
	peers []*dummy
	rate  time.Duration // the time of a tick
	until time.Duration
}

var epoch = time.Unix(1000, 0)

// newTable returns a relay that steps each step, with nobody there.
func newTable(t testing.TB, cfg Config, step time.Duration) *table {
	net := sim.NewNetwork(3)
	tb := &table{TB: t, net: net, end: net.Listen(), rate: time.Second / time.Duration(settledtest.Rules.Rate)}
	cfg.Transport, cfg.Rand = tb.end, rand.NewChaCha8([32]byte{1})
	var err error
	tb.relay, err = New(cfg)
	require.NoError(t, err)
	if step > 0 {
		var tick func()
		tick = func() {
			tb.relay.Step(epoch.Add(net.Now()))
			net.At(net.Now()+step, tick)
		}
		net.At(0, tick)
	}
	return tb
}

func (t *table) run(d time.Duration) {
	t.until += d
	t.net.Run(t.until)
}

// add adds a peer that plays, with a command of testRules.
func (t *table) add(link sim.Link) *dummy {
	d := &dummy{table: t, end: t.net.Dial(t.end, link, link), declared: settled.Declaration{Rules: settledtest.Rules}, size: 64, lead: 4}
	d.reset()
	t.peers = append(t.peers, d)
	var tick func()
	tick = func() {
		if !d.gone {
			d.step()
			t.net.At(t.net.Now()+time.Second/time.Duration(d.declared.Rate), tick)
		}
	}
	t.net.At(t.net.Now(), tick)
	return d
}

// watch adds a peer that observes.
func (t *table) watch(link sim.Link) *dummy {
	d := t.add(link)
	d.role = netcode.RoleObserve
	return d
}

// equal checks that all peers with a world have the same after the newest tick that all of them have.
func (t *table) equal() {
	t.Helper()
	newest, n := netcode.Tick(1<<31), 0
	for _, d := range t.peers {
		if d.worldly && !d.gone {
			newest = min(newest, d.standing.Tick)
		}
	}
	want := uint64(0)
	for _, d := range t.peers {
		if chain, ok := d.chains[newest]; ok && !d.gone {
			if n++; n == 1 {
				want = chain
			}
			require.Equal(t, want, chain, "player %d after tick %d", d.hello.Player, newest)
		}
	}
	require.GreaterOrEqual(t, n, 1)
}

// dummy is a peer without a game. Its world is a sum of all settled ticks.
type dummy struct {
	*table
	end      *sim.Endpoint
	peer     transport.PeerID
	conn     *netcode.Conn
	role     netcode.Role
	declared settled.Declaration
	token    [16]byte

	hello    settled.Welcome // what the relay answered
	welcomes int
	standing *settled.Standing
	worldly  bool // it has a world
	chain    uint64
	chains   map[netcode.Tick]uint64
	size     int // bytes of its world

	sender  *netcode.CommandSender
	clockAt time.Duration
	clock   float64
	made    netcode.Tick
	lead    float64 // ticks that its inputs come early
	early   []int16

	pieces  []byte
	asked   settled.Ask
	told    uint32
	worlds  int
	changes []tickChange
	ownGone []netcode.Tick // ticks in which an input stood in for its own
	differs []settled.Differ

	silent  bool // sends nothing
	still   bool // sends no commands
	lies    bool // sends a world that is not its own
	wrong   uint64
	mute    bool // sends no presence
	deaf    bool // takes nothing that is sent to it
	takes   int  // takes so many bytes a second of pieces, or none if it is negative, and all if it is 0
	taken   float64
	takenAt time.Duration
	trickle bool // sends one piece of its world every four seconds
	crumbs  bool // sends its world in pieces of a byte
	dripped time.Duration
	gone    bool
	code    transport.Code
	reason  string
	garbage func() (netcode.MessageType, []byte)
}

type tickChange struct {
	tick   netcode.Tick
	change settled.RosterChange
}

// player returns the peer that plays a player.
func (t *table) player(p ecs.Owner) *dummy {
	for _, d := range t.peers {
		if d.hello.Player == p && !d.gone {
			return d
		}
	}
	t.Fatalf("nobody plays player %d", p)
	return nil
}

func (d *dummy) reset() {
	d.conn = netcode.NewConn(netcode.Config{Rate: 400_000, MTU: sim.MTU, Channels: settled.Channels()})
	d.standing, d.chain, d.chains, d.worldly = nil, 0, map[netcode.Tick]uint64{}, false
	d.sender = netcode.NewCommandSender(int(d.declared.Size), netcode.CommandConfig{Redundancy: 3, Fields: settled.Widths(d.declared.Fields)})
	d.welcomes, d.asked, d.told, d.pieces, d.clock, d.made, d.peer = 0, settled.Ask{}, 0, nil, 0, 0, 0
}

// redial connects anew, with the world that the dummy has if keeps is true.
func (d *dummy) redial(link sim.Link, keeps bool) {
	d.net.Kill(d.end)
	d.end = d.net.Dial(d.table.end, link, link)
	standing, chain, chains := d.standing, d.chain, d.chains
	d.token = d.hello.Token
	d.reset()
	if d.declared.Match = 0; keeps {
		d.standing, d.chain, d.chains, d.worldly = standing, chain, chains, true
		d.declared.Match, d.declared.Holds = d.hello.Match, standing.Tick
	}
}

func (d *dummy) now() time.Duration { return d.net.Now() }

func (d *dummy) step() {
	var ev [32]transport.Event
	for n := d.end.Recv(ev[:]); n > 0; n = d.end.Recv(ev[:]) {
		for _, e := range ev[:n] {
			switch e.Kind {
			case transport.Connected:
				d.peer = e.Peer
			case transport.Disconnected:
				d.gone, d.code, d.reason = true, e.Code, e.Reason
				return
			case transport.Data:
				d.receive(e.Data)
			}
		}
	}
	if d.peer != 0 && !d.silent {
		d.serve()
		d.send()
	}
}

func (d *dummy) receive(b []byte) {
	if d.deaf || d.declines(len(b)) || d.conn.Receive(d.now(), b) != nil {
		return
	}
	for m, ok := d.conn.NextMessage(); ok; m, ok = d.conn.NextMessage() {
		if m.Type == settled.MessageSettled {
			d.readSettled(m.Body)
		}
	}
	for m, ok := d.conn.NextReliable(); ok; m, ok = d.conn.NextReliable() {
		d.readReliable(m)
	}
	for _, ok := d.conn.NextFate(); ok; _, ok = d.conn.NextFate() {
	}
}

// declines reports whether the dummy ignores a packet of n bytes, to take its world slowly. It takes short ones.
func (d *dummy) declines(n int) bool {
	if d.takes == 0 || n < 256 {
		return false
	}
	d.taken = min(4096, d.taken+(d.now()-d.takenAt).Seconds()*float64(d.takes))
	if d.takenAt = d.now(); d.taken < float64(n) {
		return true
	}
	d.taken -= float64(n)
	return false
}

func (d *dummy) readReliable(m netcode.Reliable) {
	var err error
	switch m.Kind {
	case settled.KindWelcome:
		d.hello, err = settled.ReadWelcome(m.Payload)
		if d.welcomes++; d.standing == nil {
			d.standing = settled.NewStanding(&d.declared.Rules, int(d.hello.Places))
			d.worldly = !d.hello.World
		} else if d.hello.Next != d.standing.Tick+1 {
			d.worldly = false
		}
	case settled.KindDiffer:
		var f settled.Differ
		f, err = settled.ReadDiffer(m.Payload)
		d.differs = append(d.differs, f)
	case settled.KindAsk:
		var a settled.Ask
		if a, err = settled.ReadAsk(m.Payload); a.Tick != d.asked.Tick {
			d.told = 0
		}
		d.asked = a
	case settled.KindPiece:
		var p settled.Piece
		p, err = settled.ReadPiece(m.Payload)
		if d.worldly = false; p.Offset == 0 {
			d.pieces = nil
		}
		require.Equal(d, len(d.pieces), int(p.Offset))
		d.pieces = append(d.pieces, p.Data...)
	case settled.KindWorld:
		var v settled.WorldVerdict
		var whole []byte
		v, whole, err = settled.ReadVerdict(m.Payload)
		require.Equal(d, v.Sum, settled.SumOf(d.pieces))
		require.Equal(d, int(v.Total), len(d.pieces))
		require.NoError(d, d.standing.ReadWhole(v.Tick, whole))
		d.chain, d.worldly = settled.LE.Uint64(d.pieces), true
		d.chains = map[netcode.Tick]uint64{v.Tick: d.chain}
		d.worlds++
	}
	require.NoError(d, err)
}

func (d *dummy) readSettled(body []byte) {
	h, ticks, err := settled.ReadSettled(body)
	require.NoError(d, err)
	d.clock, d.clockAt = float64(h.Clock)+float64(h.Fraction)/256, d.now()
	if d.sender.Acked(h.Taken, true); h.HasEarly {
		d.early = append(d.early, h.Early)
	}
	if !d.worldly {
		return
	}
	for t := h.First; t != h.First+netcode.Tick(h.Count); t++ {
		if t != d.standing.Tick+1 {
			var ok bool
			ticks, ok = d.standing.Skip(ticks)
			require.True(d, ok)
			continue
		}
		var got settled.Tick
		var ok bool
		ticks, ok = d.standing.Read(ticks, &got)
		require.True(d, ok)
		d.settle(&got)
	}
	require.Empty(d, ticks)
}

// settle is the dummy's game.
func (d *dummy) settle(t *settled.Tick) {
	h := fnv.New64a()
	_ = binary.Write(h, settled.LE, d.chain)
	_ = binary.Write(h, settled.LE, t.Tick)
	for _, c := range t.Changes {
		d.changes = append(d.changes, tickChange{t.Tick, c})
		_ = binary.Write(h, settled.LE, c.Person)
	}
	for _, in := range t.Inputs {
		_, _ = h.Write(append(in.Command, byte(in.Player)))
		if in.StandIn && in.Player == d.hello.Player {
			d.ownGone = append(d.ownGone, t.Tick)
		}
	}
	d.chain = h.Sum64()
	d.chains[t.Tick] = d.chain
	if settled.IsSumTick(t.Tick, d.declared.Rate) && d.role == netcode.RolePlay && !d.silent {
		m := settled.Sum{Tick: t.Tick, Sum: settled.SumOf(d.world(d.chain)) + d.wrong}
		require.NoError(d, d.conn.SendReliable(t.Tick, settled.KindSum, m.Append(nil)))
	}
}

// world returns the bytes of the world that a chain stands for.
func (d *dummy) world(chain uint64) []byte {
	b := make([]byte, d.size)
	settled.LE.PutUint64(b, chain)
	r := rand.New(rand.NewPCG(chain, 1))
	for i := 8; i+8 <= len(b); i += 8 {
		settled.LE.PutUint64(b[i:], r.Uint64())
	}
	return b
}

// serve sends pieces of the world that the relay asked for.
func (d *dummy) serve() {
	chain, ok := d.chains[d.asked.Tick]
	if !ok || d.asked.Tick == 0 || d.told >= d.asked.Until {
		return
	}
	b := d.world(chain)
	if d.trickle {
		if d.now()-d.dripped > 4*time.Second {
			d.dripped = d.now()
			p := settled.Piece{Tick: d.asked.Tick, Offset: d.told, Total: uint32(len(b)), Data: b[d.told:min(len(b), int(d.told)+settled.MaxPiece)]}
			require.NoError(d, d.conn.SendOn(settled.ChannelWorld, 0, settled.KindPiece, p.Append(nil)))
			d.told += uint32(len(p.Data))
		}
		return
	}
	if d.lies {
		b[len(b)/2]++
	}
	size := settled.MaxPiece
	if d.crumbs {
		size = 1
	}
	for d.told < d.asked.Until && int(d.told) < len(b) && d.conn.PendingOn(settled.ChannelWorld) < settled.MaxPieces {
		p := settled.Piece{Tick: d.asked.Tick, Offset: d.told, Total: uint32(len(b)), Data: b[d.told:min(len(b), int(d.told)+size)]}
		require.NoError(d, d.conn.SendOn(settled.ChannelWorld, 0, settled.KindPiece, p.Append(nil)))
		d.told += uint32(len(p.Data))
	}
}

// command is the dummy's input for a tick.
func (d *dummy) command(t netcode.Tick) []byte {
	return []byte{byte(t / 7), byte(d.hello.Player) << 4 & 0x30, byte(t / 16)}
}

func (d *dummy) send() {
	p := d.conn.Begin(d.now())
	if d.welcomes == 0 {
		h := netcode.Hello{Version: netcode.Version, Protocol: 99, Resume: d.token, Role: d.role, Data: d.declared.Append(nil)}
		p.Message(netcode.MessageHello, h.Append(nil))
	}
	if d.welcomes > 0 && !d.mute {
		at := settled.Presence{None: !d.worldly}
		if d.worldly {
			at.Settled = d.standing.Tick
		}
		p.Message(settled.MessagePresence, at.Append(nil))
	}
	if d.garbage != nil {
		p.Message(d.garbage())
	}
	if d.hello.Player != 0 && d.clock > 0 && !d.still {
		rtt := d.conn.RTT()
		to := netcode.Tick(max(0, d.clock+(d.now()-d.clockAt+rtt).Seconds()*float64(d.declared.Rate)+d.lead))
		if d.made == 0 {
			d.made = to
		}
		for ; d.made < to; d.made++ {
			d.sender.Push(netcode.Command{Tick: d.made, Render: d.made, Data: d.command(d.made)})
		}
		if body := d.sender.Append(nil, p.Room()); len(body) > 0 {
			p.Message(netcode.MessageCommands, body)
		}
	}
	_, b := p.Finish()
	_ = d.end.Send(d.peer, b)
	for n := 0; n < 3 && len(b) > netcode.MinMTU && d.conn.PendingOn(settled.ChannelWorld) > 0; n++ {
		_, b = d.conn.Begin(d.now()).Finish()
		_ = d.end.Send(d.peer, b)
	}
}

// joined returns the tick in which a player joined last, as the dummy saw it.
func (d *dummy) joined(p ecs.Owner, joined bool) (at []netcode.Tick) {
	for _, c := range d.changes {
		if c.change.Player == p && c.change.Joined == joined {
			at = append(at, c.tick)
		}
	}
	return at
}
