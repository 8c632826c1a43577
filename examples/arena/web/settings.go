package web

import (
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/transport/sim"
)

// The settings of a page's panels. A technique is on at 1 and off at 0.
const (
	setRTT       = 1 + iota // added round trip, in milliseconds
	setJitter               // milliseconds, each way
	setLoss                 // per cent, each way
	setBurst                // mean length of a run of losses
	setDuplicate            // per cent
	setReorder              // per cent
	setBandwidth            // kbit/s; 0: unlimited
	setPreset               // index in Presets
	setSpike                // 300 ms more round trip, for a second
	setFreeze               // no Step for two seconds
	setPrediction
	setReconciliation
	setSmoothing
	setInterpolation
	setLagCompensation
	setLateInputs
)

const (
	spikeBy   = 150 * time.Millisecond // added latency each way
	spikeFor  = time.Second
	freezeFor = 2 * time.Second
)

// Presets names the links that a page offers, in the order of their numbers.
func Presets() []string {
	return []string{"perfect", "lan", "wifi", "lte", "train", "satellite", "hell"}
}

// set applies a setting. Package sim clamps numbers that are out of range.
func (s *Session) set(now time.Time, which int, v float32) {
	on := v != 0
	switch which {
	case setRTT:
		s.link.Latency = milliseconds(v) / 2
	case setJitter:
		s.link.Jitter = milliseconds(v)
	case setLoss:
		s.link.Loss = share(v)
	case setBurst:
		s.link.Burst = int(min(max(v, 0), 1000))
	case setDuplicate:
		s.link.Duplicate = share(v)
	case setReorder:
		s.link.Reorder = share(v)
	case setBandwidth:
		s.link.Bandwidth = int(min(max(v, 0), 1e6)) * 1000
	case setPreset:
		if names, i := Presets(), int(v); i >= 0 && i < len(names) {
			s.link, _ = sim.Preset(names[i])
		}
	case setSpike:
		s.spikeUntil = now.Add(spikeFor)
	case setFreeze:
		s.frozenUntil = now.Add(freezeFor)
	case setPrediction:
		s.techniques.NoPrediction = !on
	case setReconciliation:
		s.techniques.NoReconciliation = !on
	case setSmoothing:
		s.techniques.NoSmoothing = !on
	case setInterpolation:
		s.techniques.NoInterpolation = !on
	case setLagCompensation:
		s.wish.NoLagCompensation, s.wishes = !on, true
	case setLateInputs:
		s.wish.NoLateInputs, s.wishes = !on, true
	default:
		return
	}
	s.relink()
	_ = s.client.SetTechniques(s.techniques) // cannot fail: the client has no partial ticks
}

func milliseconds(v float32) time.Duration {
	return time.Duration(min(max(float64(v), 0), 10_000) * float64(time.Millisecond))
}

func share(v float32) float64 { return min(max(float64(v), 0), 100) / 100 }

// relink applies the link to the connection.
func (s *Session) relink() {
	l := s.link
	if !s.spikeUntil.IsZero() {
		l.Latency += spikeBy
	}
	s.bad.SetLinks(l, l)
}

// expire ends a spike whose time is over, and reports whether the client is frozen.
func (s *Session) expire(now time.Time) (frozen bool) {
	if !s.spikeUntil.IsZero() && !now.Before(s.spikeUntil) {
		s.spikeUntil = time.Time{}
		s.relink()
	}
	return now.Before(s.frozenUntil)
}

// ask sends the player's wishes to the server, once it plays.
func (s *Session) ask() {
	if !s.wishes || s.view.State != client.Playing {
		return
	}
	if s.game.Wish.Send(s.client, s.wish) == nil {
		s.wishes = false
	}
}

func rules(rate int) game.Options { return game.Options{TickRate: rate, Wishes: true} }
