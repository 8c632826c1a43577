package campaign

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/alarm"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
)

// rogueMatch is a server with its rogues and its honest clients.
type rogueMatch struct {
	cfg    *Rogues
	net    RogueNet
	door   *door
	server *server.Server
	player simtest.Player
	dice   *dice

	interval time.Duration
	now      time.Duration
	most     int // places on the server
	rogues   []*rogue
	sequence int // sequences handed out
	upTo     int
	counts   RogueCounts

	resident  *guest
	guest     *guest
	nextGuest time.Duration

	hash     uint64
	schema   string
	tokens   [][16]byte
	requests []asked
	maps     map[string]int // entries of the server's maps before any rogue came
	entities int
	heard    foretick.Tick // tick of the newest snapshot at the resident client
	peak     int           // the most entities at any time
	half     bool          // the match is in the middle of a tick
	heap     uint64        // the largest heap after a batch of the warm-up, in bytes
	leaked   [][]byte      // see Rogues.Leak
	busy     bool          // rogues play, or fillPlaces runs
	filling  bool          // all places are taken by well-behaved peers
	settling bool          // no honest client joins: anything left must be the rogues'
	relief   bool          // the next honest client that plays stays, instead of the resident one
	held     int           // result of RogueNet.Held before any rogue came
	panicked error
	owners   []server.Player
}

// asked is a request that an honest client sent.
type asked struct {
	kind    uint8
	payload []byte
}

// act plays until the script ends.
func (d *rogueMatch) act() error {
	for range 8 { // everything that exists without rogues is created in these half ticks
		if err := d.stepHalfTick(); err != nil {
			return err
		}
	}
	d.maps, d.entities = MapEntries(d.server), d.server.World().Len()
	for _, r := range d.rogues {
		r.dice, r.left, r.wild = d.dice, math.MaxInt, 64
	}
	for limit := 4 * len(d.dice.bytes); !d.dice.spent() && limit > 0; limit-- {
		if err := d.stepHalfTick(); err != nil {
			return err
		}
	}
	for _, r := range d.rogues {
		r.vanish()
		r.left = -1
	}
	return d.checkLeaks(0)
}

func newRogueMatch(cfg *Rogues, net RogueNet, d *dice) (*rogueMatch, error) {
	make1 := cfg.New
	if make1 == nil {
		make1 = newRogueGame
	}
	end := net.Listen()
	if below := end; cfg.Over != nil {
		end = unwalked{func() transport.Endpoint { return below }}
	}
	n := &rogueMatch{
		cfg: cfg, net: net, door: newDoor(end), dice: d, player: make1(), schema: netcode.ProtocolSchema,
		most: cfg.together() + placesSpare, counts: RogueCounts{Lives: 1},
	}
	var seed [32]byte
	if d.rand != nil {
		binary.LittleEndian.PutUint64(seed[:], d.bits(64))
	}
	var err error
	n.server, err = server.New(server.Config{
		Protocol: n.player.Protocol, Transport: n.door, MaxClients: n.most, Timeout: rogueTimeout, ReconnectWindow: rogueHold,
		SnapshotRate: snapshotRate(n.player.Protocol.TickRate(), d), AllowOtherBuilds: d.one(2), Random: rand.NewChaCha8(seed), OnPanic: n.panics,
		Observe: n.drawGrant,
	})
	if err != nil {
		return nil, err
	}
	probe.OfServer(n.server).SetArchitecture(architecture)
	probe.OfServer(n.server).OnRequest(func(r probe.RequestTaken) { n.learn(simtest.RequestTaken(r)) })
	if n.player.Begin != nil {
		n.player.Begin(n.server)
	}
	n.hash, n.interval = n.player.Protocol.Hash(), probe.OfServer(n.server).Interval()
	for range cfg.together() {
		n.rogues = append(n.rogues, &rogue{match: n, left: -1})
	}
	return n, nil
}

// drawGrant draws what an observer may see. It refuses one in eight, panics at one in eight,
// and grants one in eight the view of nobody, which no server can grant.
func (d *rogueMatch) drawGrant(server.Observer) (server.Grant, error) {
	g, followOnly := server.Public(), d.dice.one(2)
	switch d.dice.n(8) {
	case 0:
		return g, errors.New("no")
	case 1:
		panic(errRogue)
	case 2:
		g = server.OfPlayer(ecs.Nobody)
	case 3:
		g = server.Everything()
	case 4:
		g = server.OfTeam(uint8(d.dice.n(4)))
	case 5, 6:
		if d.owners = d.server.Players(d.owners[:0]); len(d.owners) > 0 {
			g = server.OfPlayer(d.owners[d.dice.n(len(d.owners))].ID)
		}
	}
	if followOnly {
		g = g.FollowOnly()
	}
	return g, nil
}

// snapshotRate draws the server's snapshots a second: one a tick, or fewer.
func snapshotRate(rate int, d *dice) int {
	if every := 1 + d.n(3); rate%every == 0 {
		return rate / every
	}
	return rate
}

