package web

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/transport"
)

// truths has the data that the server sent about itself.
type truths struct {
	ticks    [truthTicks]truthOf
	newest   foretick.Tick
	compared uint64 // received bodies that were compared with the truth of their tick
	desyncs  uint64 // compared bodies that differed
	last     foretick.Tick
	broken   uint64 // messages that could not be read
	session  *Session
}

// truthTicks is for how many ticks the truth is kept.
const truthTicks = 128

type truthOf struct {
	tick   foretick.Tick
	bodies []TruthBody
}

func newTruths() truths { return truths{} }

// takeTruth reads the messages that have arrived.
func (s *Session) takeTruth() {
	if s.truth == nil {
		return
	}
	s.server.session = s
	for {
		n := s.truth.Recv(s.events[:])
		for _, ev := range s.events[:n] {
			if ev.Kind == transport.Data && readTruth(ev.Data, &s.server) != nil {
				s.server.broken++
			}
		}
		if n < len(s.events) {
			return
		}
	}
}

func (t *truths) bodies(tick foretick.Tick, b TruthBody) {
	at := &t.ticks[tick%truthTicks]
	if at.tick != tick {
		at.tick, at.bodies = tick, at.bodies[:0]
	}
	at.bodies = append(at.bodies, b)
	if int32(tick-t.newest) >= 0 || t.newest-tick > truthTicks { // far back: another server
		t.newest = tick
	}
}

func (t *truths) shot(shot TruthShot) {
	s := t.session
	if shot.Player == s.view.Player {
		s.shot.take(shot)
		return
	}
	if len(s.tracers) < 256 {
		s.tracers = append(s.tracers, tracer{shot.X, shot.Y, shot.X2, shot.Y2, s.now, false})
	}
}

// find returns a player's body in a tick.
func (t *truths) find(tick foretick.Tick, player foretick.PlayerID) (TruthBody, bool) {
	if at := &t.ticks[tick%truthTicks]; at.tick == tick {
		for _, b := range at.bodies {
			if b.Player == player {
				return b, true
			}
		}
	}
	return TruthBody{}, false
}

// coarse is by how much a received position may differ: rounding to the step that is sent.
const coarse = 0.0101

// compare compares what was received with the server's own state of the same tick.
func (t *truths) compare(s *Session) {
	if s.view.State != client.Playing {
		return
	}
	newest := foretick.Tick(0)
	for _, rows := range s.game.Avatars.All(s.view.World) {
		for i := range rows.Len() {
			at, tick, ok := client.Received(s.client, &s.game.Pos, rows.Entity(i))
			if !ok || int32(tick-t.last) <= 0 {
				continue
			}
			newest = max(newest, tick)
			b, ok := t.find(tick, rows.Owner())
			if !ok || b.Slides {
				continue
			}
			t.compared++
			if math.Abs(float64(at.X-b.X)) > coarse || math.Abs(float64(at.Y-b.Y)) > coarse {
				t.desyncs++
			}
		}
	}
	t.last = max(t.last, newest)
}
