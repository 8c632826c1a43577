package web

import (
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/stats"
)

// figures are measured between two calls of State.
type figures struct {
	began  time.Time
	frames int
	at     time.Time
	last   stats.Client

	fps, down, up, interpolation float64
}

func (f *figures) frame(now time.Time, frozen bool) {
	if f.began.IsZero() {
		f.began, f.at = now, now
	}
	if !frozen {
		f.frames++
	}
}

// measure computes the figures of the time since the last call, twice a second at most.
func (f *figures) measure(now time.Time, st *stats.Client) {
	past := now.Sub(f.at).Seconds()
	if past < 0.5 {
		return
	}
	f.fps = float64(f.frames) / past
	f.down, f.up = float64(st.BytesIn-f.last.BytesIn)/past, float64(st.BytesOut-f.last.BytesOut)/past
	if n := st.Frames - f.last.Frames; n > 0 {
		f.interpolation = ms(st.InterpolationSum-f.last.InterpolationSum) / float64(n)
	}
	f.at, f.frames, f.last = now, 0, *st
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// State returns what the panels show and tests read: numbers, texts and lists by name.
// Call it a few times a second.
func (s *Session) State(now time.Time) map[string]any {
	st := s.client.Stats()
	s.figures.measure(now, &st)
	causes := map[string]any{}
	for c, n := range st.ByCause.All() {
		if n > 0 {
			causes[c.String()] = float64(n)
		}
	}
	why := make([]any, 0, len(s.wrong))
	for _, w := range s.wrong {
		why = append(why, w)
	}
	out := map[string]any{
		"state": s.view.State.String(), "player": float64(s.view.Player), "tick": float64(s.view.Tick),
		"x": float64(s.x), "y": float64(s.y), "stalled": s.view.Stalled, "frozen": now.Before(s.frozenUntil),
		"fps": s.figures.fps, "down": s.figures.down, "up": s.figures.up, "interpolation": s.figures.interpolation,
		"rtt": ms(st.Connection.RTT), "jitter": ms(st.Connection.Jitter), "loss": 100 * st.Connection.Loss,
		"lead": ms(s.view.Lead), "inputDelay": ms(s.view.InputDelay),
		"inputBuffer": ms(st.Clock.InputBuffer), "snapshotBuffer": ms(st.Clock.SnapshotBuffer), "timeScale": st.Clock.TimeScale,
		"predicted": float64(st.PredictedTicks), "mispredictions": float64(st.Mispredictions), "causes": causes,
		"unexplained": float64(s.unknown), "why": why, "replayed": float64(st.Resimulated),
		"hardResets": float64(st.HardResets), "connections": float64(st.Connections), "snapshots": float64(st.Snapshots),
		"responses": float64(s.response.count), "responseMs": ms(s.response.took), "responseTicks": s.response.ticks,
		"compared": float64(s.server.compared), "desyncs": float64(s.server.desyncs), "broken": float64(s.server.broken),
		"serverTick": float64(s.server.newest), "renderTick": float64(s.view.RenderTick),
	}
	if s.view.Err != nil {
		out["error"] = s.view.Err.Error()
	}
	s.stateOfBodies(out)
	s.stateOfSettings(out)
	return out
}

func (s *Session) stateOfBodies(out map[string]any) {
	others := map[string]any{}
	if s.view.State == client.Playing {
		for _, rows := range s.game.Avatars.All(s.view.World) {
			for i := range rows.Len() {
				at, dead := s.game.Pos.Slice(rows)[i], s.game.Status.Slice(rows)[i].Dead
				if rows.Owner() == s.view.Player {
					out["dead"], out["health"] = dead, float64(s.game.HP.Slice(rows)[i].Points)
					out["stunned"], out["ammo"] = s.game.Status.Slice(rows)[i].Stun > 0, float64(s.game.Gun.Slice(rows)[i].Ammo)
				} else {
					others[number(int(rows.Owner()))] = []any{float64(at.X), float64(at.Y)}
				}
			}
		}
		if b, ok := s.server.find(s.server.newest, s.view.Player); ok {
			out["serverX"], out["serverY"] = float64(b.X), float64(b.Y)
		}
	}
	out["others"] = others
	if j := s.shot.truth; j != nil {
		out["shotTick"], out["shotRewound"], out["shotHit"] = float64(j.Tick), float64(j.Rewound), float64(j.Hit)
	}
}

// number returns a number that is not negative as text.
func number(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return number(n/10) + string(rune('0'+n%10))
}

func (s *Session) stateOfSettings(out map[string]any) {
	on := func(off bool) float64 {
		if off {
			return 0
		}
		return 1
	}
	l := s.link
	out["settings"] = map[string]any{
		number(setRTT): 2 * ms(l.Latency), number(setJitter): ms(l.Jitter), number(setLoss): 100 * l.Loss, number(setBurst): float64(l.Burst),
		number(setDuplicate): 100 * l.Duplicate, number(setReorder): 100 * l.Reorder, number(setBandwidth): float64(l.Bandwidth / 1000),
		number(setPrediction): on(s.techniques.NoPrediction), number(setReconciliation): on(s.techniques.NoReconciliation),
		number(setSmoothing): on(s.techniques.NoSmoothing), number(setInterpolation): on(s.techniques.NoInterpolation),
		number(setLagCompensation): on(s.wish.NoLagCompensation), number(setLateInputs): on(s.wish.NoLateInputs),
	}
}
