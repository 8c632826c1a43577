package foretick

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/ecs"
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

func (s *Server) sendMessage(to ecs.Owner, channel, id uint8, payload []byte) error {
	p := s.player(to)
	if p == nil || p.state != playing {
		return fmt.Errorf("foretick: no player %d", to)
	}
	return s.sendOn(p, channel, id, payload)
}

// sendOn queues a message, or marks a player that does not take any more.
func (s *Server) sendOn(p *player, channel, id uint8, payload []byte) error {
	err := ErrOverflow
	if !p.overflowed && p.conn.Queued()+netcode.QueuedSize(len(payload)) <= maxQueued {
		err = p.conn.SendOn(channel, s.frame.Tick, id, payload)
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
		s.cfg.OnMessage(MessageSent{To: p.owner, Connection: p.connection, Channel: int(channel), Tick: s.frame.Tick, Kind: id, Payload: payload})
	}
	return nil
}

func (s *Server) broadcast(channel, id uint8, payload []byte) error {
	var errs []error
	for _, p := range s.players {
		if p.state == playing {
			errs = append(errs, s.sendOn(p, channel, id, payload))
		}
	}
	return errors.Join(errs...)
}

// Queued is how much waits for a player in reliable messages, in bytes, where each,
// or 256 bytes of a longer one, counts as 256; 0 for one that is not connected. At
// 256 KiB the player is disconnected.
func (s *Server) Queued(who ecs.Owner) int {
	if p := s.player(who); p != nil && p.state == playing {
		return p.conn.Queued()
	}
	return 0
}

// dropOverflowed ends the connections of players who do not take their messages:
// what they miss would never be made up for.
func (s *Server) dropOverflowed() {
	for i := len(s.players) - 1; i >= 0; i-- {
		if p := s.players[i]; p.overflowed && p.state == playing {
			s.stats.Overflowed++
			s.drop(p, transport.Overflow, "did not take its messages")
		}
	}
}
