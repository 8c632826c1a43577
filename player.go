package foretick

import (
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/stats"
)

// player is one peer on the server: a client that plays or is about to, or an observer.
type player struct {
	owner    PlayerID
	session  session
	schemas  playerSchemas
	inputs   inputs
	requests playerRequests
	outbox   outbox
	interest playerInterest
	reasons  reason.Player

	late    *playerLate  // nil: no late commands are taken
	prompt  bool         // none are, by expert.SetLateInputs
	again   *playerAgain // with ServerConfig.LateWorld
	shooter rewind.Shooter
	faults  peerFaults

	trail   reason.Trail // debug builds alone
	tracing playerTracing
	reports playerReports
	unread  playerUnread
	counts  playerCounts
	path    playerPath

	observing *observing   // nil: it is no observer
	local     *localPlayer // nil: it has a connection, or had one

	stats   stats.Player
	counted countedClaims
}

// who returns the attributes that identify a player in a log line.
func (p *player) who() []any {
	return []any{"player", p.owner, "session", p.session.number, "peer", p.session.peer, "address", p.session.address, "identity", string(p.session.identity)}
}

// views returns the player whose own state the peer receives: itself, or the one that an
// observer is granted.
func (p *player) views() PlayerID {
	if p.observing != nil {
		return p.observing.grant.Player
	}
	return p.owner
}

// fates handles the fates of the packets to the player.
func (p *player) fates(now time.Duration) {
	for f, ok := p.session.conn.NextFate(); ok; f, ok = p.session.conn.NextFate() {
		p.fate(f, now)
	}
}

// fate tells the snapshot sender whether a packet arrived.
func (p *player) fate(f netcode.Fate, now time.Duration) {
	sent := p.outbox.sent.Find(f.Seq)
	if sent == nil {
		return
	}
	p.faults.blank.note(now, sent.has, f.Delivered)
	if p.observing == nil {
		p.shooter.Fate(f.Delivered)
	}
	if f.Delivered {
		p.faults.news = now
		p.outbox.welcomed = p.outbox.welcomed || sent.welcome
		if sent.level && sent.epoch == p.outbox.epoch {
			p.outbox.entered, p.outbox.levels = true, 0
		}
	}
	// What a snapshot of another level carried is no baseline of this one.
	if sent.has && p.outbox.sender != nil && sent.epoch == p.outbox.epoch {
		if f.Delivered {
			p.outbox.sender.Delivered(&sent.snapshot)
			if p.observing == nil {
				p.shooter.Delivered(&sent.snapshot)
			}
		} else {
			p.outbox.sender.Lost(&sent.snapshot)
		}
	}
	p.outbox.sent.Remove(f.Seq)
}

// playerInterest is the part of the world that a player may receive.
type playerInterest struct {
	hides   map[ecs.Entity]bool
	team    uint8
	near    *snapshot.AreaView             // entities near to it; nil: all are sent
	members map[ecs.Entity]schema.Audience // of the game's own

	swept, sweptMembers Tick // when hides and members were

	blind  bool       // one of its own entities is hidden from it
	veiled bool       // … or one that shared systems may read of others
	eye    [3]float32 // that the game set …
	hasEye bool       // … in place of its own entities
}
