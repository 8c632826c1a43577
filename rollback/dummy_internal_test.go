package rollback

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
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
func newTable(t testing.TB, cfg RelayConfig, step time.Duration) *table {
	net := sim.NewNetwork(3)
	tb := &table{TB: t, net: net, end: net.Listen(), rate: time.Second / time.Duration(testRules.rate)}
	cfg.Transport, cfg.Rand = tb.end, rand.NewChaCha8([32]byte{1})
	var err error
	tb.relay, err = NewRelay(cfg)
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
	d := &dummy{table: t, end: t.net.Dial(t.end, link, link), declared: declaration{rules: testRules}, size: 64, lead: 4}
	d.reset()
	t.peers = append(t.peers, d)
	var tick func()
	tick = func() {
		if !d.gone {
			d.step()
			t.net.At(t.net.Now()+time.Second/time.Duration(d.declared.rate), tick)
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
			newest = min(newest, d.standing.tick)
		}
	}
	want := uint64(0)
	for _, d := range t.peers {
		if chain, ok := d.chains[newest]; ok && !d.gone {
			if n++; n == 1 {
				want = chain
			}
			require.Equal(t, want, chain, "player %d after tick %d", d.hello.player, newest)
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
	declared declaration
	token    [16]byte

	hello    welcome // what the relay answered
	welcomes int
	standing *standing
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
	asked   ask
	told    uint32
	worlds  int
	changes []tickChange
	ownGone []netcode.Tick // ticks in which an input stood in for its own
	differs []differ

	silent  bool // sends nothing
	still   bool // sends no commands
	lies    bool // sends a world that is not its own
	wrong   uint64
	mute    bool // sends no presence
	gone    bool
	code    transport.Code
	reason  string
	garbage func() (netcode.MessageType, []byte)
}

type tickChange struct {
	tick   netcode.Tick
	change rosterChange
}

// player returns the peer that plays a player.
func (t *table) player(p foretick.PlayerID) *dummy {
	for _, d := range t.peers {
		if d.hello.player == p && !d.gone {
			return d
		}
	}
	t.Fatalf("nobody plays player %d", p)
	return nil
}

func (d *dummy) reset() {
	d.conn = netcode.NewConn(netcode.Config{Rate: 400_000, MTU: sim.MTU, Channels: channels()})
	d.standing, d.chain, d.chains, d.worldly = nil, 0, map[netcode.Tick]uint64{}, false
	d.sender = netcode.NewCommandSender(int(d.declared.size), netcode.CommandConfig{Redundancy: 3, Fields: widths(d.declared.fields)})
	d.welcomes, d.asked, d.told, d.pieces, d.clock, d.made, d.peer = 0, ask{}, 0, nil, 0, 0, 0
}

// redial connects anew, with the world that the dummy has if keeps is true.
func (d *dummy) redial(link sim.Link, keeps bool) {
	d.net.Kill(d.end)
	d.end = d.net.Dial(d.table.end, link, link)
	standing, chain, chains := d.standing, d.chain, d.chains
	d.token = d.hello.token
	d.reset()
	if d.declared.match = 0; keeps {
		d.standing, d.chain, d.chains, d.worldly = standing, chain, chains, true
		d.declared.match, d.declared.holds = d.hello.match, standing.tick
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
	if d.conn.Receive(d.now(), b) != nil {
		return
	}
	for m, ok := d.conn.NextMessage(); ok; m, ok = d.conn.NextMessage() {
		if m.Type == messageSettled {
			d.readSettled(m.Body)
		}
	}
	for m, ok := d.conn.NextReliable(); ok; m, ok = d.conn.NextReliable() {
		d.readReliable(m)
	}
	for _, ok := d.conn.NextFate(); ok; _, ok = d.conn.NextFate() {
	}
}

func (d *dummy) readReliable(m netcode.Reliable) {
	var err error
	switch m.Kind {
	case kindWelcome:
		d.hello, err = readWelcome(m.Payload)
		if d.welcomes++; d.standing == nil {
			d.standing = newStanding(&d.declared.rules, int(d.hello.places))
			d.worldly = !d.hello.world
		} else if d.hello.next != d.standing.tick+1 {
			d.worldly = false
		}
	case kindDiffer:
		var f differ
		f, err = readDiffer(m.Payload)
		d.differs = append(d.differs, f)
	case kindAsk:
		var a ask
		if a, err = readAsk(m.Payload); a.tick != d.asked.tick {
			d.told = 0
		}
		d.asked = a
	case kindPiece:
		var p piece
		p, err = readPiece(m.Payload)
		if d.worldly = false; p.offset == 0 {
			d.pieces = nil
		}
		require.Equal(d, len(d.pieces), int(p.offset))
		d.pieces = append(d.pieces, p.data...)
	case kindWorld:
		var v worldVerdict
		var whole []byte
		v, whole, err = readVerdict(m.Payload)
		require.Equal(d, v.sum, sumOf(d.pieces))
		require.Equal(d, int(v.total), len(d.pieces))
		require.NoError(d, d.standing.readWhole(v.tick, whole))
		d.chain, d.worldly = le.Uint64(d.pieces), true
		d.chains = map[netcode.Tick]uint64{v.tick: d.chain}
		d.worlds++
	}
	require.NoError(d, err)
}

func (d *dummy) readSettled(body []byte) {
	h, ticks, err := readSettled(body)
	require.NoError(d, err)
	d.clock, d.clockAt = float64(h.clock)+float64(h.fraction)/256, d.now()
	if d.sender.Acked(h.taken, true); h.hasEarly {
		d.early = append(d.early, h.early)
	}
	if !d.worldly {
		return
	}
	for t := h.first; t != h.first+netcode.Tick(h.count); t++ {
		if t != d.standing.tick+1 {
			var ok bool
			ticks, ok = d.standing.skip(ticks)
			require.True(d, ok)
			continue
		}
		var got settledTick
		var ok bool
		ticks, ok = d.standing.read(ticks, &got)
		require.True(d, ok)
		d.settle(&got)
	}
	require.Empty(d, ticks)
}

// settle is the dummy's game.
func (d *dummy) settle(t *settledTick) {
	h := fnv.New64a()
	_ = binary.Write(h, le, d.chain)
	_ = binary.Write(h, le, t.tick)
	for _, c := range t.changes {
		d.changes = append(d.changes, tickChange{t.tick, c})
		_ = binary.Write(h, le, c.person)
	}
	for _, in := range t.inputs {
		_, _ = h.Write(append(in.command, byte(in.player)))
		if in.standIn && in.player == d.hello.player {
			d.ownGone = append(d.ownGone, t.tick)
		}
	}
	d.chain = h.Sum64()
	d.chains[t.tick] = d.chain
	if isSumTick(t.tick, d.declared.rate) && d.role == netcode.RolePlay && !d.silent {
		m := sum{tick: t.tick, sum: sumOf(d.world(d.chain)) + d.wrong}
		require.NoError(d, d.conn.SendReliable(t.tick, kindSum, m.append(nil)))
	}
}

// world returns the bytes of the world that a chain stands for.
func (d *dummy) world(chain uint64) []byte {
	b := make([]byte, d.size)
	le.PutUint64(b, chain)
	r := rand.New(rand.NewPCG(chain, 1))
	for i := 8; i+8 <= len(b); i += 8 {
		le.PutUint64(b[i:], r.Uint64())
	}
	return b
}

// serve sends pieces of the world that the relay asked for.
func (d *dummy) serve() {
	chain, ok := d.chains[d.asked.tick]
	if !ok || d.asked.tick == 0 || d.told >= d.asked.until {
		return
	}
	b := d.world(chain)
	if d.lies {
		b[len(b)/2]++
	}
	for d.told < d.asked.until && int(d.told) < len(b) && d.conn.PendingOn(channelWorld) < maxPieces {
		p := piece{tick: d.asked.tick, offset: d.told, total: uint32(len(b)), data: b[d.told:min(len(b), int(d.told)+maxPiece)]}
		require.NoError(d, d.conn.SendOn(channelWorld, 0, kindPiece, p.append(nil)))
		d.told += uint32(len(p.data))
	}
}

// command is the dummy's input for a tick.
func (d *dummy) command(t netcode.Tick) []byte {
	return []byte{byte(t / 7), byte(d.hello.player) << 4 & 0x30, byte(t / 16)}
}

func (d *dummy) send() {
	p := d.conn.Begin(d.now())
	if d.welcomes == 0 {
		h := netcode.Hello{Version: netcode.Version, Protocol: 99, Resume: d.token, Role: d.role, Data: d.declared.append(nil)}
		p.Message(netcode.MessageHello, h.Append(nil))
	}
	if d.welcomes > 0 && !d.mute {
		at := presence{none: !d.worldly}
		if d.worldly {
			at.settled = d.standing.tick
		}
		p.Message(messagePresence, at.append(nil))
	}
	if d.garbage != nil {
		p.Message(d.garbage())
	}
	if d.hello.player != 0 && d.clock > 0 && !d.still {
		rtt := d.conn.RTT()
		to := netcode.Tick(max(0, d.clock+(d.now()-d.clockAt+rtt).Seconds()*float64(d.declared.rate)+d.lead))
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
	for n := 0; n < 3 && len(b) > netcode.MinMTU && d.conn.PendingOn(channelWorld) > 0; n++ {
		_, b = d.conn.Begin(d.now()).Finish()
		_ = d.end.Send(d.peer, b)
	}
}

// joined returns the tick in which a player joined last, as the dummy saw it.
func (d *dummy) joined(p foretick.PlayerID, joined bool) (at []netcode.Tick) {
	for _, c := range d.changes {
		if c.change.player == p && c.change.joined == joined {
			at = append(at, c.tick)
		}
	}
	return at
}
