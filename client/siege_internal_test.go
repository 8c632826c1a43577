package client

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
	"github.com/stretchr/testify/require"
)

// plot carries out the actions of a hostile server, in the order of the bytes of a script.
type plot struct {
	*siege
	script []byte
	done   [plotActions]int
	ids    map[snapshot.NetID]uint16 // the owner of each entity; see kindOf for its prefab
	steps  int
	costly string // the newest step that took more than is allowed
}

// kindOf returns the number of an entity's prefab on the hostile server.
func kindOf(id snapshot.NetID) int { return int(id-1) % 4 }

const plotActions = 20

func (p *plot) byte() byte {
	if len(p.script) == 0 {
		return 0
	}
	b := p.script[0]
	p.script = p.script[1:]
	return b
}

func (p *plot) take(n int) []byte {
	n = min(n, len(p.script))
	b := p.script[:n]
	p.script = p.script[n:]
	return b
}

// number returns a number close to the one an honest server would send, or one at the ends of the
// range.
func (p *plot) number(honest uint32) uint32 {
	switch b := p.byte(); {
	case b < 160:
		return honest
	case b < 200:
		return honest + uint32(int32(int8(p.byte())))
	case b < 230:
		return honest + 1<<31 - 2 + uint32(p.byte()%5)
	case b < 245:
		return honest + 1<<(b%32)
	}
	return binary.LittleEndian.Uint32(append(append([]byte(nil), p.take(4)...), 0, 0, 0, 0))
}

// owner returns a player's number, mostly one that exists.
func (p *plot) owner() uint16 {
	if b := p.byte(); b < 240 {
		return []uint16{0, siegePlayer, siegePlayer, siegePlayer + 1, siegePlayer + 2, snapshot.Everyone}[b%6]
	}
	return uint16(p.number(standard.MaxPlayers))
}

// run plays the script to its end.
func (p *plot) run() {
	for len(p.script) > 0 && p.steps < 400 {
		a := int(p.byte()) % plotActions
		p.done[a]++
		p.act(a)
	}
	if p.conn != nil {
		p.step(siegeTick)
	}
}

func (p *plot) act(a int) {
	switch a {
	case 0: // a tick
		p.pass(siegeTick)
	case 1: // some time
		p.pass(time.Duration(p.byte()) * time.Duration(p.byte()) * 500 * time.Microsecond)
	case 2: // a connection
		p.dialled()
	case 3:
		p.wire.in = append(p.wire.in, transport.Event{Kind: transport.Disconnected, Peer: p.peer, Code: transport.Code(p.byte() % 16)})
	case 4:
		p.welcomes()
	case 5:
		p.tell(netcode.MessageLevel, netcode.LevelInfo{Epoch: uint8(p.number(uint32(p.client.link.level.epoch) + 1)), Tick: p.number(p.tick), Data: p.take(int(p.byte()) % 16)}.Append(nil))
	case 6, 7, 8:
		p.shows()
	case 9: // a snapshot with any content
		p.tell(netcode.MessageSnapshot, append(p.header(p.client.link.level.epoch), p.take(int(p.byte()))...))
	case 10:
		code, protocol := p.byte()%5, uint64(p.number(7))
		if p.byte()%2 == 0 {
			protocol = p.client.cfg.Protocol.Hash() + uint64(p.byte()%2)
		}
		p.tell(netcode.MessageReject, netcode.Reject{Code: code, Protocol: protocol, Text: "no"}.Append(nil))
	case 11:
		p.sends()
	case 12: // a note
		p.tell(game.MessageNote, p.take(int(p.byte())%40))
	case 13:
		p.schemas()
	case 14: // any message
		p.tell(netcode.MessageType(p.byte()), p.take(int(p.byte())))
	case 15: // a packet with any header and a correct checksum
		p.raw()
	case 16: // other entities
		p.ids[snapshot.NetID(p.byte()%24+1)] = p.owner()
		delete(p.ids, snapshot.NetID(p.byte()%24+1))
	case 17: // another world
		p.tick = p.number(p.tick)
		p.world()
		p.sender = p.src.NewSender(p.owner(), snapshot.SenderConfig{})
	case 18: // the game's own actions
		_ = p.game.buy.Send(p.client, besiegedKeys{})
		_ = p.client.Configure(int(p.byte()), int(p.byte())*100)
	case 19:
		p.send()
	}
}

func (p *plot) tell(t netcode.MessageType, body []byte) {
	if p.conn != nil && t >= 16 {
		p.say(t, body)
	}
}

