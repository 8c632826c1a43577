package foretick

// block makes the present a barrier: no tick up to here runs again.
func (l *lateInputs) block(p *player) {
	if l.world.on {
		l.world.block()
		return
	}
	if p == nil || p.late == nil {
		return
	}
	st, until := p.late, l.s.sim.frame.Tick
	if l.player != nil {
		until = l.now
	}
	if !l.s.run.ticking {
		until++
	}
	for t := until - Tick(len(st.ticks)) + 1; t != until+1; t++ {
		if at := st.find(t); at != nil {
			l.settle(p, at)
		}
	}
	if int32(until-st.barrier) > 0 {
		st.barrier = until
	}
	if l.player == nil {
		st.from = 0
	}
}

// blockAll is block for every player.
func (l *lateInputs) blockAll() {
	if l.world.on {
		l.world.block()
		return
	}
	for _, p := range l.s.sessions.players {
		l.block(p)
	}
}

// giveUp waits no longer for commands of a player.
func (l *lateInputs) giveUp(p *player) {
	if !l.world.on {
		l.block(p)
		return
	}
	now := l.s.sim.frame.Tick
	for t := now - Tick(len(p.late.ticks)) + 1; t != now+1; t++ {
		if at := p.late.find(t); at != nil {
			l.settle(p, at)
		}
	}
}

// own reports whether late commands are taken, and only their player's part runs again.
func (l *lateInputs) own() bool { return l.window > 0 && !l.world.on }

// ack returns the tick up to which a player's commands are settled.
func (l *lateInputs) ack(p *player) Tick {
	now := l.s.sim.frame.Tick
	if p.late == nil {
		return p.inputs.buffer.Ack()
	}
	return p.inputs.buffer.AckFrom(p.late.firstWaiting(now+1) - 1)
}

// shaped notes that what does not run again for a player made or removed an entity of its.
func (l *lateInputs) shaped(p *player) {
	if !l.world.on {
		l.block(p)
	}
}

// beginShape and endShape look for entities that a server system made, removed, or gave
// another set of components.
func (l *lateInputs) beginShape() {
	if !l.own() {
		return
	}
	l.shapes = l.shapes[:0]
	for _, p := range l.s.sessions.players {
		l.shapes = append(l.shapes, l.s.sim.world.Structure(p.owner))
	}
}

func (l *lateInputs) endShape() {
	if !l.own() {
		return
	}
	for i, p := range l.s.sessions.players {
		if i < len(l.shapes) && l.s.sim.world.Structure(p.owner) != l.shapes[i] {
			l.block(p)
		}
	}
	l.shapes = l.shapes[:0]
}
