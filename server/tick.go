package server

import (
	"encoding/binary"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/published"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// New makes a server. Its first Step starts the clock: tick 1 is due an interval
// later. The error lists every fault of the configuration and the protocol. On an error the
// Transport stays the caller's: close it.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return newServer(cfg)
}

// newServer makes a server from a configuration that was checked.
func newServer(cfg Config) (*Server, error) {
	p := compiledOf(cfg.Protocol)
	untaped := cfg.Transport
	sink, err := cfg.record(p)
	if err != nil {
		return nil, err
	}
	if cfg.Verify != nil {
		if err := p.Registry.Verify(true, cfg.Verify); err != nil {
			return nil, err
		}
	}
	s := &Server{cfg: cfg, p: p, tape: recording{sink: sink}, endpoint: cfg.Transport, untaped: untaped}
	s.tape.run = &s.run
	s.wirePeers()
	s.sessions.architecture = runtime.GOARCH
	s.sessions.byPeer, s.sim.ordinals = map[transport.PeerID]*player{}, game.Ordinals{}
	s.sim.p, s.sim.stats = p, &s.stats
	s.sim.world = ecs.NewWorld(p.Types, ecs.WorldConfig{Tags: append([]string{foretick.TagServer}, cfg.Tags...), OnFull: s.entities.noRoom})
	s.sim.there = func(e uint64) bool { return s.sim.world.Alive(ecs.Entity(e)) }
	s.senders.source = snapshot.NewSource(p.Registry, snapshot.SourceConfig{})
	s.sim.nets.in = s.senders.source
	if cfg.Profile {
		s.senders.traffic = &traffic{down: snapshot.NewProfile(p.Registry)}
		s.commands.traffic = s.senders.traffic
	}
	var number [8]byte
	if _, err := io.ReadFull(cfg.Random, number[:]); err == nil { // otherwise tokens are empty too
		s.sessions.serverID = binary.LittleEndian.Uint64(number[:])
	}
	past := rewind.Config{Lagcomp: lagcomp.Config{MaxRewind: cfg.MaxRewind, Growth: cfg.RewindGrowth}, NoRewind: cfg.NoLagCompensation}
	if s.past, err = rewind.NewPast(p.RewindGame(), past, rewindWorld{&s.sim}); err != nil {
		return nil, err
	}
	s.wireSeats()
	s.sim.entities = ecs.NewQuery(p.Types, ecs.With(&p.Identity))
	if p.Command != nil {
		s.sim.commands = ecs.NewQuery(p.Types, ecs.With(p.Command.Handle))
	}
	s.sessions.owners, s.board.each = make([]*player, cfg.MaxClients+1), make([]published.Cell[shownPlayer], cfg.MaxClients+1)
	s.sessions.vacated = make([]vacancy, cfg.MaxClients+1)
	s.senders.every = uint32(p.TickRate / cfg.SnapshotRate)
	s.clock.rate, s.clock.interval = p.TickRate, time.Second/time.Duration(p.TickRate)
	s.sim.frame = foretick.Frame{World: s.sim.world, DT: 1 / float32(p.TickRate)}
	s.sim.frames = game.NewState(s.sim.world, p.TickRate, p.NewQueues())
	s.sim.running = bindFrame(&s.sim.frame, s.sim.frames)
	s.sim.row, s.sim.parents = game.NewSingletonRow(&p.Facts, s.sim.world), game.NewHierarchy(&p.Facts, s.sim.world)
	s.late = newLate(&s.cfg, &s.run, &s.reruns)
	if game.DebugBuild && s.late.Window > 0 {
		s.reruns.logDesyncs(cfg.Logger)
	}
	s.sim.writes = newWriteWatch(&s.sim, &s.sessions, &s.late, cfg.Logger)
	s.sim.spawnSingletonRow()
	s.sim.losses = game.NewLosses(&p.Facts, cfg.Logger, s.sim.world, &s.sim.frame.Tick, s.sim.running, &s.stats.ValuesOutside, &s.stats.ChangesSwallowed)
	s.times = newSystemTimes(p, clockOf(&cfg), cfg.Tags)
	p.Watch(true)
	s.interest = newInterest(&s.sim, &s.sessions, &s.panics, s.senders.source, interestChanges{&s.late, &s.sim})
	s.schemas.sim = &s.sim
	if err := s.schemas.publish(p, cfg.AllowOtherBuilds, cfg.Logger); err != nil {
		return nil, err
	}
	s.senders.share = s.senders.encodeShare
	s.sim.order, s.sim.hash = p.Order, s.sim.hashWorld
	if game.DebugBuild {
		cfg.Logger.Warn("this build has the tag foretick_debug: it sends hashes of what each shared system wrote, several times the game's bytes, so build without the tag to measure")
	}
	s.trails = writeTrails{p: p, sim: &s.sim, sessions: &s.sessions}
	s.views = shotViews{sim: &s.sim, past: s.past, sessions: &s.sessions, logs: &s.logs, nobodies: &s.stats.ViewsOfNobody}
	s.sim.frames.Packer = &game.Packer{Losses: &s.sim.losses}
	s.sim.frames.Attach(&frameEnd{&s.entities, &s.panics, &s.kicks, &s.interest, &s.mail, &s.requests, &s.views, s.sim.writes})
	s.around.arrangeHooks()
	s.figures.endpoint = newEndpointCounts(s.endpoint)
	s.figures.post() // so that the names of systems are known before the first Step
	return s, nil
}

