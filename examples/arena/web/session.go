package web

import (
	"math"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
)

// Config says how a session reaches its server.
type Config struct {
	// Play dials the match. Required.
	Play func() (transport.Endpoint, error)
	// Truth dials the server's own view of the match: see [PutBodies]. nil plays without it.
	Truth func() (transport.Endpoint, error)
	// Seed is the seed of the bad network.
	Seed uint64
	// TickRate is the server's tick rate. 0 means 30.
	TickRate int
}

// Session is one player of a page. It is not safe for concurrent use.
type Session struct {
	cfg     Config
	game    *game.Game
	client  *client.Client
	view    client.View
	devices devices
	bad     *impair.Endpoint
	truth   transport.Endpoint
	events  [32]transport.Event

	link        sim.Link
	techniques  client.Techniques
	wish        game.Wish
	wishes      bool // the wish must still be sent
	spikeUntil  time.Time
	frozenUntil time.Time

	now      time.Time
	x, y     float32 // the player's own body on the screen
	able     bool    // the player is alive and not stunned
	server   truths
	response response
	shot     lastShot
	tracers  []tracer
	hurtAt   time.Time
	wrong    []string // the newest explanations of corrections
	unknown  uint64   // corrections without a known cause, or caused by the game's code
	numbers  list
	figures  figures
}

// tracer is a line of fire that fades out.
type tracer struct {
	x, y, x2, y2 float32
	at           time.Time
	own          bool
}

const (
	tracerFor = 250 * time.Millisecond
	shotFor   = 4 * time.Second
	hurtFor   = 300 * time.Millisecond
	keptWrong = 8
)

// NewSession returns a session whose client connects with its first steps.
func NewSession(cfg Config) (*Session, error) {
	if cfg.TickRate == 0 {
		cfg.TickRate = 30
	}
	s := &Session{cfg: cfg, game: game.NewGame(rules(cfg.TickRate)), server: newTruths(), numbers: list{make([]float32, 0, ListSize)}}
	var err error
	if s.devices, err = newDevices(); err != nil {
		return nil, err
	}
	p, err := s.game.Protocol()
	if err != nil {
		return nil, err
	}
	s.game.Watch.Aimed = s.aimed
	s.game.Watch.Hurt = func(*foretick.Frame, foretick.Tick, game.Hurt) { s.hurtAt = s.now }
	play, err := s.dial()
	if err != nil {
		return nil, err
	}
	s.client, err = client.New(client.Config{
		Protocol: p, Transport: play, Redial: s.dial,
		Sample:          client.Sample(&s.game.Cmd, func(v client.View) game.Command { return s.devices.sample(v, s.x, s.y) }),
		OnMisprediction: s.explain,
		OnSession:       func(client.Session) { s.wishes = s.wish != game.Wish{} },
	})
	if err == nil && cfg.Truth != nil {
		s.truth, err = cfg.Truth()
	}
	return s, err
}

// dial connects through the bad network.
func (s *Session) dial() (transport.Endpoint, error) {
	e, err := s.cfg.Play()
	if err != nil {
		return nil, err
	}
	s.bad = impair.Wrap(e, s.link, s.link, s.cfg.Seed)
	s.relink()
	return s.bad, nil
}

// Ready is signalled when something arrived from the server. After a lost connection it returns another
// channel.
func (s *Session) Ready() <-chan struct{} { return s.bad.Ready() }

// Close leaves the match.
func (s *Session) Close() {
	_ = s.client.Close()
	if s.truth != nil {
		_ = s.truth.Close(transport.Closed, "")
	}
}

// explain keeps the explanation of a correction.
func (s *Session) explain(m prediction.Misprediction) {
	if m.Cause == prediction.Code || m.Cause == prediction.Unknown || m.Cause == prediction.Untracked {
		s.unknown++
	}
	if len(s.wrong) == keptWrong {
		s.wrong = append(s.wrong[:0], s.wrong[1:]...)
	}
	s.wrong = append(s.wrong, m.Why())
}

// Events handles the events of a frame: EventSize numbers each. It skips numbers that are not an event.
func (s *Session) Events(now time.Time, numbers []float32) {
	for ; len(numbers) >= EventSize; numbers = numbers[EventSize:] {
		kind, which, v := int(numbers[0]), int(numbers[1]), numbers[2]
		if kind == eventSetting {
			s.set(now, which, v)
			continue
		}
		if kind == eventAim {
			s.devices.event(kind, 0, numbers[1], v)
			continue
		}
		s.devices.event(kind, which, v, 0)
		s.response.press(s, now)
	}
}

