package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// Limits of reports.
const (

	// A server accepts more at once, because a network may hold packets back. It drops the rest.
	takenRate, takenBurst = 2 * game.ReportRate, 100
	// The limits for all of its players together.
	takenMost, takenMostBurst = 400, 800
)

// correctionReports has the reports of clients' corrections for the server's program.
type correctionReports struct {
	sim      *simulation
	sessions *sessions
	clock    *matchClock
	panics   *panics
	figures  *stats.Server

	listen func(foretick.PlayerID, prediction.Misprediction) // nil: the program did not ask
	takes  game.Allowance                                    // limits the reports of all players together
	index  netIndex
}

// playerReports has the state of the requests for reports to a player's client, and of its replies.
type playerReports struct {
	asked      time.Duration // when a request was last due; 0: never
	due        bool          // a request must be sent
	until      time.Duration // until when reports are accepted
	takes      game.Allowance
	incoming   cause.Incoming
	connection uint64 // the connection whose reports incoming counts
}

// Corrected calls fn with each correction of a client that plays. Entities in it are handles of the
// server's world, or 0 if the server does not have the entity. nil ends the calls.
func (in *internals) Corrected(fn func(foretick.PlayerID, prediction.Misprediction)) {
	in.reports.listen = fn
}

// askReports appends the players whose corrections should be requested now.
func (r *correctionReports) askReports(looks []tape.Look) []tape.Look {
	if r.listen == nil {
		return looks
	}
	for _, p := range r.sessions.players {
		if p.session.state == playing && p.observing == nil && (p.reports.asked == 0 || r.clock.now-p.reports.asked >= game.TraceRefresh) {
			looks = append(looks, tape.Look{Player: uint16(p.owner), Reports: true})
		}
	}
	return looks
}

// askReport requests the corrections of a player's client.
func (r *correctionReports) askReport(p *player) {
	if p != nil && p.session.state == playing && p.observing == nil {
		p.reports.asked, p.reports.due = r.clock.now, true
	}
}

// write puts the request into a packet to the player.
func (r *playerReports) write(now time.Duration, pk *netcode.Packet) {
	if pk.Message(game.MessageReport, []byte{cause.AskReports}) {
		r.due, r.until = false, now+traceLate
	}
}

// takeReport reads a report of a player's client, in packet b. It drops reports that were read before,
// or exceed the limits.
func (r *correctionReports) takeReport(p *player, body, b []byte) error {
	from, now := &p.reports, r.clock.now
	if p.session.state != playing {
		return nil
	}
	if len(body) > 0 && body[0] == cause.CountsSaid {
		return r.takeCounts(p, body, b)
	}
	if p.observing != nil || now >= from.until { // no report was requested
		return netcode.ErrMalformed // nobody asked for it
	}
	if from.connection != p.session.connection {
		from.connection, from.incoming = p.session.connection, cause.Incoming{}
	}
	if !from.takes.TakeOne(now, takenRate, takenBurst) || !r.takes.TakeOne(now, takenMost, takenMostBurst) {
		return nil
	}
	var said cause.Report
	err := r.panics.decodePeer(p, b, func() (err error) {
		if said, err = cause.ParseReport(body); err != nil || r.sim.p.Command == nil {
			return err
		}
		for _, c := range [...]struct {
			packed []byte
			value  *any
		}{{said.Input, &said.Wrong.Input}, {said.Executed, &said.Wrong.Executed}} {
			at := reflect.New(r.sim.p.Command.Handle.Type())
			if len(c.packed) > 0 && r.sim.p.Command.Schema.Unpack(c.packed, at.UnsafePointer()) == nil {
				*c.value = at.Elem().Interface()
			}
		}
		return nil
	})
	if err == nil && !p.session.poisoned && from.incoming.Fresh(said.Number) && r.listen != nil {
		r.nameReported(p, &said.Wrong)
		r.listen(p.owner, said.Wrong)
	}
	return err
}

// nameReported replaces the entities in a client's report by the server's handles, and adds labels.
func (r *correctionReports) nameReported(p *player, m *prediction.Misprediction) {
	m.Entity = r.namedBy(p, m.Entity)
	for i := range m.Differences {
		d := &m.Differences[i]
		label := r.sim.p.Labels.Of(d.Component, d.Field)
		d.Entity, d.Label, d.Unit, d.Values = r.namedBy(p, d.Entity), label.Name, label.Unit, label.Values
	}
}

// netIndex finds entities by their network ids. It is filled at the first call of find, and again, at
// most once in a tick, when it does not have an id.
type netIndex struct {
	of     map[snapshot.NetID]ecs.Entity
	filled foretick.Tick
}

