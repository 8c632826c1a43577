package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// prober is a rogue that a test brings into each state that a server's peers can have.
type prober struct {
	*rogue
	t *testing.T
	d *rogueMatch
}

func (p *prober) steps(n int) {
	p.t.Helper()
	for range n {
		require.NoError(p.t, p.d.stepHalfTick())
		p.receive(p.d.now)
	}
}

func (p *prober) connected() {
	p.dialAgain()
	p.number = 0
	p.steps(4)
	require.Equal(p.t, rogueSilent, p.state)
}

// greet sends an honest packet with one hello.
func (p *prober) greet(h netcode.Hello) {
	p.startPacket(p.head())
	p.say(netcode.MessageHello, h.Append(nil))
	p.sendPacket()
	p.steps(4)
}

func (p *prober) playing(ticks int) {
	p.connected()
	p.token = [16]byte{}
	p.greet(netcode.Hello{Version: netcode.Version, Protocol: p.d.hash})
	require.Equal(p.t, roguePlays, p.state)
	p.mute = true
	for range ticks {
		p.behave()
		p.steps(2)
	}
}

// proberStates lead to every state that a server's peers can have.
var proberStates = []struct {
	name string
	is   rogueState // state of the rogue afterwards
	lead func(p *prober)
}{
	{"greeting", rogueSilent, (*prober).connected},
	{"playing", roguePlays, func(p *prober) { p.playing(0) }},
	{"playing for long", roguePlays, func(p *prober) { p.playing(40) }},
	{"refused", rogueGreets, func(p *prober) { // the test's packet arrives with the refused hello
		p.connected()
		p.startPacket(p.head())
		p.say(netcode.MessageHello, netcode.Hello{Version: 77, Protocol: p.d.hash}.Append(nil))
		p.sendPacket()
	}},
	{"another build", rogueOther, func(p *prober) {
		p.connected()
		p.greet(netcode.Hello{Version: netcode.Version, Protocol: p.d.hash + 1})
	}},
	{"back beside its old connection", rogueSilent, func(p *prober) {
		p.playing(2)
		token := p.token
		p.connected()
		p.token = token
	}},
	{"back while away", rogueSilent, func(p *prober) {
		p.playing(40)
		token := p.token
		p.vanish()
		p.steps(2 * int((rogueTimeout+rogueTimeout/2)/p.d.interval))
		p.connected()
		p.token = token
	}},
}

// heads calls each with changes that set one field of a header to each of its values.
func (p *prober) heads(each func(change func(h *head))) {
	for v := range 256 {
		each(func(h *head) { h.flags = byte(v) })
		each(func(h *head) { h.has, h.delay = true, byte(v) })
		for i := range 4 {
			each(func(h *head) { h.has, h.bits = true, uint32(v)<<(8*i) })
		}
	}
	for _, e := range edges {
		for _, sign := range []uint16{1, 1<<16 - 1} {
			d := sign * uint16(e)
			each(func(h *head) { h.has, h.ack = true, h.ack+d })
			each(func(h *head) { h.has, h.ack = true, d })
			each(func(h *head) { h.number += d })
		}
	}
}

// TestEveryHeaderAndMessageInEveryServerState: in every state of the peer, the server accepts or
// refuses packets with any value of one header field, and messages of any type and length. It
// keeps no memory of them.
func TestEveryHeaderAndMessageInEveryServerState(t *testing.T) {
	costtest.Long(t)
	for seed, s := range proberStates {
		t.Run(s.name, func(t *testing.T) {
			cfg := &Rogues{Together: 400, Seed: uint64(seed), Shared: true}
			w, dice := newSimNet(1), newDice(uint64(seed), 9)
			d, err := newRogueMatch(cfg, w, dice)
			require.NoError(t, err)
			d.door.plain, w.plain = true, true
			d.player.Rest(true)
			p := &prober{rogue: d.rogues[0], t: t, d: d}
			p.dice = dice
			p.steps(8)
			d.maps, d.entities = MapEntries(d.server), d.server.World().Len()
			packets, leads := 0, 0
			try := func(build func()) {
				if s.name == "back while away" && packets%16 != 0 { // this state takes long to reach
					packets++
					return
				}
				if p.state != s.is || p.peer == 0 || p.number > 200 {
					leads++
					p.hangUp(transport.Closed)
					s.lead(p)
					require.Equal(t, s.is, p.state, "after %d packets", packets)
				}
				build()
				p.sendPacket()
				packets++
				p.steps(1)
			}
			p.heads(func(change func(h *head)) {
				try(func() {
					h := p.head()
					change(&h)
					p.startPacket(h)
				})
			})
			p.heads(func(change func(h *head)) { // the same headers with messages
				if packets%5 != 0 {
					packets++
					return
				}
				try(func() {
					h := p.head()
					change(&h)
					p.startPacket(h)
					p.hello(p.token)
					p.hello([16]byte{})
				})
			})
			for kind := range 256 {
				for _, size := range []int{0, 1, 2, 5, 26, 27, 64, 255} {
					try(func() {
						p.startPacket(p.head())
						p.say(netcode.MessageType(kind), make([]byte, size))
						if size%2 == 1 {
							p.buf = p.buf[:len(p.buf)-1] // the length is greater than the message
						}
					})
				}
			}
			p.vanish()
			require.NoError(t, d.checkLeaks(0))
			require.Greater(t, packets, 3000)
			t.Logf("%d packets, led there %d times", packets, leads)
		})
	}
}
