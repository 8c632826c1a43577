package rollback

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/settled"
)

// Desync says that two peers have different worlds after the same inputs.
type Desync struct {
	// Tick is the first tick that was compared and differs. Ticks are compared once a second.
	Tick foretick.Tick
	// Agreed is the newest tick before it at which all peers had equal worlds. 0 means that there is none.
	Agreed foretick.Tick
	// Other is a player with another world.
	Other foretick.PlayerID
	// Most is true if most players have this peer's world.
	Most bool
	// Cause is what made the worlds differ. nil if it was not found: the other player sent nothing, the worlds of tick
	// Agreed are gone, or another search had begun within 10 s.
	Cause *Cause
	// OtherBuild is the program of Other, with its version, revision and machine as far as it knows them, such as
	// "go1.26.0 amd64 v1 game v1.2.0". Compare it first: two builds may compute otherwise. Empty without a search.
	OtherBuild string
}

// searchPause is the least time between the beginnings of two searches. A player may lie about its sums.
const searchPause = 10 * time.Second

// searched is what was told of worlds that differ since a tick at which they were equal.
type searched struct {
	agreed foretick.Tick
	others uint64        // others are the players that were told, a bit for each.
	at     time.Duration // at is when the newest search began. 0 means that there was none.
}

// isNew reports whether a difference is new, and notes it.
func (s *searched) isNew(d *settled.Differ) bool {
	if d.Agreed != s.agreed {
		s.agreed, s.others = d.Agreed, 0
	}
	known := s.others&settled.BitOf(d.Other) != 0
	s.others |= settled.BitOf(d.Other)
	return !known
}

// differ takes in that the peer's world is another one than that of another player. The search for the cause
// begins, unless it has before.
func (p *Peer) differ(d settled.Differ) {
	p.stats.Desyncs++
	p.cfg.Logger.Error("rollback: the worlds of two peers differ", "tick", d.Tick, "agreed", d.Agreed, "other", d.Other, "most", d.Most)
	if !p.searched.isNew(&d) {
		return
	}
	if p.search == nil && (p.searched.at == 0 || p.now-p.searched.at > searchPause) {
		p.searched.at = p.now
		p.search = newSearch(p.now, p.p, p.cfg.Tags, &p.record, p.link.player(), d, p.outside.since(d.Agreed, d.Tick), p.sendClue)
		if p.search != nil {
			return
		}
	}
	p.report(d, nil, "")
}

// searchOn goes on with a search, and tells the game what it found.
func (p *Peer) searchOn() {
	s := p.search
	if s == nil {
		return
	}
	s.advance(p.now)
	if !s.done {
		return
	}
	p.search = nil
	var found *Cause
	if s.known > 0 {
		found = &s.cause
		p.cfg.Logger.Error("rollback: why the worlds differ", "cause", found.String(), "build", buildName(), "theirs", s.build)
	}
	p.report(s.differ, found, s.build)
}

func (p *Peer) sendClue(c *settled.Clue) {
	if p.link.let {
		_ = p.link.conn.SendReliable(p.inbox.newest(), settled.KindClue, c.Append(nil)) // without it, the search ends by itself
	}
}

// report tells the game that the worlds differ.
func (p *Peer) report(d settled.Differ, c *Cause, build string) {
	if p.cfg.OnDesync != nil {
		p.cfg.OnDesync(Desync{Tick: d.Tick, Agreed: d.Agreed, Other: d.Other, Most: d.Most, Cause: c, OtherBuild: build})
	}
}

// buildName returns the program that runs and its machine, as far as the program knows them.
func buildName() string {
	return game.MachineName() + " " + game.BuildName()
}