// send sends the packet that was written. It sends the packet twice if the script says so.
func (p *plot) send() {
	if p.conn == nil {
		return
	}
	p.feed(p.pack())
}

func (p *plot) pass(d time.Duration) {
	p.send()
	p.steps++
	p.step(d)
}

// How much a step may use beside the limit for its bytes. A client that has just been let in makes its
// world and its buffers.
const (
	stepMemory  = costtest.Bytes
	beginMemory = 192 << 10
)

// costTries is how often a script may seem to cost too much.
const costTries = 5

// step runs the client's Step and measures it. The bytes that arrived for the step limit how much it
// may use.
func (p *plot) step(d time.Duration) (v View) {
	size, begins := 0, p.client.view.State == Connecting || p.client.view.State == Resuming
	for _, e := range p.wire.in {
		size += len(e.Data)
		begins = begins || e.Kind == transport.Connected
	}
	memory, took := costtest.Cost(func() { v = p.clientStep(d) })
	p.answers()
	most := uint64(costtest.Bytes + stepMemory + 2*size)
	if begins {
		most += beginMemory
	}
	if memory > most || took > costtest.Time*time.Duration(1+size/1200) {
		p.costly = fmt.Sprintf("step %d of %v with %d bytes took %v and %d bytes of memory", p.steps, d, size, took, memory)
	}
	return v
}

func (p *plot) welcomes() {
	w := p.welcome()
	w.Owner, w.Tick, w.Epoch = uint16(p.number(siegePlayer)), p.number(p.tick), uint8(p.number(0))
	w.TickRate, w.SnapshotInterval = uint8(p.number(uint32(w.TickRate))), uint8(p.number(1))
	w.Taken, w.CommandSize, w.Resume[0] = p.number(0), uint16(p.number(uint32(w.CommandSize))), p.byte()%3
	w.Late, w.LateShare = uint8(w.Taken), uint8(w.Taken>>8)
	p.tell(netcode.MessageWelcome, w.Append(nil))
}

// shows sends a snapshot of the present world.
func (p *plot) shows() {
	if p.conn == nil {
		return
	}
	how := p.byte()
	if how&3 == 3 {
		p.tick += p.number(0)
	}
	if p.tick++; p.tick == 0 {
		p.tick++
	}
	if last := p.src.Tick(); last != 0 && int32(p.tick-last) <= 0 {
		p.world()
	}
	p.src.Begin(p.tick)
	p.value.X, p.value.Y = float32(how), float32(p.tick%500)
	p.bag.Things = make([]besiegedThing, how%13)
	p.bag.Name = "names"[:how%5]
	p.origin.ID = uint32(how)
	for id := range snapshot.NetID(32) {
		if owner, ok := p.ids[id]; ok {
			p.put(id, kindOf(id), owner)
			if how&0x10 != 0 {
				p.src.Teleport(id)
			}
		}
	}
	p.src.End()
	var sent snapshot.Sent
	b := p.sender.Append(nil, 200+4*int(how), &sent)
	if how&4 == 0 {
		p.sender.Delivered(&sent)
	}
	if how&8 != 0 && len(b) > 0 { // it is damaged
		b[int(p.byte())%len(b)] ^= p.byte()
	}
	h := netcode.SnapshotHeader{Bare: true, Epoch: p.client.link.level.epoch, HasEarly: how&32 != 0, CommandAck: p.number(0)}
	if h.HasEarly {
		h.Early = int16(p.number(512))
	}
	if how&64 != 0 {
		h.Epoch = uint8(p.number(uint32(h.Epoch)))
	}
	p.tell(netcode.MessageSnapshot, append(h.Append(nil), b...))
}

// sends queues a reliable message.
func (p *plot) sends() {
	if p.conn == nil {
		return
	}
	channel, kind, payload := p.byte()%4, p.byte(), p.take(int(p.byte())%60)
	switch kind % 4 {
	case 0:
		kind = 0
	case 1:
		kind = game.KindDescribe
	case 2:
		kind = game.KindRefused
	}
	_ = p.conn.SendOn(channel, p.number(p.tick), kind, payload)
}

// schemas sends a schema as if the client had asked for it.
func (p *plot) schemas() {
	if p.conn == nil {
		return
	}
	data := p.p.Schema(nil)
	for range p.byte() % 4 {
		data[int(binary.LittleEndian.Uint16([]byte{p.byte(), p.byte()}))%len(data)] = p.byte()
	}
	r := netcode.SchemaReply{Known: p.byte()%8 != 0, Hash: netcode.SchemaHash(data), Name: netcode.ProtocolSchema, Data: data}
	if !r.Known {
		r.Data = nil
	}
	if s, err := schema.ReadProtocol(data); err == nil && p.byte()%4 != 0 {
		p.tell(netcode.MessageReject, netcode.Reject{Code: game.RejectBuildDifference, Protocol: s.Hash()}.Append(nil))
		p.pass(siegeTick)
	}
	_ = p.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaReply, r.Append(nil))
}

