package rollback

import "github.com/foretick/foretick/internal/game"

// differ takes in that the peer's world is another one than that of another player. The search for the cause
// begins, unless it has before.
func (p *Peer) differ(d differ) {
	p.stats.Desyncs++
	p.cfg.Logger.Error("rollback: the worlds of two peers differ", "tick", d.tick, "agreed", d.agreed, "other", d.other, "most", d.most)
	if p.search != nil {
		return
	}
	if !p.hasSearched || p.searched != d.agreed {
		p.hasSearched, p.searched = true, d.agreed
		p.search = newSearch(p.now, p.p, p.cfg.Tags, &p.record, p.link.player(), d, p.outside.since(d.agreed, d.tick), p.sendClue)
	}
	if p.search == nil {
		p.report(d, nil, "")
	}
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
	if s.known {
		found = &s.cause
		p.cfg.Logger.Error("rollback: why the worlds differ", "cause", found.String(), "build", buildName(), "theirs", s.build)
	}
	p.report(s.differ, found, s.build)
}

func (p *Peer) sendClue(c *clue) {
	if p.link.let {
		_ = p.link.conn.SendReliable(p.inbox.newest(), kindClue, c.append(nil)) // without it, the search ends by itself
	}
}

// report tells the game that the worlds differ.
func (p *Peer) report(d differ, c *Cause, build string) {
	if p.cfg.OnDesync != nil {
		p.cfg.OnDesync(Desync{Tick: d.tick, Agreed: d.agreed, Other: d.other, Most: d.most, Cause: c, OtherBuild: build})
	}
}

// buildName returns the program that runs and its machine, as far as the program knows them.
func buildName() string {
	return game.MachineName() + " " + game.BuildName()
}
