package foretick

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
)

// ErrOverflow is the error of [Message.Send] when more messages wait for a player than the server
// keeps. The player is disconnected with [transport.Overflow] at the end of the tick.
var ErrOverflow = errors.New("foretick: the player does not take its messages and is disconnected")

func (s *Server) sendMessage(to PlayerID, channel, id uint8, payload []byte) error {
	if s.late.quiet() {
		return nil
	}
	p := s.sessions.player(to)
	if p == nil {
		return fmt.Errorf("foretick: no player %d", to)
	}
	for _, o := range s.sessions.observers {
		if o.observing.grant.Player == to || o.observing.grant.Everything {
			_ = s.post(o, channel, id, payload) // one that does not take it is disconnected
		}
	}
	return s.post(p, channel, id, payload)
}

// post queues a message of the game's, or keeps it until its tick is final.
func (s *Server) post(p *player, channel, id uint8, payload []byte) error {
	if s.late.world.keeps(p, channel, id, payload) {
		return nil
	}
	return s.sendOn(p, channel, id, payload)
}

// sendOn queues a message, or marks a player that does not take any more.
func (s *Server) sendOn(p *player, channel, id uint8, payload []byte) error {
	return s.sendAs(p, s.sim.frame.Tick, channel, id, payload)
}

// sendAs is sendOn with the tick that the message is of.
func (s *Server) sendAs(p *player, t Tick, channel, id uint8, payload []byte) error {
	if p.local != nil {
		p.local.tell(channel, id, payload)
		s.stats.MessagesSent++
		return nil
	}
	if p.session.state == away && !s.p.Reliable(channel) {
		return nil // it may be lost, and is
	}
	err := ErrOverflow
	if q := p.session.queue(); !p.outbox.overflowed && q.Queued()+netcode.QueuedSize(len(payload)) <= maxQueued {
		err = q.SendOn(channel, t, id, payload)
	}
	if errors.Is(err, netcode.ErrStreamFull) {
		err = fmt.Errorf("%w: %w", ErrOverflow, err)
	}
	if err != nil {
		p.outbox.overflowed = p.outbox.overflowed || errors.Is(err, ErrOverflow)
		s.stats.MessagesRefused++
		return err
	}
	s.stats.MessagesSent++
	if id >= standard.MaxMessages || !s.p.Reliable(channel) || p.observing != nil {
		return nil
	}
	for _, fn := range s.hooks.message {
		fn(probe.MessageSent{To: p.owner, Session: p.session.number, Channel: int(channel), Tick: t, Kind: id, Payload: payload})
	}
	return nil
}

func (s *Server) broadcast(channel, id uint8, payload []byte) error {
	var errs []error
	if s.late.quiet() {
		return nil
	}
	for _, p := range s.sessions.players {
		if p.session.state >= playing {
			errs = append(errs, s.post(p, channel, id, payload))
		}
	}
	for _, o := range s.sessions.observers {
		_ = s.post(o, channel, id, payload)
	}
	return errors.Join(errs...)
}
