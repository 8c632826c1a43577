package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// putScratch is memory for handing entities to the snapshot source.
type putScratch struct {
	pointers []unsafe.Pointer
	columns  []column
}

// column is a replicated component of one table.
type column struct {
	base  unsafe.Pointer
	size  uintptr
	index int
}

// tick computes one tick and sends what it brought.
func (s *Server) tick(now time.Duration) {
	f := &s.frame
	f.Tick++
	s.ticking = true
	s.takeCommands()
	s.changePlayers()
	s.handleRequests()
	s.effects.outside.look(effectOutside)
	s.markHidden()
	s.fillCommands()
	if debugBuild {
		s.losses.begin()
		s.beginTrails()
	}
	s.p.schedule.Execute(s.world, f)
	if debugBuild {
		s.settleTrails()
	}
	s.effects.end()
	s.lookForLosses()
	s.snap()
	s.effects.outside.keep()
	s.record()
	s.stats.Ticks++
	s.post(true)
	if s.cfg.OnTick != nil {
		s.cfg.OnTick(f)
	}
	s.countPlayed()
	s.send(now)
	s.dropKicked()
	s.ticking = false
	if closing := s.closing; closing != nil {
		closing()
		return
	}
	if after := s.after; after != nil {
		s.after = nil
		after()
	}
}

// took notes the command that this tick runs with.
func (p *player) took(c *command, cmd *netcode.Command, s *Server) {
	p.heard, p.repeated, p.tookTick = true, 0, s.frame.Tick
	copyBytes(p.last, p.command, c.size)
	c.schema.ClearOneShots(p.last)
	p.claim = lagcomp.Claim{Tick: cmd.Render, Fraction: float32(cmd.Fraction) / 256}
	p.arrived = int64(cmd.Tick)*256 - int64(cmd.Early)
	p.tookAhead(cmd.Tick, cmd.Offset, s)
	p.measured.Dwell = p.drawing.waited(max(time.Duration(cmd.Early), 0)*s.interval/256, p.conn.Jitter(), s)
	behind := p.unexplained(s)
	p.drawing.observe(behind, p, s)
	p.measured.Interpolation = p.drawing.bound(behind, p, s)
	p.stats.InputsTaken++
	s.stats.InputsTaken++
}

// observe measures what bounds this tick's claims.
func (p *player) observe(s *Server) {
	p.measured = lagcomp.Measured{
		Now:           s.frame.Tick,
		Newest:        p.acked,
		RTT:           p.conn.RTT(),
		Interpolation: p.measured.Interpolation,
		Dwell:         p.early,
	}
	p.judge.Observe(p.measured)
}

// changePlayers lets in who came and takes out who went. Handlers may kick anybody:
// that waits for the tick's end. Every OnJoin that began is followed by an OnLeave.
func (s *Server) changePlayers() {
	for _, player := range s.leaving {
		for _, fn := range s.p.leaves {
			s.contained(player, "leave", fn)
		}
		s.destroyOwned(player)
	}
	s.leaving = s.leaving[:0]
	s.admitNewcomers()
	for _, p := range s.joining {
		if s.owners[p.owner] != p || p.kicked {
			continue // gone before it was there
		}
		p.begun = true
		for _, fn := range s.p.joins {
			s.contained(p.owner, "join", fn)
		}
	}
	clear(s.joining)
	s.joining = s.joining[:0]
	s.tellStaying(&s.absent, "absent", s.p.absents)
	s.tellStaying(&s.back, "return", s.p.returns)
}

// tellStaying calls hooks for those of some players who are still there.
func (s *Server) tellStaying(players *[]*player, name string, hooks []func(*Frame, PlayerID)) {
	for _, p := range *players {
		if s.owners[p.owner] != p || !p.begun {
			continue
		}
		for _, fn := range hooks {
			s.contained(p.owner, name, fn)
		}
	}
	clear(*players)
	*players = (*players)[:0]
}

// destroyOwned removes everything that a player who left still owns.
func (s *Server) destroyOwned(player PlayerID) {
	s.world.Lock()
	for _, rows := range s.entities.Owned(s.world, player) {
		for i := range rows.Len() {
			s.world.Manager().Destroy(rows.Entity(i))
		}
	}
	s.world.Unlock()
}