// Step receives packets and computes the ticks that are due at now. Call it when [Server.Next] comes
// and whenever the transport is ready. now must not go back: if it does, no tick is computed until now
// is later than ever before. A time of more than 30 s between two Steps, in either direction, does not
// count: the process stood still, or its clock was set.
func (s *Server) Step(now time.Time) {
	switch {
	case s.run.closed:
		return
	case s.run.inner && !s.run.stepping:
		misuse.Panicf("foretick: Server.Step of a preview's server: call Preview.Step")
	case s.run.failed:
		misuse.Panicf("foretick: Server.Step after a panic in a system: the match cannot go on, so close the server")
	case s.run.ticking:
		misuse.Panicf("foretick: Server.Step inside of a tick: a system or a handler must not call it")
	case s.run.changing || s.run.inside != "":
		misuse.Panicf("foretick: Server.Step in a function that the server calls: a hook, a render system or server.Config.Observe must not call it")
	}
	s.run.inside = "Step"
	done := false
	defer func() {
		s.run.inside = ""
		if s.run.failed = !done; s.run.failed {
			s.calls.refuse(transport.ErrClosed)
		}
		if r := s.tape.sink; r != nil {
			r.Stepped()
			if !done {
				v := recover()
				r.Panicked(s.sim.frame.Tick, contain.Recovered(v), debug.Stack())
				if v != nil {
					panic(v)
				}
			}
		}
	}()
	if s.drain.latch() {
		s.tape.outside(tape.Call{Op: tape.Drain, Text: *s.drain.reason})
	}
	if r := s.tape.sink; r != nil {
		r.Step(now, s.sim.hash)
	}
	t := s.clock.begin(now, s.cfg.Timeout)
	s.clock.step(t, s.sim.frame.Tick)
	s.intake.receiveAll(t)
	s.admission.sweep(s.clock.start, t)
	s.offenders.dropSilent(t)
	if code, reason, over := s.drain.over(t, &s.sessions); over {
		_ = s.close(code, reason)
	}
	if s.run.closed || s.drain.linger != nil {
		if !s.run.closed && s.drain.linger.due(t, s.clock.interval) {
			s.packets.sendPending(t)
		}
		done = true
		s.rest()
		return
	}
	for n := 0; !s.sim.ended() && s.clock.due(s.sim.frame.Tick+1) <= t; n++ {
		if n == game.MaxCatchUp {
			s.figures.skipTicks()
			break
		}
		s.run.behind = n+1 < game.MaxCatchUp && s.clock.behind(t, s.sim.frame.Tick)
		s.tick(t)
		if s.run.closed || s.drain.linger != nil {
			done = true
			s.rest()
			return
		}
	}
	if s.sim.ended() && !s.run.over {
		s.end()
	}
	s.endpoint.Flush()
	s.board.post()
	done = true
}