// find returns the entity with a network id, or 0 if there is none.
func (x *netIndex) find(m *simulation, net snapshot.NetID) ecs.Entity {
	if e := x.of[net]; e != 0 && m.net(e) == net {
		return e
	}
	if x.of != nil && x.filled == m.frame.Tick {
		return 0
	}
	if x.of == nil {
		x.of = make(map[snapshot.NetID]ecs.Entity)
	}
	clear(x.of)
	x.filled = m.frame.Tick
	for _, rows := range m.entities.All(m.world) {
		ids := m.p.Identity.Slice(rows)
		for i := range ids {
			x.of[snapshot.NetID(ids[i].Net)] = rows.Entity(i)
		}
	}
	return x.of[net]
}

// namedBy returns the entity that a player's client predicts under a name, or 0 if there is none.
func (r *correctionReports) namedBy(p *player, name uint64) uint64 {
	sender := p.outbox.sender
	if sender == nil || game.IsKey(uint32(name)) { // #nosec G115 -- see below
		return r.searchNamed(p, name)
	}
	if name == 0 || name > uint64(^schema.WireID(0)) {
		return 0
	}
	net, ok := sender.Entity(schema.WireID(name))
	if !ok {
		return 0
	}
	e := r.index.find(r.sim, net)
	if e == 0 || p.interest.hides[e] {
		return 0
	}
	if of := r.sim.world.Owner(e); of != p.owner && !(of == ecs.Nobody && r.sim.p.Common) {
		return 0
	}
	if wire, _ := r.sim.nameFor(p, e, r.sim.p.Identity.Get(r.sim.world, e)); uint64(wire) != name {
		return 0
	}
	return uint64(e)
}

// searchNamed searches the player's own entities for the name, and the shared physics objects too.
func (r *correctionReports) searchNamed(p *player, name uint64) uint64 {
	for _, owner := range [...]foretick.PlayerID{p.owner, ecs.Nobody} {
		if owner == ecs.Nobody && (!r.sim.p.Common || p.outbox.sender != nil) || name == 0 { // a client's key is of its own entities
			break
		}
		for _, rows := range r.sim.entities.Owned(r.sim.world, owner) {
			ids := r.sim.p.Identity.Slice(rows)
			for i := range ids {
				if e := rows.Entity(i); !p.interest.hides[e] {
					if wire, _ := r.sim.nameFor(p, e, &ids[i]); uint64(wire) == name {
						return uint64(e)
					}
				}
			}
		}
	}
	return 0
}

// raise notes an event of the player's entities.
func (p *player) raise(t foretick.Tick, event int) {
	if p.session.state == playing { // otherwise no client is told, and nothing would ever be removed
		p.reasons.Raise(t, event)
	}
}

// writeTrails makes, in debug builds, hashes of each player's predicted state after each shared system.
type writeTrails struct {
	p        *compiled
	sim      *simulation
	sessions *sessions
	words    []int32 // scratch
	due      bool    // a shared system has run whose result is not hashed yet
}

// beginTrails starts a tick's hashes.
func (r *writeTrails) beginTrails() {
	for _, p := range r.sessions.players {
		if p.session.state == playing {
			p.trail.Begin(r.sim.frame.Tick)
		}
	}
	r.noteTrails()
}

func (r *writeTrails) BeforeSystem(*game.SystemRun, int) { r.settleTrails() }

func (r *writeTrails) AfterSystem(_ *game.SystemRun, system int) {
	r.due = r.due || r.sim.writes.both[system]
}

// settleTrails hashes the state after the last shared system. Entities and components that this system
// added or removed are visible only after its commands were applied, which is after its end.
func (r *writeTrails) settleTrails() {
	if r.due {
		r.due = false
		r.noteTrails()
	}
}

// noteTrails hashes each player's current predicted state.
func (r *writeTrails) noteTrails() {
	r.sim.row.TakeRow()
	for _, p := range r.sessions.players {
		if p.session.state != playing || !p.trail.Begun() {
			continue
		}
		sum := r.hashOwned(p, p.owner)
		if r.p.Common {
			sum += r.hashOwned(p, ecs.Nobody)
		}
		p.trail.Note(sum)
	}
}

func (r *writeTrails) hashOwned(p *player, owner foretick.PlayerID) (sum uint32) {
	for _, rows := range r.sim.entities.Owned(r.sim.world, owner) {
		for i, id := range r.p.Identity.Slice(rows) {
			if owner == ecs.Nobody && !r.p.Prefabs[id.Prefab].Common {
				continue
			}
			name := uint32(0)
			if id.Maker == uint16(owner) { // otherwise the client never received the origin
				name = id.Origin // the client knows the origin before it has the entity
			}
			if wire, ok := p.outbox.sender.Known(snapshot.NetID(id.Net)); ok && name == 0 {
				name = uint32(wire)
			}
			if name != 0 {
				sum += r.p.EntityHash(r.sim.world, rows.Entity(i), name, r.words)
			}
		}
	}
	return sum
}