// fillCommands writes each player's command into its rows.
func (s *Server) fillCommands() {
	c := s.p.command
	if c == nil {
		return
	}
	for _, rows := range s.commands.All(s.world) {
		base := rows.Column(c.id)
		p := s.player(rows.Owner())
		for i := range rows.Len() {
			dst := unsafe.Add(base, uintptr(i)*c.size)
			if p == nil {
				clear(unsafe.Slice((*byte)(dst), c.size))
				continue
			}
			copyBytes(dst, p.command, c.size)
		}
	}
}

// snap rounds predicted values to the simulation step, and forgets references to what is
// gone, as clients do after their own ticks.
func (s *Server) snap() {
	for _, rows := range s.entities.All(s.world) {
		for i := range s.p.components {
			c := &s.p.components[i]
			if !c.predicted {
				continue
			}
			if base := rows.Column(c.id); base != nil {
				for k := range rows.Len() {
					at := unsafe.Add(base, uintptr(k)*c.size)
					if c.varies {
						s.measure(c, at)
					}
					s.losses.bounds(i, at)
					c.schema.Snap(at)
					if len(c.refs) > 0 {
						c.schema.DropRefs(at, s.there)
					}
				}
			}
		}
	}
}

// measure counts a value that cannot travel whole, and tells the first of each
// component.
func (s *Server) measure(c *component, at unsafe.Pointer) {
	i := c.schema.Unfit(at)
	if i < 0 {
		return
	}
	s.stats.ValuesCut++
	if !s.toldCut[c.id] {
		s.toldCut[c.id] = true
		f := c.schema.Field(i)
		s.cfg.Logger.Warn("a string or slice does not fit its tag, and is sent cut", "tick", s.frame.Tick, "component", c.name, "field", f.Name, "max", f.Most)
	}
}

// record hands the tick's state to the snapshots and to the history of volumes.
func (s *Server) record() {
	t := s.frame.Tick
	s.source.Begin(t)
	for _, rows := range s.entities.All(s.world) {
		s.putRows(rows)
	}
	s.group()
	if s.survey != nil {
		s.survey.fill(s)
	}
	s.source.End()
	s.history.Begin(t)
	f, before := s.kept.begin(t), s.kept.at(t-1)
	for _, rows := range s.entities.All(s.world) {
		s.recordHitboxes(rows, f, before)
	}
	s.history.End()
	s.recorded = true
}

func (s *Server) putRows(rows ecs.Rows) {
	var mask uint64
	cols := s.put.columns[:0]
	for i := range s.p.components {
		c := &s.p.components[i]
		if base := rows.Column(c.id); base != nil {
			mask |= 1 << i
			cols = append(cols, column{base, c.size, i})
		}
	}
	s.put.columns = cols
	ids := s.p.identity.Slice(rows)
	for k := range ids {
		at := s.put.pointers[:0]
		for _, c := range cols {
			at = append(at, unsafe.Add(c.base, uintptr(k)*c.size))
			if p := &s.p.components[c.index]; !p.predicted {
				if p.varies {
					s.measure(p, at[len(at)-1])
				}
				s.losses.bounds(c.index, at[len(at)-1])
			}
		}
		owner, prefab, all := uint16(rows.Owner()), &s.p.prefabs[ids[k].Prefab], mask
		switch {
		case prefab.matched():
			all |= 1 << s.p.originAt
			at = append(at, ids[k].sent(rows.Owner()))
		case prefab.local():
			all |= 1 << s.p.localAt
			at = append(at, unsafe.Pointer(&noOrigin))
		}
		s.put.pointers = at
		if owner == 0 && prefab.common {
			owner = snapshot.Everyone
		}
		s.source.Put(snapshot.NetID(ids[k].Net), int(ids[k].Prefab), owner, all, at, serverRefs{s})
		if s.p.teams {
			s.source.SetTeam(snapshot.NetID(ids[k].Net), s.teamOf(rows.Entity(k), rows.Owner()))
		}
	}
}

// serverRefs maps entity references to network ids and back.
type serverRefs struct{ s *Server }

func (r serverRefs) Net(entity uint64) uint32 {
	if id := r.s.p.identity.Find(r.s.world, ecs.Entity(entity)); id != nil {
		return id.Net
	}
	return 0
}

// Entity is never needed on the server: words are read back for volumes alone,
// which have no use for references.
func (r serverRefs) Entity(uint32) uint64 { return 0 }