// rest ends a Step after the match's last tick.
func (s *Server) rest() {
	if !s.run.closed {
		s.endpoint.Flush()
	}
	s.figures.postAll()
}

// Close runs the handlers of OnServer and OnFinal for every event that waits, and sends what
// waits for late inputs. Then it drops every player with the code [transport.Closed] and the
// reason, runs the OnLeave hooks, and closes the transport. The match is over: no client
// reconnects. Called from a system, handler or hook, Close returns nil and takes effect at the
// end of the tick. It returns an error in a function that Step calls outside of ticks, such as
// Config.Observe. After Close, Step does nothing. A second Close returns
// [transport.ErrClosed]. Like Step, it is not safe for concurrent use.
func (s *Server) Close(reason string) error { return s.closeWith(transport.Closed, reason) }

// CloseForRestart is Close for a server that another one replaces, as in a rolling
// restart. Clients that have client.Config.Redial try to come back for 30 s and join
// the new server; the others end with [transport.Restart]. It sends reliable messages again
// until every client has acknowledged them, which takes a round trip, and at most a second. Run
// calls it when its context ends.
func (s *Server) CloseForRestart(reason string) error {
	return s.closeWith(transport.Restart, reason)
}

func (s *Server) closeWith(code transport.Code, reason string) error {
	if s.run.closed || s.run.closing != nil {
		return transport.ErrClosed // Close may end a Shutdown that lingers
	}
	if err := s.run.refuses("Close"); err != nil {
		return err
	}
	s.tape.outside(tape.Call{Op: tape.Close, Number: uint64(code), Text: reason})
	if s.run.defers() && !s.run.failed {
		s.run.closing = func() { _ = s.close(code, reason) }
		return nil
	}
	s.sim.undraw()
	return s.close(code, reason)
}

func (s *Server) close(code transport.Code, reason string) error {
	if s.run.closed {
		return transport.ErrClosed
	}
	if !s.run.failed {
		s.concludeAndSend()
	}
	s.run.closed = true
	s.calls.refuse(transport.ErrClosed)
	defer s.figures.postAll()
	if r := s.tape.sink; r != nil {
		defer r.Closed()
	}
	if s.run.failed { // nothing of the match can be relied on
		for peer := range s.sessions.byPeer {
			s.endpoint.Disconnect(peer, code, reason)
		}
		return s.endpoint.Close(code, reason)
	}
	last := game.Partings{Endpoint: s.untaped, From: s.clock.now, Most: game.LastWords}
	for _, p := range slices.Clone(s.sessions.players) {
		why, text := p.end(code, reason)
		switch {
		case p.session.state == away:
			s.departures.leaveMatch(p, code, reason)
		case code == transport.Restart && p.listens() && p.session.conn.Pending() > 0 && !s.traces.replayed:
			last.All = append(last.All, game.Parting{Peer: p.session.peer, Conn: p.session.conn, Code: why, Reason: text})
			s.departures.forgetPeer(p, why, text)
		default:
			s.departures.dropPeer(p, why, text)
		}
	}
	s.run.changing = true // requests of hooks are too late now
	s.turnover.changePlayers()
	s.run.changing = false
	s.conclusion.concludeMatch() // handles what OnLeave has raised
	s.run.broke = last.CloseEndpoint(code, reason)
	return s.run.broke
}