// writeTrail writes the hashes of the ticks for which the client has no snapshot yet. It returns
// scratch.
func (p *player) writeTrail(pk *netcode.Packet, now foretick.Tick, scratch []byte) []byte {
	b := p.trail.Append(scratch[:0], now, p.shooter.Acked(), pk.Room()/2)
	pk.Message(game.MessageTrail, b)
	return b[:0]
}

// still finds, in debug builds, predicted components of players' entities that only the server writes.
// One that shared systems read, such as health or a stun, is rightly Predicted: a client rolls back to
// the tick of its change.
type still struct {
	log  *slog.Logger
	used map[stillKey]bool // components that some shared system reads or writes
	seen map[stillKey]int  // in how many ticks only the server wrote the component
	once map[string]bool   // other cautions that were logged
	push map[pushKey]int   // in how many ticks a shared system wrote another player's rows
}

type pushKey struct {
	system int
	comp   ecs.ID
}

type stillKey struct {
	kind uint16
	comp ecs.ID
}

// stillTicks is in how many ticks the server must move a component before that is logged. The server
// may sometimes place an entity that does not move otherwise.
const stillTicks = 10

func newStill(p *compiled, log *slog.Logger) still {
	s := still{log: log, used: map[stillKey]bool{}, seen: map[stillKey]int{}, once: map[string]bool{}, push: map[pushKey]int{}}
	for _, sys := range p.Schedule.Systems() {
		if !layout.Shared(sys) {
			continue
		}
		for i := range p.Prefabs {
			mask := p.Prefabs[i].ECS.Mask()
			for _, id := range append(sys.Reads[:len(sys.Reads):len(sys.Reads)], sys.Writes...) {
				if sys.Once || mask.Contains(sys.With) && !mask.Overlaps(sys.Without) {
					s.used[stillKey{uint16(i), id}] = true
				}
			}
			for _, id := range append(sys.OtherReads[:len(sys.OtherReads):len(sys.OtherReads)], sys.OtherWrites...) {
				s.used[stillKey{uint16(i), id}] = true
			}
		}
	}
	return s
}

// look counts the rows of a player that a server system has changed.
func (e *writeWatch) look(t *watchedTable, now, was []byte, system int) {
	if e.sessions.player(t.rows.Owner()) == nil || t.comp.Varies && t.rows.Len() > 1 {
		return
	}
	each := len(now) / t.rows.Len()
	for i, id := range e.p.Identity.Slice(t.rows) {
		k := stillKey{id.Prefab, t.comp.ID}
		if e.still.used[k] || e.p.Prefabs[id.Prefab].Interpolated && !id.Ahead || !t.comp.Varies && bytes.Equal(now[i*each:(i+1)*each], was[i*each:(i+1)*each]) {
			continue
		}
		if e.still.seen[k]++; e.still.seen[k] == stillTicks {
			e.still.log.Error(game.CautionText, "caution", fmt.Sprintf("system %q moves %s of prefab %q, which player %d owns and no shared system reads or writes: its client predicts that it stands still, and is corrected each time: write it in a Shared system, declare the prefab with Protocol.Interpolated, spawn it for ecs.Nobody, or leave Predicted out",
				e.p.SystemName(uint32(system)+1), t.comp.Name, e.p.Prefabs[id.Prefab].ECS.Name(), t.rows.Owner()))
		}
	}
}

// Unheard logs an event that is raised and has no handler, once.
func (en *frameEntities) Unheard(event string) {
	c := &en.sim.writes.still
	if !c.once[event] {
		c.once[event] = true
		c.log.Error(game.CautionText, "caution", fmt.Sprintf("event %s is raised and has no handler, so nothing follows from it: declare OnServer for what it changes, and OnPredicted for what its player sees and hears", event))
	}
}

// pushes counts that a shared system wrote a player's rows in a run for another player.
func (c *still) pushes(system int, name string, t *watchedTable) {
	k := pushKey{system, t.comp.ID}
	if c.push[k]++; c.push[k] == stillTicks {
		c.log.Error(game.CautionText, "caution", fmt.Sprintf("shared system %q writes %s of player %d's entities in its runs for other players. Player %d's client does not run it for them, and is corrected each time: raise an Event and write in its OnServer handler, let each body write only itself, or predict other players with PredictRemote",
			name, t.comp.Name, t.rows.Owner(), t.rows.Owner()))
	}
}