// learn stores the requests of honest clients, for rogues to imitate.
func (d *rogueMatch) learn(r simtest.RequestTaken) {
	if len(d.requests) < 16 {
		d.requests = append(d.requests, asked{r.Kind, slices.Clone(r.Payload)})
	}
}

// request draws a request that an honest client sent before.
func (d *rogueMatch) request(dice *dice) (kind uint8, payload []byte) {
	if len(d.requests) == 0 {
		return 0, []byte{0, 0}
	}
	a := d.requests[dice.n(len(d.requests))]
	return a.kind, a.payload
}

// panics records an unintended panic in the game's handlers.
func (d *rogueMatch) panics(p server.Panic) {
	if e, ok := p.Value.(error); ok && errors.Is(e, errRogue) {
		return
	}
	d.panicked = fmt.Errorf("in %s of player %d: %v\n%s", p.Handler, p.Player, p.Value, alarm.Origin(p.Stack))
}

// know stores a token, for other rogues to use.
func (d *rogueMatch) know(token [16]byte) {
	if len(d.tokens) < tokensKept {
		d.tokens = append(d.tokens, token)
	} else {
		d.tokens[d.dice.n(tokensKept)] = token
	}
}

// hasPlace reports whether a rogue may connect. Connected rogues never have all places, so
// honest clients always find one.
func (d *rogueMatch) hasPlace() bool {
	n := len(d.door.cards)
	for _, r := range d.rogues {
		if r.state == rogueDials {
			n++
		}
	}
	return n < d.most-placesSpare/2
}

// live plays all batches, and checks for leaks after each.
func (d *rogueMatch) live() error {
	if err := d.admitFirst(); err != nil {
		return err
	}
	all := d.cfg.Sequences
	if all == 0 {
		all = rogueSequences
	}
	batches := rogueBatches
	if d.cfg.Over != nil && all < overSockets {
		batches = 1
	}
	for i := range batches {
		d.upTo = (i + 1) * all / batches
		for d.sequence < d.upTo || slices.ContainsFunc(d.rogues, func(r *rogue) bool { return r.left >= 0 }) {
			if err := d.stepHalfTick(); err != nil {
				return err
			}
		}
		if err := d.checkLeaks(i); err != nil {
			return err
		}
		if err := d.flat(i, batches/2); err != nil {
			return err
		}
	}
	return d.fillPlaces()
}

// admitFirst lets the first honest client in, and records what a server holds then.
func (d *rogueMatch) admitFirst() error {
	g, err := d.invite()
	if err != nil {
		return err
	}
	d.resident = g
	for d.now < 2*guestLimit {
		if err := d.stepHalfTick(); err != nil {
			return err
		}
	}
	if s := g.client.View().State; s != client.Playing {
		return fmt.Errorf("the honest client is %v before any rogue came", s)
	}
	d.maps, d.entities, d.held = MapEntries(d.server), d.server.World().Len(), d.net.Held()
	d.nextGuest = d.now + time.Second
	return nil
}

// stepHalfTick plays half a tick.
func (d *rogueMatch) stepHalfTick() error {
	d.now += d.interval / 2
	d.busy = d.filling || d.sequence < d.upTo || slices.ContainsFunc(d.rogues, func(r *rogue) bool { return r.left >= 0 })
	if late := d.net.Pass(d.now, d.busy); d.busy && d.cfg.Over != nil {
		d.counts.Late.countDelay(late)
	}
	for _, r := range d.rogues {
		if r.left < 0 && d.sequence < d.upTo && d.hasPlace() {
			d.startSequence(r)
		}
		if r.left >= 0 {
			r.stepRogue(d.now)
		}
	}
	d.net.Pass(d.now, d.busy) // delivers packets sent over a perfect link
	d.stepServer()
	return d.honest()
}

// startSequence begins a rogue's next sequence.
func (d *rogueMatch) startSequence(r *rogue) {
	d.sequence++
	if d.cfg.Leak > 0 {
		d.leaked = append(d.leaked, make([]byte, d.cfg.Leak))
	}
	r.dice = newDice(d.cfg.Seed^d.dice.bits(64), uint64(d.sequence))
	if d.dice.rand == nil {
		r.dice = d.dice
	}
	r.beginSequence()
	r.next = d.now + time.Duration(r.dice.n(20))*d.interval/2
}

// stepServer runs a step of the server.
func (d *rogueMatch) stepServer() {
	var begun time.Time
	if d.cfg.Clock != nil {
		begun = d.cfg.Clock()
	}
	before := d.server.Tick()
	step := func() (bytes, connections int) {
		d.door.bytes, d.door.connections = 0, 0
		d.server.Step(simtest.Epoch.Add(d.now))
		return d.door.bytes, d.door.connections
	}
	if d.cfg.weigh == nil {
		step()
	} else if err := d.cfg.weigh(step); err != nil && d.panicked == nil {
		d.panicked = fmt.Errorf("after %v: %w", d.now, err)
	}
	if d.cfg.Clock != nil && d.server.Tick() != before {
		d.counts.Steps.countDelay(d.cfg.Clock().Sub(begun))
	}
}