// end drops every player because the match has reached its last tick.
func (s *Server) end() {
	s.conclusion.concludeMatch()
	s.run.over = true
	s.calls.refuse(ErrEnded)
	s.logs.Logger.Error(ended, "tick", s.sim.frame.Tick)
	for _, p := range slices.Clone(s.sessions.players) {
		if p.session.state == away {
			s.departures.leaveMatch(p, transport.Closed, ended)
		} else {
			s.departures.dropPeer(p, transport.Closed, ended)
		}
	}
}

// tick computes one tick and sends its results.
func (s *Server) tick(now time.Duration) {
	s.sim.frame.Tick++
	s.run.ticking, s.sim.writes.outside.next = true, false
	began := s.figures.begin(now)
	tap := s.inspected.begin(&s.times)
	s.commands.takeCommands()
	s.reruns.beginWorld()
	changed := s.sessions.changing()
	s.turnover.changePlayers()
	told := s.drain.tell(&s.sim.frame, &s.panics, s.cfg.OnDrain)
	s.late.OpenWorld(changed || told)
	s.requests.handleRequests()
	s.simulate()
	s.sim.captured = true
	s.late.AgeFades()
	s.capture.captureTick()
	s.report()
	if len(s.sessions.kicks) > 0 {
		s.late.StopWorld() // waiting messages are sent with the last packets
	}
	s.reruns.withholdOwn()
	s.departures.dropOverflowed()
	s.packets.sendAll(now)
	s.sim.captured = false
	if tap != nil {
		s.tapped(tap, now)
	}
	s.departures.dropKicked()
	s.run.ticking, s.sim.writes.outside.next = false, true
	s.figures.end(began)
	s.run.finish()
	if r := s.tape.sink; r != nil {
		r.Tick(s.sim.frame.Tick, s.sim.hashWorld())
	}
}

// simulate runs the game's systems with the commands of the tick.
func (s *Server) simulate() {
	s.sim.writes.outside.look(game.CauseOutside)
	s.interest.markHidden()
	s.late.RerunParts()
	s.commands.fillCommands()
	if game.DebugBuild {
		s.sim.losses.BeginTick()
		s.trails.beginTrails()
	}
	if s.traces.wake.Load() || s.traces.replayed || s.reports.listen != nil {
		s.traces.beginTraces()
	}
	s.p.Schedule.Execute(s.sim.world, &s.sim.frame)
	s.late.CloseWorld()
	if len(s.traces.recording) > 0 {
		s.traces.end()
	}
	if game.DebugBuild {
		s.trails.settleTrails()
	}
	s.sim.writes.end()
	s.sim.lookForLosses()
	if s.calls.runCalls(&s.sim.frame, &s.sim.writes.outside, s.p.EditCause()) {
		s.late.BlockAll()
	}
	s.interest.markHidden() // the tick itself may have hidden entities
	s.sim.roundTick(true)
	s.sim.writes.outside.keep()
	s.late.Save()
}

// report counts the tick, and publishes the figures.
func (s *Server) report() {
	s.stats.Ticks++
	s.figures.postAll()
	if s.cfg.OnTick != nil {
		s.cfg.OnTick(forServer(&s.sim.frame))
	}
	s.sessions.countPlayed(s.sim.frame.Tick, &s.clock, &s.admission, s.p.Command != nil)
}

// concludeAndSend is concludeMatch for the end: no more packets follow. It sends each player a last
// packet if handlers sent more messages.
func (s *Server) concludeAndSend() {
	before := s.sessions.pendingMessages()
	s.conclusion.concludeMatch()
	if s.sessions.pendingMessages() > before {
		s.packets.sendPending(s.clock.now)
	}
}

// peerHooks has functions that are called for messages, requests, panics and calls of Do, in order.
type peerHooks struct {
	message  []func(probe.MessageSent)
	request  []func(probe.RequestTaken)
	panicked []func(probe.Panicked)
	call     []func(name string)
}
