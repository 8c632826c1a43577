package rollback

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
)

// joining receives the world that a peer which joins late begins with.
type joining struct {
	most  int    // most is Config.MaxWorld.
	waits bool   // waits is true while a world has to come.
	world []byte // world has the pieces that came.
	tick  foretick.Tick
}

// begin waits for a world, or for none.
func (j *joining) begin(waits bool) {
	j.waits, j.world, j.tick = waits, j.world[:0], 0
}

// take takes a piece. The relay may begin again with another player's world. It also begins by itself for a peer that
// is so far behind that the relay no longer has its next tick: then restart is true.
func (j *joining) take(body []byte) (restart bool, err error) {
	p, err := settled.ReadPiece(body)
	if err != nil {
		return false, err
	}
	if restart = !j.waits && p.Offset == 0; restart {
		j.begin(true)
	}
	if p.Offset == 0 {
		j.world, j.tick = j.world[:0], p.Tick
	}
	if uint64(p.Total) > uint64(j.most) {
		return restart, &tooLarge{fmt.Sprintf("the match's world has %d bytes: raise rollback.Config.MaxWorld, which is %d", p.Total, j.most)}
	}
	if !j.waits || p.Tick != j.tick || int(p.Offset) != len(j.world) {
		return restart, netcode.ErrMalformed
	}
	j.world = append(j.world, p.Data...)
	return restart, nil
}

// tooLarge is the error for a world that is larger than the peer's configuration allows. Another peer's is as large, so
// it ends the match.
type tooLarge struct{ reason string }

func (e *tooLarge) Error() string { return "foretick: " + e.reason }

var errWorld = errors.New("foretick: the world that the relay sent is not the one that it named")

// finish returns the world that a verdict ends, and the standing of its tick.
func (j *joining) finish(body []byte) (world []byte, v settled.WorldVerdict, whole []byte, err error) {
	v, whole, err = settled.ReadVerdict(body)
	if err != nil {
		return nil, v, nil, err
	}
	if !j.waits || v.Tick != j.tick || uint64(v.Total) != uint64(len(j.world)) || settled.SumOf(j.world) != v.Sum {
		return nil, v, nil, errWorld
	}
	world = j.world
	j.waits, j.world = false, nil
	return world, v, whole, nil
}

// serving sends the own world to a peer that joins late, as far as the relay asks for it.
type serving struct {
	asked  settled.Ask
	tick   foretick.Tick // tick is the one that world is of. 0 means none.
	world  []byte
	offset int
}

// ask notes what the relay asks for. A new tick gives up the transfer of another one.
func (s *serving) ask(a settled.Ask) {
	if a.Tick != s.asked.Tick {
		s.tick, s.offset, s.world = 0, 0, nil
	}
	s.asked = a
}

// offer takes the world of a tick, if it is the one that the relay asks for.
func (s *serving) offer(t foretick.Tick, world []byte) {
	if s.asked.Until > 0 && t == s.asked.Tick && s.tick != t {
		s.tick, s.offset, s.world = t, 0, append([]byte(nil), world...)
	}
}

// send sends the pieces that the relay asked for and that the connection has room for.
func (s *serving) send(c *netcode.Conn) {
	if s.tick == 0 {
		return
	}
	for end := min(len(s.world), int(s.asked.Until)); s.offset < end; {
		n := min(end-s.offset, settled.MaxPiece)
		p := settled.Piece{Tick: s.tick, Offset: uint32(s.offset), Total: uint32(len(s.world)), Data: s.world[s.offset : s.offset+n]}
		if c.SendOn(settled.ChannelWorld, s.tick, settled.KindPiece, p.Append(nil)) != nil {
			return // the channel is full: the next packets have more
		}
		s.offset += n
	}
	if s.offset == len(s.world) {
		s.world = nil // the tick stays, so that nothing is sent twice
	}
}
