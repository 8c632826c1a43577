package foretick

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// maxQueued bounds the reliable messages that wait for one client, in bytes, where
// each, or 256 bytes of a longer one, counts as 256.
const maxQueued = 256 << 10

// ErrOverflow is what Send answers when a player did not take what it was sent for
// so long that no more is kept for it: it is disconnected with [transport.Overflow]
// at the end of the tick.
var ErrOverflow = errors.New("foretick: the player does not take its messages and is disconnected")

func (s *Server) sendMessage(to PlayerID, channel, id uint8, payload []byte) error {
	p := s.player(to)
	if p == nil {
		return fmt.Errorf("foretick: no player %d", to)
	}
	return s.sendOn(p, channel, id, payload)
}

// queue is where messages for a player wait: its connection, or the one that it
// lost.
func (p *player) queue() *netcode.Conn {
	if p.state == away {
		return p.kept
	}
	return p.conn
}

// sendOn queues a message, or marks a player that does not take any more.
func (s *Server) sendOn(p *player, channel, id uint8, payload []byte) error {
	if p.state == away && !s.p.reliable(channel) {
		return nil // it may be lost, and is
	}
	err := ErrOverflow
	if q := p.queue(); !p.overflowed && q.Queued()+netcode.QueuedSize(len(payload)) <= maxQueued {
		err = q.SendOn(channel, s.frame.Tick, id, payload)
	}
	if errors.Is(err, netcode.ErrStreamFull) {
		err = fmt.Errorf("%w: %w", ErrOverflow, err)
	}
	if err != nil {
		p.overflowed = p.overflowed || errors.Is(err, ErrOverflow)
		s.stats.MessagesRefused++
		return err
	}
	s.stats.MessagesSent++
	if s.cfg.OnMessage != nil && id < maxMessages && s.p.reliable(channel) {
		s.cfg.OnMessage(MessageSent{To: p.owner, Session: p.session, Channel: int(channel), Tick: s.frame.Tick, Kind: id, Payload: payload})
	}
	return nil
}

func (s *Server) broadcast(channel, id uint8, payload []byte) error {
	var errs []error
	for _, p := range s.players {
		if p.state == playing || p.state == away {
			errs = append(errs, s.sendOn(p, channel, id, payload))
		}
	}
	return errors.Join(errs...)
}

// Queued is how much waits for a player in reliable messages, in bytes, where each,
// or 256 bytes of a longer one, counts as 256; 0 for one that is not there. At
// 256 KiB the player is disconnected, or its place, if it is held, given up.
func (s *Server) Queued(player PlayerID) int {
	if p := s.player(player); p != nil {
		return p.queue().Queued()
	}
	return 0
}

// takeOver queues for a player who came back what the lost connection still owed.
// What the client says that it has is believed if it is of this very session.
func (s *Server) takeOver(p *player, kept *netcode.Conn, h netcode.Hello) {
	channels := gameChannels + len(s.p.channels)
	counts := p.holds(h.Resume) && len(h.Taken) == channels
	if !p.holds(h.Resume) || len(h.Taken) == 0 {
		p.requests = 0 // it counts anew
	}
	for i := range channels {
		if i == channelSchemas || !s.p.reliable(uint8(i)) {
			continue
		}
		taken := int64(netcode.Forgotten)
		if counts {
			taken = int64(h.Taken[i])
		}
		err := p.conn.TakeOver(kept, uint8(i), taken)
		if errors.Is(err, netcode.ErrTaken) {
			s.malformed(p, err)
			err = p.conn.TakeOver(kept, uint8(i), netcode.Forgotten)
		}
		if err != nil {
			s.cfg.Logger.Error("messages lost with a connection", append(s.who(p), "channel", i, "err", err)...)
		}
	}
}

// dropOverflowed ends the connections of players who do not take their messages:
// what they miss would never be made up for.
func (s *Server) dropOverflowed() {
	for i := len(s.players) - 1; i >= 0; i-- {
		p := s.players[i]
		switch {
		case !p.overflowed:
		case p.state == playing:
			s.stats.Overflowed++
			s.drop(p, transport.Overflow, "did not take its messages")
		case p.state == away:
			s.stats.Overflowed++
			s.leave(p, transport.Overflow, "was away for too many messages")
		}
	}
}
