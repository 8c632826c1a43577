package server

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
)

// mail queues the game's messages to players and observers.
type mail struct {
	sim      *simulation
	sessions *sessions
	hooks    *peerHooks
	late     *late.Room
}

// SendMessage implements Message.Send.
func (m *mail) SendMessage(to foretick.PlayerID, channel, id uint8, payload []byte) error {
	if m.late.IsQuiet(m.sim.writes.sharedRuns()) {
		return nil
	}
	p := m.sessions.player(to)
	if p == nil {
		return fmt.Errorf("foretick: no player %d", to)
	}
	for _, o := range m.sessions.observers {
		if o.observing.grant.player == to || o.observing.grant.everything {
			_ = m.postMessage(o, channel, id, payload) // an observer that does not receive its messages is disconnected
		}
	}
	return m.postMessage(p, channel, id, payload)
}

// postMessage queues a message of the game, or keeps it until its tick is final.
func (m *mail) postMessage(p *player, channel, id uint8, payload []byte) error {
	if m.late.KeepMessage(p, channel, id, payload) {
		return nil
	}
	return m.sendOn(p, channel, id, payload)
}

// sendOn queues a message, or marks a player for which no more can be queued.
func (m *mail) sendOn(p *player, channel, id uint8, payload []byte) error {
	return m.sendAs(p, m.sim.frame.Tick, channel, id, payload)
}

// sendAs is sendOn with the tick that the message belongs to.
func (m *mail) sendAs(p *player, t foretick.Tick, channel, id uint8, payload []byte) error {
	if p.local != nil {
		p.local.Tell(channel, id, payload)
		m.sim.stats.MessagesSent++
		return nil
	}
	if p.session.state == away && !m.sim.p.Reliable(channel) {
		return nil // the channel is not reliable: the message is lost
	}
	err := foretick.ErrMessageOverflow
	if q := p.session.queue(); !p.outbox.overflowed && q.Queued()+netcode.QueuedSize(len(payload)) <= game.MaxQueued {
		err = q.SendOn(channel, t, id, payload)
	}
	if errors.Is(err, netcode.ErrStreamFull) {
		err = fmt.Errorf("%w: %w", foretick.ErrMessageOverflow, err)
	}
	if err != nil {
		p.outbox.overflowed = p.outbox.overflowed || errors.Is(err, foretick.ErrMessageOverflow)
		m.sim.stats.MessagesRefused++
		return err
	}
	m.sim.stats.MessagesSent++
	if id >= standard.MaxMessages || !m.sim.p.Reliable(channel) || p.observing != nil {
		return nil
	}
	for _, fn := range m.hooks.message {
		fn(probe.MessageSent{To: p.owner, Session: p.session.number, Channel: int(channel), Tick: t, Kind: id, Payload: payload})
	}
	return nil
}

// Broadcast implements Message.Broadcast.
func (m *mail) Broadcast(channel, id uint8, payload []byte) {
	if m.late.IsQuiet(m.sim.writes.sharedRuns()) {
		return
	}
	for _, p := range m.sessions.players {
		if p.session.state >= playing {
			_ = m.postMessage(p, channel, id, payload) // a full queue disconnects the player and is counted
		}
	}
	for _, o := range m.sessions.observers {
		_ = m.postMessage(o, channel, id, payload)
	}
}