// raw makes a packet of any bytes after a correct checksum.
func (p *plot) raw() {
	b := sealed(append([]byte{p.byte() & 0x1f, p.byte(), p.byte()}, p.take(int(p.byte()))...))
	p.feed(b)
}

// sealed puts the checksum before a packet's header and messages.
func sealed(b []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Update(0, table, make([]byte, 8)), table, b)
	return append(binary.LittleEndian.AppendUint32(nil, sum), b...)
}

func newPlot(t testing.TB, script []byte, predictRemote bool) *plot {
	p := &plot{siege: newSiege(t, predictRemote), script: script, ids: map[snapshot.NetID]uint16{}}
	for i := range snapshot.NetID(4) {
		p.ids[i+1] = []uint16{siegePlayer, snapshot.Everyone, siegePlayer + 1, 0}[i]
	}
	return p
}

// playPlot plays a script with both games.
func playPlot(t testing.TB, script []byte) (done [plotActions]int, played int) {
	for _, predictRemote := range []bool{false, true} {
		p := newPlot(t, script, predictRemote)
		p.run()
		for range costTries - 1 { // other programs may slow the machine down: it costs too much only if it does so every time
			if p.costly == "" {
				break
			}
			p = newPlot(t, script, predictRemote)
			p.run()
		}
		require.Empty(t, p.costly)
		require.Zero(t, p.client.Stats().CorePanics)
		for a := range done {
			done[a] += p.done[a]
		}
		if p.client.stats.PredictedTicks > 0 {
			played++
		}
	}
	return done, played
}

// begun returns scripts that reach a state, from which other scripts continue.
func begun() map[string][]byte {
	greet := []byte{2, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0}
	out := map[string][]byte{"nothing": nil, "up": {2, 0}, "admitted": greet}
	play := greet
	for range 12 {
		play = append(append([]byte(nil), play...), 6, 32, 0, 0, 0)
	}
	out["playing"] = play
	out["resuming"] = append(append([]byte(nil), play...), 3, byte(transport.Timeout), 0)
	out["a level"] = append(append([]byte(nil), play...), 5, 0, 0, 0, 6, 32, 0, 0, 0)
	return out
}

// TestBegun: the scripts reach the states that they are named after.
func TestBegun(t *testing.T) {
	states := map[string]State{
		"nothing": Connecting, "up": Connecting, "admitted": Syncing, "playing": Playing, "resuming": Resuming, "a level": Playing,
	}
	for name, script := range begun() {
		p := newPlot(t, script, false)
		p.run()
		require.Equal(t, states[name], p.client.view.State, name)
		require.Equal(t, name == "a level", p.client.link.level.entered, name)
	}
}

// FuzzSiege carries out what a hostile server may do to a whole client, from its start on.
func FuzzSiege(f *testing.F) {
	for _, s := range begun() {
		for a := range byte(plotActions) {
			f.Add(append(append([]byte(nil), s...), a, 250, 1, 2, 3, a, 255, 255, 0, 0, 6, 35, 255, 0, 0, 0, 0, 0))
		}
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) < 2000 {
			playPlot(t, script)
		}
	})
}

// TestSiege plays scripts made from seeds. Most of them reach Playing.
func TestSiege(t *testing.T) {
	costtest.Ratio(t)
	states := begun()
	names := []string{"nothing", "up", "admitted", "playing", "resuming", "a level", "playing", "playing"}
	n, played := costtest.Count(150, 400), 0
	var done [plotActions]int
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		script := append([]byte(nil), states[names[r.IntN(len(names))]]...)
		for range 50 + r.IntN(150) {
			script = append(script, byte(r.IntN(plotActions)), byte(r.Uint32()), byte(r.Uint32()))
			if r.IntN(3) == 0 {
				script = append(script, 0, 0, 0)
			}
		}
		d, k := playPlot(t, script)
		played += k
		for a := range done {
			done[a] += d[a]
		}
	}
	t.Logf("%d of %d reached play; actions %v", played, 2*n, done)
	require.Greater(t, played, n)
	for a := range done {
		require.NotZero(t, done[a], a)
	}
}