// Step plays on without drawing, for a hidden page.
func (s *Session) Step(now time.Time) {
	s.now = now
	if s.expire(now) {
		return
	}
	s.view = s.client.Step(now)
	s.ask()
	s.takeTruth()
	s.x, s.y = s.own()
	s.response.frame(s, now)
	s.server.compare(s)
}

// Frame plays on and returns the draw list, which is valid until the next call.
func (s *Session) Frame(now time.Time) []float32 {
	frozen := now.Before(s.frozenUntil)
	s.Step(now)
	s.figures.frame(now, frozen)
	s.draw(now, frozen)
	return s.numbers.numbers
}

// own returns the place of the player's own body on the screen.
func (s *Session) own() (x, y float32) {
	if s.view.State == client.Playing {
		for _, rows := range s.game.Avatars.Owned(s.view.World, s.view.Player) {
			at, status := s.game.Pos.Slice(rows)[0], s.game.Status.Slice(rows)[0]
			s.able = !status.Dead && status.Stun == 0
			return at.X, at.Y
		}
	}
	return s.x, s.y
}

// lastShot holds the player's last shots as each end has them. The newest shot that both ends have is
// drawn, because a gun may fire faster than the server's verdicts arrive.
type lastShot struct {
	fired  []firedShot
	judged []TruthShot
	shown  *firedShot
	truth  *TruthShot
}

// firedShot is a shot as its shooter's screen showed it.
type firedShot struct {
	at           time.Time
	tick         foretick.Tick
	x, y, x2, y2 float32
	saw          []lagcomp.Sphere
}

// keptShots is how many shots wait for what the other end has of them.
const keptShots = 32

// aimed records a shot of the player as its screen shows it.
func (s *Session) aimed(f *foretick.Frame, _ foretick.PlayerID, ray lagcomp.Ray, seen foretick.HitView) {
	shot := firedShot{at: s.now, tick: f.Tick, x: ray.X, y: ray.Y, x2: ray.X + ray.DX*ray.Range, y2: ray.Y + ray.DY*ray.Range}
	s.tracers = append(s.tracers, tracer{shot.x, shot.y, shot.x2, shot.y2, s.now, true})
	for _, rows := range s.game.Avatars.All(f.World) {
		for i := range rows.Len() {
			if v, ok := seen.Hitbox(rows.Entity(i), 0); ok {
				if ball, round := v.Sphere(); round {
					shot.saw = append(shot.saw, ball)
				}
			}
		}
	}
	l := &s.shot
	if len(l.fired) == keptShots {
		l.fired = append([]firedShot(nil), l.fired[1:]...) // a new array, because shown may point into the old one
	}
	l.fired = append(l.fired, shot)
	l.match(f.Tick)
}

// take records the server's verdict on a shot.
func (l *lastShot) take(t TruthShot) {
	if len(l.judged) == keptShots {
		l.judged = append([]TruthShot(nil), l.judged[1:]...)
	}
	l.judged = append(l.judged, t)
	l.match(t.Tick)
}

// match shows the shot of a tick if both ends have it.
func (l *lastShot) match(t foretick.Tick) {
	for i := range l.fired {
		for k := range l.judged {
			if l.fired[i].tick == t && l.judged[k].Tick == t {
				l.shown, l.truth = &l.fired[i], &l.judged[k]
			}
		}
	}
}

// response measures how long the screen takes to show a key press: from a press that makes the standing
// body walk to the first frame in which the body has moved.
type response struct {
	waits bool
	at    time.Time
	tick  float64 // predicted time, in ticks
	x, y  float32
	still int // frames for which the body stood
	lastX float32
	lastY float32

	count uint32
	took  time.Duration
	ticks float64
}

// moves is how far a body must move to count as moving, in metres.
const moves = 0.002

func (s *Session) time() float64 { return float64(s.view.Tick) - 1 + float64(s.view.Fraction) }

func (r *response) press(s *Session, now time.Time) {
	m := s.devices.controls.Map
	if walks := m.Value("move") != 0; walks && s.able && !r.waits && r.still > 20 {
		r.waits, r.at, r.tick, r.x, r.y = true, now, s.time(), s.x, s.y
	}
}

func (r *response) frame(s *Session, now time.Time) {
	if s.x == r.lastX && s.y == r.lastY {
		r.still++
	} else {
		r.still = 0
	}
	r.lastX, r.lastY = s.x, s.y
	switch {
	case r.waits && math.Hypot(float64(s.x-r.x), float64(s.y-r.y)) > moves:
		r.waits = false
		r.count++
		r.took, r.ticks = now.Sub(r.at), s.time()-r.tick
	case r.waits && (!s.able || now.Sub(r.at) > 3*time.Second):
		r.waits = false // give up: the body cannot walk that way
	}
}
