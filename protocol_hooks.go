package foretick

// OnJoin calls fn on the server in the tick after a player joined. OnJoin, OnLeave,
// OnDisconnect and OnReconnect may each be called with several functions, which then run
// in order.
func (p *Protocol) OnJoin(fn func(f *Frame, player PlayerID)) {
	p.hook("OnJoin", &p.compiled.handlers.joins, fn)
}

// OnLeave calls fn on the server in the tick after a player left, while its entities still
// exist. The player is gone: Server.Identity is empty, messages to it fail, Frame.Rewind is
// empty. After the hooks, the entities that it still owns are destroyed: give those that
// must stay to another owner in fn.
func (p *Protocol) OnLeave(fn func(f *Frame, player PlayerID)) {
	p.hook("OnLeave", &p.compiled.handlers.leaves, fn)
}

// OnDisconnect calls fn on the server in the tick after a player lost its connection, if
// its place is held (see ServerConfig.ReconnectWindow). Its entities stay in the world.
// Its last command is repeated and decays as when input is missing (ServerConfig.RepeatInput
// and DecayInput), and then is zero.
func (p *Protocol) OnDisconnect(fn func(f *Frame, player PlayerID)) {
	p.hook("OnDisconnect", &p.compiled.handlers.disconnects, fn)
}

// OnReconnect calls fn on the server in the tick after a player came back to the place that
// was held for it: see [Protocol.OnDisconnect].
func (p *Protocol) OnReconnect(fn func(f *Frame, player PlayerID)) {
	p.hook("OnReconnect", &p.compiled.handlers.reconnects, fn)
}

// OnLevel calls fn on a client when the client enters a level: the first one, if the
// server named it, and each that follows. data is the data given to [Server.NextLevel],
// valid during the call. The entities of the level before are gone by then. The new ones
// come with the snapshots that follow.
func (p *Protocol) OnLevel(fn func(f *Frame, data []byte)) {
	if p.able("OnLevel", fn != nil) {
		p.compiled.handlers.levels = append(p.compiled.handlers.levels, fn)
	}
}

func (p *Protocol) hook(call string, to *[]func(*Frame, PlayerID), fn func(*Frame, PlayerID)) {
	if p.able(call, fn != nil) {
		*to = append(*to, fn)
	}
}
