package server

import (
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// packets sends each peer its datagrams: acknowledgements, what must precede a snapshot, the snapshot,
// and messages.
type packets struct {
	sim      *simulation
	sessions *sessions
	senders  *senders
	level    *playedLevel
	clock    *matchClock
	run      *progress
	endpoint transport.Endpoint
	// greeting is the part of a Welcome that is the same for all.
	greeting netcode.Welcome
	scratch  []byte
}

// sendAll sends each peer its packet of this tick: with a snapshot if one is due, and with
// acknowledgements and reliable messages in any case.
func (o *packets) sendAll(now time.Duration) {
	for _, p := range o.sessions.players {
		p.outbox.draft.packet = nil
		if p.session.state < away && (p.session.state != greeting || p.schemas.asked || p.schemas.otherBuilds) && !p.session.conn.Paused(now) {
			if o.maySkip(p) {
				o.oweSnapshot(p)
			} else {
				o.beginPacket(p, now)
			}
		}
	}
	o.senders.encodeAll()
	o.senders.countLong()
	clear(o.senders.encoding) // otherwise it would keep players that have left in memory
	o.senders.encoding = o.senders.encoding[:0]
	for _, p := range o.sessions.players {
		if p.outbox.draft.packet != nil {
			o.flushPacket(p)
		}
	}
}

// beginPacket starts a player's packet, with all that precedes a snapshot.
func (o *packets) beginPacket(p *player, now time.Duration) {
	d := &p.outbox.draft
	d.begin(p.session.conn.Begin(now), o.level.epoch)
	p.fates(now)
	if p.session.state != playing && p.session.state != watching {
		return
	}
	if !p.outbox.welcomed {
		o.scratch = o.welcomeFor(p).Append(o.scratch[:0])
		d.carries.welcome = p.outbox.insist(now, netcode.MessageWelcome, o.scratch)
	}
	if o.level.named && !p.outbox.entered {
		o.scratch = o.level.info().Append(o.scratch[:0])
		d.carries.level = p.outbox.insist(now, netcode.MessageLevel, o.scratch)
	}
	if !p.due(o.sim.frame.Tick) && !p.outbox.owed || !p.outbox.reads(o.level.named) {
		return
	}
	if p.interest.near != nil && !o.senders.interest.sees(p) {
		return
	}
	if p.observing == nil {
		if game.DebugBuild {
			o.scratch = p.writeTrail(d.packet, o.sim.frame.Tick, o.scratch)
		}
		p.reasons.Write(o.sim.frame.Tick, p.told(), &p.inputs.replaced, o.sim.p.Remote.Predicts)
	}
	d.note, d.due, p.outbox.owed = p.reasons.Packed(), true, false
	o.senders.encoding = append(o.senders.encoding, p)
}

// maySkip reports whether a player's packet may wait for a later tick of this Step. Packets of players
// that join, leave or are traced may not, and neither may those in the last tick of a level or a match,
// because they have content that belongs to its tick.
func (o *packets) maySkip(p *player) bool {
	return o.run.behind && len(o.sessions.kicks) == 0 && o.run.closing == nil && o.run.after == nil &&
		(p.session.state == playing || p.session.state == watching) && p.outbox.welcomed && p.tracing.armed == nil
}

// oweSnapshot notes that a player's snapshot waits. The last packet of the Step then has one, even if
// none is due in its tick.
func (o *packets) oweSnapshot(p *player) {
	if p.due(o.sim.frame.Tick) {
		p.outbox.owed = true
		o.sim.stats.SnapshotsSkipped++
	}
}

// sendPlain sends a packet without a snapshot.
func (o *packets) sendPlain(p *player, pk *netcode.Packet) {
	p.outbox.draft.begin(pk, o.level.epoch)
	o.flushPacket(p)
}

// flushPacket sends the packet that was built for a player.
func (o *packets) flushPacket(p *player) {
	d := &p.outbox.draft
	d.write()
	if p.tracing.armed != nil || p.tracing.refused != 0 || p.tracing.stop {
		p.writeTrace(o.clock.now)
	}
	if p.reports.due {
		p.reports.write(o.clock.now, d.packet)
	}
	seq, b := d.packet.Finish()
	slot := p.outbox.sent.Insert(seq)
	*slot, d.carries = d.carries, *slot // swapped, so that both keep their memory
	if err := o.endpoint.Send(p.session.peer, b); err != nil {
		o.sim.stats.PacketsRefused++
		return
	}
	o.sim.stats.PacketsOut++
	o.sim.stats.BytesOut += uint64(len(b))
	p.stats.PacketsOut++
	p.stats.BytesOut += uint64(len(b))
}

// sendPending sends every connected player a packet with what it has not acknowledged.
func (o *packets) sendPending(t time.Duration) {
	for _, p := range o.sessions.players {
		if p.listens() && !p.session.conn.Paused(t) {
			pk := p.session.conn.Begin(t)
			p.fates(t)
			o.sendPlain(p, pk)
		}
	}
}

// newGreeting returns the part of a Welcome that is the same for all clients.
func newGreeting(cfg *Config, p *compiled) netcode.Welcome {
	w := netcode.Welcome{TickRate: uint8(p.TickRate), Tags: p.TagBits(cfg.Tags)}
	if hold := cfg.ReconnectWindow / time.Second; hold > netcode.DefaultHold {
		w.Hold = uint32(hold)
	}
	if p.Command != nil {
		w.CommandSize, w.Late, w.LateShare = uint16(p.Command.Schema.PackedSize()), uint8(cfg.lateTicks()), cfg.toldLateShare()
	}
	return w
}

// welcomeFor returns the Welcome for a player: everything that an admitted client needs to know.
func (o *packets) welcomeFor(p *player) netcode.Welcome {
	w := o.greeting
	w.Owner, w.SnapshotInterval, w.Tick, w.Epoch = uint16(p.views()), uint8(p.outbox.every), o.sim.frame.Tick, o.level.epoch
	w.Resume, w.Resumed, w.Taken, w.Code, w.Text = p.session.token, p.session.resumed, p.requests.taken, uint16(p.session.lostCode), p.session.lostText
	w.Server, w.Architecture = o.sessions.serverID, o.sessions.architecture
	return w
}
