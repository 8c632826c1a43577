package rollback

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// bout is a match of fighters over a simulated network, with a relay between the players.
type bout struct {
	t       testing.TB
	seed    uint64
	net     *sim.Network
	relay   *relay.Relay
	out     *sim.Endpoint // out is the relay's endpoint.
	corners []*corner
}

// corner is a player's side of a bout.
type corner struct {
	game    *fighters
	peer    *Peer
	end     *sim.Endpoint
	pressed int // pressed counts the Steps in which the player pressed something.
	hidden  bool
	desyncs []Desync
	told    []time.Duration // told has the times of desyncs.
	settled []time.Duration // settled has for each tick when it settled here.
	before  func(View)      // before, when set, is called before each Step.
	spoil   bool            // spoil makes each packet end in a message that cannot be read.
}

// spoiled is the endpoint of a corner.
type spoiled struct {
	*sim.Endpoint
	of *corner
}

func (e spoiled) Recv(events []transport.Event) int {
	n := e.Endpoint.Recv(events)
	for i := range events[:n] {
		if ev := &events[i]; e.of.spoil && ev.Kind == transport.Data && e.of.peer.link.let {
			ev.Data = append(bytes.Clone(ev.Data), byte(settled.MessageSettled), 1, 0)
			table := crc32.MakeTable(crc32.Castagnoli)
			sum := crc32.Update(crc32.Checksum(make([]byte, 8), table), table, ev.Data[4:]) // see docs/STANDARD-netcode.md
			binary.LittleEndian.PutUint32(ev.Data, sum)
		}
	}
	return n
}

// midnight is the time at which simulated networks begin.
var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newBout(t testing.TB, seed uint64, cfg relay.Config) *bout {
	b := &bout{t: t, seed: seed, net: sim.NewNetwork(seed)}
	b.out = b.net.Listen()
	cfg.Transport = b.out
	cfg.Rand = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	var err error
	b.relay, err = relay.New(cfg)
	require.NoError(t, err)
	var step func()
	step = func() {
		b.relay.Step(midnight.Add(b.net.Now()))
		b.net.At(b.net.Now()+3*time.Millisecond, step)
	}
	b.net.At(0, step)
	return b
}

// join lets a player join at a time. cfg has no Transport and Sample, and a Protocol only
// for a spectator. press is nil for a player that
// presses keys at random.
func (b *bout) join(at time.Duration, link sim.Link, cfg Config, press func(View) control) *corner {
	c := &corner{game: new(fighters), end: b.net.Dial(b.out, link, link)}
	hands := random{Rand: rand.New(rand.NewPCG(uint64(len(b.corners)), b.seed))}
	if cfg.Transport = (spoiled{c.end, c}); cfg.Protocol == nil {
		cfg.Protocol = c.game.protocol(b.t)
	}
	if !cfg.Observe {
		cfg.Sample = Sample(&c.game.cmd, func(v View) control {
			next := press
			if next == nil {
				next = func(View) control { return hands.next() }
			}
			now := next(v)
			if now.Fire || now.Jump {
				c.pressed++
			}
			return now
		})
	}
	cfg.OnDesync = func(d Desync) { c.desyncs, c.told = append(c.desyncs, d), append(c.told, b.net.Now()) }
	if cfg.Redial != nil {
		cfg.Redial = func() (transport.Endpoint, error) {
			c.end = b.net.Dial(b.out, link, link)
			return spoiled{c.end, c}, nil
		}
	}
	var err error
	c.peer, err = New(cfg)
	require.NoError(b.t, err)
	var step func()
	step = func() {
		if !c.hidden {
			if c.before != nil {
				c.before(c.peer.View())
			}
			v := c.peer.Step(midnight.Add(b.net.Now()))
			for len(c.settled) <= int(v.Settled) {
				c.settled = append(c.settled, b.net.Now())
			}
		}
		b.net.At(b.net.Now()+time.Second/60, step)
	}
	b.net.At(at, step)
	b.corners = append(b.corners, c)
	return c
}

// run runs the bout for a time.
func (b *bout) run(d time.Duration) { b.net.Run(b.net.Now() + d) }

// compare checks that all worlds of a tick that all have settled are equal.
func (b *bout) compare() {
	b.t.Helper()
	s := b.relay.Stats()
	require.Zero(b.t, s.Differed)
	for i, c := range b.corners {
		require.Empty(b.t, c.desyncs, "corner %d", i)
		require.NoError(b.t, c.peer.View().Err, "corner %d", i)
	}
}

// presses returns how many presses the settled world of a player has of it.
func (c *corner) presses() int { return c.game.presses(c.peer.sim.world, c.peer.view.Player) }

// hits returns how many hits the world of a corner has.
func (c *corner) hits() int { return int(c.game.score.Get(c.peer.sim.world).Hits) }
