package simtest

import (
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Seat is a client's place in a match.
type Seat struct {
	// Up and Down are the links to and from the server.
	Up, Down sim.Link
	// NoRedial leaves a lost connection lost. Without it the client's Redial, if
	// it has none, is set to dial the match's server again.
	NoRedial bool
	// Pictures a second that the client steps at. 0 means 60.
	Pictures int
	// Drift is by how much the client's clock is fast, as a share: 0.0001 gains
	// 8.6 s a day. Crystals are within ±0.0001; −0.5 to 1 is allowed.
	Drift float64
	// After, when set, is called after each of its Steps.
	After func(foretick.View)
	// Wrap, when set, stands between the client and its endpoint, the first and
	// each later one: to watch what passes, or to play a client that lies.
	Wrap func(transport.Endpoint) transport.Endpoint
}

// traced is how many pictures lie between those that go into the trace.
const traced = 8

type seat struct {
	client   *foretick.Client
	endpoint *sim.Endpoint
	up, down sim.Link
	interval time.Duration // between pictures, in true time
	drift    float64
	after    func(foretick.View)
	paused   bool
	gone     bool
	next     time.Duration
	pictures int
}

// Dial opens a connection to the match's server with nothing at this end of it:
// for a client of the test's own, one that breaks the rules for instance. The
// test receives and sends by itself, at moments that it sets with Net.At.
func (m *Match) Dial(up, down sim.Link) *sim.Endpoint { return m.Net.Dial(m.listen, up, down) }

// Join adds a client to the match: cfg.Transport is set by it. Its first Step
// comes within one picture of now, at a moment drawn from the seed. Where cfg has no
// Logger, what the client logs as an error is a fault of the match: see [Match.Err].
func (m *Match) Join(cfg foretick.ClientConfig, s Seat) (*foretick.Client, error) {
	if s.Pictures == 0 {
		s.Pictures = DefaultPictures
	}
	s.Drift = min(max(s.Drift, -0.5), 1)
	st := &seat{
		endpoint: m.Net.Dial(m.listen, s.Up, s.Down), after: s.After, drift: s.Drift, up: s.Up, down: s.Down,
		interval: time.Duration(float64(time.Second) / float64(s.Pictures) / (1 + s.Drift)),
	}
	wrap := s.Wrap
	if wrap == nil {
		wrap = func(e transport.Endpoint) transport.Endpoint { return e }
	}
	cfg.Transport = wrap(st.endpoint)
	if cfg.Redial == nil && !s.NoRedial {
		cfg.Redial = func() (transport.Endpoint, error) {
			st.endpoint = m.Net.Dial(m.listen, st.up, st.down)
			return wrap(st.endpoint), nil
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(alarm{func(err error) { m.fail(nil, err) }})
	}
	if cfg.Random == nil {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(st.endpoint.ID()))
		cfg.Random = rand.NewChaCha8(seed)
	}
	m.watchClient(&cfg, st)
	var err error
	if st.client, err = foretick.NewClient(cfg); err != nil {
		return nil, err
	}
	m.seats = append(m.seats, st)
	st.next = m.Net.Now() + time.Duration(m.rand.Int64N(int64(st.interval)))
	m.Net.At(st.next, func() { m.stepSeat(st) })
	return st.client, nil
}

// watchClient puts the match's own ears beside those of the configuration.
func (m *Match) watchClient(cfg *foretick.ClientConfig, st *seat) {
	onMessage, onRequest := cfg.OnMessage, cfg.OnRequest
	cfg.OnMessage = func(r foretick.MessageReceived) {
		if onMessage != nil {
			onMessage(r)
		}
		for _, c := range m.messages {
			m.fail(c, c.Received(m, st.client, r))
		}
	}
	cfg.OnRequest = func(r foretick.RequestSent) {
		if onRequest != nil {
			onRequest(r)
		}
		for _, c := range m.asks {
			c.Asked(m, st.client, r)
		}
	}
	m.watchPrediction(cfg, st)
}

// watchPrediction is watchClient of predictions: explanations cost allocations, so
// they are made only where somebody reads them.
func (m *Match) watchPrediction(cfg *foretick.ClientConfig, st *seat) {
	if len(m.wrongs) == 0 {
		return
	}
	onMisprediction, onDivergence := cfg.OnMisprediction, cfg.OnDesync
	cfg.OnMisprediction = func(w prediction.Misprediction) {
		if onMisprediction != nil {
			onMisprediction(w)
		}
		for _, c := range m.wrongs {
			m.fail(c, c.Mispredicted(m, st.client, w))
		}
	}
	cfg.OnDesync = func(d foretick.Desync) {
		if onDivergence != nil {
			onDivergence(d)
		}
		for _, c := range m.wrongs {
			m.fail(c, c.Desynced(m, st.client, d))
		}
	}
}

func (m *Match) stepSeat(st *seat) {
	if st.gone {
		return
	}
	if !st.paused {
		t := m.Net.Now()
		v := st.client.Step(Epoch.Add(t + time.Duration(float64(t)*st.drift)))
		st.pictures++
		if st.pictures%traced == 0 {
			m.number('C', uint64(v.Tick), st.client.Hash())
		}
		if st.after != nil {
			st.after(v)
		}
		if v.State == foretick.Closed {
			m.stand(st)
			return
		}
	}
	st.next += st.interval
	m.Net.At(st.next, func() { m.stepSeat(st) })
}

// stand takes a client out of the match: its process has ended.
func (m *Match) stand(st *seat) {
	st.gone = true
	m.seats = slices.DeleteFunc(m.seats, func(x *seat) bool { return x == st })
}

func (m *Match) seatOf(c *foretick.Client) *seat {
	for _, st := range m.seats {
		if st.client == c {
			return st
		}
	}
	return nil
}
