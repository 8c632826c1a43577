package simtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/transport"
)

// Rogues plays whole servers against peers that know the packet format and break
// every rule. What they do is drawn by a grammar: hellos with right, wrong and no
// tokens, acknowledgements, commands, requests, fragments, schemas and closes, in
// any order and with extreme values, from connections that come, vanish and come
// back. Honest clients play beside them. Live returns an error when the server
// panics, leaks a place, an entity or memory, or keeps an honest client out.
type Rogues struct {
	// New makes one end of the game. nil means a game of simtest's own, whose
	// handlers kick, ban, panic and change the level at any time.
	New func() Player
	// Seed of all lives.
	Seed uint64
	// Together is how many rogues play at the same time. 0 means 24.
	Together int
	// Sequences is how many sequences of 50 to 200 actions a life has. 0 means 4096.
	Sequences int
	// Clock reads the time, to measure how long the server's steps take. nil does
	// not measure.
	Clock func() time.Time
	// Over makes what a life's peers meet over: real sockets, say. nil means a simulated
	// network, whose lives are the same each time.
	Over func() (RogueNet, error)
	// Shared says that other lives are played at the same time. Live does not
	// measure the heap then.
	Shared bool

	// weigh, if set, measures each step of the server, which returns how many bytes came
	// for it, and how many connections.
	weigh func(step func() (bytes, connections int)) error
}

const (
	roguesTogether = 24
	rogueSequences = 4096
	rogueBatches   = 4               // in a life, each followed by a look at what is left
	overSockets    = 1024            // sequences from which on a life over them has batches: each ends by waiting
	rogueTimeout   = 2 * time.Second // the server's, for who is silent
	rogueHold      = 3 * time.Second
	rogueSettles   = 40 * time.Second // ten until the last of them is gone, and 17 until its address owes nothing
	guestLimit     = 3 * time.Second  // for a fresh honest client to play
	behindLimit    = time.Second      // how old an honest client's newest snapshot may be
	placesSpare    = 8
	tokensKept     = 64
)

// den is a server with its rogues and its honest clients.
type den struct {
	cfg    *Rogues
	net    RogueNet
	door   *door
	server *foretick.Server
	player Player
	dice   *dice

	interval time.Duration
	now      time.Duration
	most     int // places
	rogues   []*rogue
	sequence int // handed out
	upTo     int
	counts   RogueCounts

	resident  *guest
	guest     *guest
	nextGuest time.Duration

	hash     uint64
	schema   string
	tokens   [][16]byte
	requests []asked
	maps     map[string]int // before any rogue came
	entities int
	heard    foretick.Tick // the newest snapshot that the resident client had
	peak     int           // the most entities
	half     bool          // of a tick
	heap     uint64
	busy     bool // rogues play
	filling  bool // all places are taken by who behaves
	settling bool // no honest client comes: what is left must be the rogues'
	held     int  // by the network, before any rogue came
	panicked error
	owners   []foretick.PlayerID
}

// asked is a request that an honest client sent.
type asked struct {
	kind    uint8
	payload []byte
}

// guest is an honest client.
type guest struct {
	client *foretick.Client
	player Player
	end    transport.Endpoint
	since  time.Duration
}

// Live plays one life. The error names what broke; the same Rogues and life break
// again.
func (r *Rogues) Live(life uint64) (counts RogueCounts, err error) {
	var net RogueNet = newSimNet(r.Seed + life)
	if r.Over != nil {
		if net, err = r.Over(); err != nil {
			return counts, err
		}
	}
	counts, err = r.play(net, newDice(r.Seed, life), (*den).live)
	net.Close()
	if err != nil {
		err = fmt.Errorf("simtest: rogues of seed %d, life %d: %w", r.Seed, life, err)
	}
	return counts, err
}

// scripted is how many rogues act what a script says.
const scripted = 3

// Act has three rogues do what the bytes say, on a server of their own without an
// honest client, for a fuzzer to write: a first byte sets the server up, and each
// that follows chooses an action, a value or a pause.
func (r *Rogues) Act(script []byte) (RogueCounts, error) {
	cfg := *r
	cfg.Together, cfg.Shared = scripted, true
	counts, err := cfg.play(newSimNet(1), &dice{bytes: script}, (*den).act)
	if err != nil {
		err = fmt.Errorf("simtest: rogues by %d bytes: %w", len(script), err)
	}
	return counts, err
}

// play makes a den and has it do something.
func (r *Rogues) play(net RogueNet, dice *dice, do func(*den) error) (counts RogueCounts, err error) {
	var d *den
	defer func() {
		if v := recover(); v != nil {
			stack := make([]byte, 8<<10)
			err = fmt.Errorf("panic: %v\n%s", v, stack[:runtime.Stack(stack, false)])
		}
		if d != nil {
			counts = d.counts
			st := d.server.Stats()
			counts.SchemasAsked, counts.OtherBuilds = st.SchemasAsked, st.OtherBuilds
		}
	}()
	if d, err = newDen(r, net, dice); err != nil {
		return counts, err
	}
	return counts, do(d)
}

