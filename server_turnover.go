package foretick

// turnover tells the game of the players that came and went since the last tick.
type turnover struct {
	sim      *simulation
	sessions *sessions
	panics   *panics
	requests *requests
	seats    *seats
}

// changePlayers adds the players that came and removes those that left. Handlers may kick
// any player, which waits for the tick's end. Every OnJoin that began is followed by an
// OnLeave.
func (o *turnover) changePlayers() {
	o.requests.handleLastRequests()
	for _, player := range o.sessions.leaving {
		o.panics.runHooks(&o.sim.frame, player, "OnLeave", o.sim.p.handlers.leaves)
		o.sim.destroyOwned(player)
	}
	o.sessions.leaving = o.sessions.leaving[:0]
	o.seats.admitNewcomers()
	for _, p := range o.sessions.joining {
		if o.sessions.owners[p.owner] != p || p.session.kicked {
			continue // gone before it was there
		}
		p.session.begun = true
		o.panics.runHooks(&o.sim.frame, p.owner, "OnJoin", o.sim.p.handlers.joins)
	}
	clear(o.sessions.joining)
	o.sessions.joining = o.sessions.joining[:0]
	o.tellMoves()
}

// tellMoves calls the hooks of players that lost their connection or came back, in order,
// for those that still have their place.
func (o *turnover) tellMoves() {
	h := &o.sim.p.handlers
	for _, m := range o.sessions.moves {
		if o.sessions.owners[m.p.owner] != m.p || !m.p.session.begun {
			continue
		}
		name, hooks := "OnDisconnect", h.disconnects
		if m.back {
			name, hooks = "OnReconnect", h.reconnects
		}
		o.panics.runHooks(&o.sim.frame, m.p.owner, name, hooks)
	}
	clear(o.sessions.moves)
	o.sessions.moves = o.sessions.moves[:0]
}