// act plays until the script is at its end.
func (d *den) act() error {
	for range 8 { // all is there that is there without rogues
		if err := d.step(); err != nil {
			return err
		}
	}
	d.maps, d.entities = MapEntries(d.server), d.server.World().Len()
	for _, r := range d.rogues {
		r.dice, r.left, r.wild = d.dice, math.MaxInt, 64
	}
	for limit := 4 * len(d.dice.bytes); !d.dice.spent() && limit > 0; limit-- {
		if err := d.step(); err != nil {
			return err
		}
	}
	for _, r := range d.rogues {
		r.vanish()
		r.left = -1
	}
	return d.settle(0)
}

func (r *Rogues) together() int {
	if r.Together == 0 {
		return roguesTogether
	}
	return r.Together
}

func newDen(cfg *Rogues, net RogueNet, d *dice) (*den, error) {
	make1 := cfg.New
	if make1 == nil {
		make1 = newRogueGame
	}
	end := net.Listen()
	if below := end; cfg.Over != nil {
		end = unwalked{func() transport.Endpoint { return below }}
	}
	n := &den{
		cfg: cfg, net: net, door: newDoor(end), dice: d, player: make1(), schema: foretick.SchemaName,
		most: cfg.together() + placesSpare, counts: RogueCounts{Lives: 1},
	}
	var seed [32]byte
	if d.rand != nil {
		binary.LittleEndian.PutUint64(seed[:], d.bits(64))
	}
	var err error
	n.server, err = foretick.NewServer(foretick.ServerConfig{
		Protocol: n.player.Protocol, Transport: n.door, MaxClients: n.most, Timeout: rogueTimeout, ReconnectWindow: rogueHold,
		SnapshotRate: snapshotRate(n.player.Protocol.TickRate(), d), AllowOtherBuilds: d.one(2), Random: rand.NewChaCha8(seed), OnRequest: n.learn, OnPanic: n.panics,
	})
	if err != nil {
		return nil, err
	}
	if n.player.Begin != nil {
		n.player.Begin(n.server)
	}
	n.hash, n.interval = n.player.Protocol.Hash(), n.server.Interval()
	for range cfg.together() {
		n.rogues = append(n.rogues, &rogue{den: n, left: -1})
	}
	return n, nil
}

// snapshotRate draws how many snapshots a second a server sends: one a tick, or fewer.
func snapshotRate(rate int, d *dice) int {
	if every := 1 + d.n(3); rate%every == 0 {
		return rate / every
	}
	return rate
}

// learn keeps what honest clients ask for, for rogues to ask likewise.
func (d *den) learn(r foretick.RequestTaken) {
	if len(d.requests) < 16 {
		d.requests = append(d.requests, asked{r.Kind, slices.Clone(r.Payload)})
	}
}

// request draws a request that somebody honest sent before.
func (d *den) request(dice *dice) (kind uint8, payload []byte) {
	if len(d.requests) == 0 {
		return 0, []byte{0, 0}
	}
	a := d.requests[dice.n(len(d.requests))]
	return a.kind, a.payload
}

// panics notes a panic in the game's handlers that is not meant.
func (d *den) panics(p foretick.Panic) {
	if e, ok := p.Value.(error); ok && errors.Is(e, errRogue) {
		return
	}
	d.panicked = fmt.Errorf("in %s of player %d: %v\n%s", p.Handler, p.Who, p.Value, cause(p.Stack))
}

// know keeps a token, for others to show.
func (d *den) know(token [16]byte) {
	if len(d.tokens) < tokensKept {
		d.tokens = append(d.tokens, token)
	} else {
		d.tokens[d.dice.n(tokensKept)] = token
	}
}

// room reports whether a rogue may connect. Honest clients find a place in any
// case: rogues that are connected never have all of them.
func (d *den) room() bool {
	n := len(d.door.cards)
	for _, r := range d.rogues {
		if r.state == rogueDials {
			n++
		}
	}
	return n < d.most-placesSpare/2
}

// live plays all batches, and looks after each what is left.
func (d *den) live() error {
	if err := d.begin(); err != nil {
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
			if err := d.step(); err != nil {
				return err
			}
		}
		if err := d.settle(i); err != nil {
			return err
		}
	}
	return d.fill()
}

// begin lets the first honest client in, and notes what a server holds then.
func (d *den) begin() error {
	g, err := d.invite()
	if err != nil {
		return err
	}
	d.resident = g
	for d.now < 2*guestLimit {
		if err := d.step(); err != nil {
			return err
		}
	}
	if s := g.client.View().State; s != foretick.Playing {
		return fmt.Errorf("the honest client is %v before any rogue came: %w", s, errIdle)
	}
	d.maps, d.entities, d.held = MapEntries(d.server), d.server.World().Len(), d.net.Held()
	d.nextGuest = d.now + time.Second
	return nil
}

// invite dials an honest client in.
func (d *den) invite() (*guest, error) {
	make1 := d.cfg.New
	if make1 == nil {
		make1 = newRogueGame
	}
	g := &guest{player: make1(), end: d.net.Dial(true), since: d.now}
	var err error
	g.client, err = foretick.NewClient(foretick.ClientConfig{Protocol: g.player.Protocol, Transport: g.end, Sample: g.player.Sample})
	return g, err
}

// step plays half a tick.
func (d *den) step() error {
	d.now += d.interval / 2
	d.busy = d.filling || d.sequence < d.upTo || slices.ContainsFunc(d.rogues, func(r *rogue) bool { return r.left >= 0 })
	if late := d.net.Pass(d.now, d.busy); d.busy && d.cfg.Over != nil {
		d.counts.Late.note(late)
	}
	for _, r := range d.rogues {
		if r.left < 0 && d.sequence < d.upTo && d.room() {
			d.start(r)
		}
		if r.left >= 0 {
			r.step(d.now)
		}
	}
	d.net.Pass(d.now, d.busy) // what was sent over a perfect link is there
	d.serve()
	return d.honest()
}

// start begins a rogue's next sequence.
func (d *den) start(r *rogue) {
	d.sequence++
	r.dice = newDice(d.cfg.Seed^d.dice.bits(64), uint64(d.sequence))
	if d.dice.rand == nil {
		r.dice = d.dice
	}
	r.begin()
	r.next = d.now + time.Duration(r.dice.n(20))*d.interval/2
}

// serve has the server step.
func (d *den) serve() {
	var begun time.Time
	if d.cfg.Clock != nil {
		begun = d.cfg.Clock()
	}
	before := d.server.Tick()
	step := func() (bytes, connections int) {
		d.door.bytes, d.door.connections = 0, 0
		d.server.Step(Epoch.Add(d.now))
		return d.door.bytes, d.door.connections
	}
	if d.cfg.weigh == nil {
		step()
	} else if err := d.cfg.weigh(step); err != nil && d.panicked == nil {
		d.panicked = fmt.Errorf("after %v: %w", d.now, err)
	}
	if d.cfg.Clock != nil && d.server.Tick() != before {
		d.counts.Steps.note(d.cfg.Clock().Sub(begun))
	}
}

// honest lets the honest clients play, and checks that they can.
func (d *den) honest() error {
	if d.panicked != nil {
		return d.panicked
	}
	d.peak = max(d.peak, d.server.World().Len())
	if d.half = !d.half; d.half || d.resident == nil {
		return nil // they draw once a tick
	}
	v := d.draw(d.resident)
	if d.maps == nil {
		return nil
	}
	if v.State != foretick.Playing {
		return fmt.Errorf("after %v the honest client is %v (%w)", d.now, v.State, errOr(v.Err))
	}
	if !d.busy && d.cfg.Over != nil {
		return d.visit() // time runs faster than sockets are meant for
	}
	newest := d.resident.client.Newest()
	if newest != 0 {
		d.heard = newest
	} // else it has just entered a level, whose first snapshot is on its way
	behind := time.Duration(d.server.Tick()-d.heard) * d.interval
	if d.counts.Behind = max(d.counts.Behind, behind); behind > behindLimit {
		return fmt.Errorf("after %v the honest client's newest snapshot is %v old", d.now, behind)
	}
	return d.visit()
}

func (d *den) draw(g *guest) foretick.View {
	v := g.client.Step(Epoch.Add(d.now))
	if g.player.Act != nil {
		g.player.Act(g.client)
	}
	return v
}

// visit has a fresh honest client come in now and then, which must play within
// three seconds.
func (d *den) visit() (err error) {
	if d.guest == nil {
		if d.settling || d.filling || d.now < d.nextGuest {
			return nil
		}
		if d.guest, err = d.invite(); err != nil {
			return err
		}
	}
	g := d.guest
	v, took := d.draw(g), d.now-g.since
	switch {
	case v.State == foretick.Playing:
		_ = g.client.Close()
		d.counts.Guests++
		d.counts.SlowestGuest = max(d.counts.SlowestGuest, took)
		d.guest, d.nextGuest = nil, d.now+time.Duration(d.dice.n(60))*d.interval
	case v.State == foretick.Closed || took > guestLimit:
		return fmt.Errorf("after %v a fresh honest client is %v for %v (%w); %d are connected, %d play or are away", d.now, v.State, took, errOr(v.Err), len(d.door.cards), len(d.server.Players(nil)))
	}
	return nil
}

func errOr(err error) error {
	if err == nil {
		return errors.New("no reason")
	}
	return err
}

// settle waits until the rogues are gone and their places given up, and looks for
// what is left of them.
func (d *den) settle(batch int) error {
	if d.player.Rest != nil {
		d.player.Rest(true)
		defer d.player.Rest(false)
	}
	d.settling = true // the fresh client that is in comes to its end; none follows it
	defer func() { d.settling, d.nextGuest = false, d.now }()
	limit := rogueSettles
	if d.cfg.Over != nil {
		limit *= 10 // the time-outs of transports are in real time
	}
	for until := d.now + limit; ; {
		for range 2 * int(time.Second/d.interval) {
			if err := d.step(); err != nil {
				return err
			}
		}
		err := d.leftovers(batch)
		if err == nil && d.guest == nil {
			return d.flat(batch)
		}
		if d.now > until {
			return err
		}
	}
}

// leftovers names what is left of rogues.
func (d *den) leftovers(batch int) error {
	if n := d.server.Stats().CorePanics; n > 0 {
		return fmt.Errorf("batch %d: %d panics in decoding", batch, n)
	}
	honest := 0
	if d.resident != nil {
		honest = 1
	}
	if d.owners = d.server.Players(d.owners[:0]); len(d.owners) != honest {
		return fmt.Errorf("leak: batch %d: players %v after all rogues are gone", batch, d.owners)
	}
	if n := d.server.World().Len(); n != d.entities {
		return fmt.Errorf("leak: batch %d: %d entities, %d before the rogues came", batch, n, d.entities)
	}
	if n := len(d.door.cards); n != honest {
		return fmt.Errorf("leak: batch %d: %d connections after all rogues are gone", batch, n)
	}
	if n := d.net.Held(); n > d.held {
		return fmt.Errorf("leak: batch %d: %d goroutines and sockets, %d before the rogues came", batch, n, d.held)
	}
	now := MapEntries(d.server)
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if now[path] > max(d.maps[path], d.swept(path)) {
			return fmt.Errorf("leak: batch %d: map %s has %d entries, %d before the rogues came", batch, path, now[path], d.maps[path])
		}
	}
	return nil
}

// swept is how many entries a map may have that forgets entities which are gone only
// when it grows: as many as its sweep leaves.
func (d *den) swept(path string) int {
	switch path {
	case "*foretick.Server.world.archByMask":
		return 16 // tables, by the components that entities have
	case "*foretick.Server.cuts":
		return 2*d.peak + 17
	case "*foretick.Server.logs":
		return 32 // kinds of lines, of which there are so many
	}
	return 0
}

// flat checks that the heap does not grow from the first batch to a later one.
func (d *den) flat(batch int) error {
	if d.cfg.Shared {
		return nil
	}
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	d.counts.Heap = max(d.counts.Heap, s.HeapAlloc)
	if d.heap == 0 {
		d.heap = s.HeapAlloc
		return nil
	}
	const growth, allowance = 1.1, 4 << 20 // tables and pools grow to what is needed at most
	if float64(s.HeapAlloc) > growth*float64(d.heap)+allowance {
		return fmt.Errorf("leak: batch %d: the heap grew from %d to %d bytes", batch, d.heap, s.HeapAlloc)
	}
	return nil
}

// fill checks that every place can be had again, by as many who come at once.
func (d *den) fill() error {
	d.filling, d.upTo, d.door.plain = true, d.sequence, true
	if d.player.Rest != nil {
		d.player.Rest(true)
	}
	all := make([]*rogue, d.most-1)
	for i := range all {
		all[i] = &rogue{den: d, dice: d.dice}
		all[i].connect()
		all[i].number = 0
	}
	admitted := d.counts.Played
	limit := guestLimit
	if d.cfg.Over != nil {
		limit *= 20 // so many handshakes at once take what they take
	}
	for until := d.now + limit; d.now < until && int(d.counts.Played-admitted) < len(all); {
		if err := d.step(); err != nil {
			return err
		}
		for _, r := range all {
			if r.receive(d.now); r.peer != 0 {
				r.behave()
			} else if r.state == rogueOut && d.cfg.Over != nil {
				r.connect() // its handshake took too long
			}
		}
	}
	in := int(d.counts.Played - admitted)
	d.counts.Played = admitted
	for _, r := range all {
		r.leave(transport.Closed)
	}
	if in != len(all) {
		return fmt.Errorf("leak: only %d of %d places can be had", in, len(all))
	}
	return nil
}
