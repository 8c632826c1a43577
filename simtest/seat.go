package simtest

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/alarm"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// Seat configures a client in a match.
type Seat struct {
	// Up and Down are the links to and from the server.
	Up, Down sim.Link
	// NoRedial leaves a lost connection lost. Otherwise the client's Redial, if
	// unset, is set to dial the match's server again.
	NoRedial bool
	// FrameRate is the number of rendered frames a second, one for each Step of the
	// client. 0 means 60.
	FrameRate int
	// Drift is by how much the client's clock is fast, as a share: 0.0001 gains 8.6
	// s a day. Crystals are within ±0.0001; −0.5 to 1 is allowed.
	Drift float64
	// SyncTest is the number of ticks that the client runs again after each tick. Faults
	// are passed to OnDesync and to each [PredictionChecker]: see [SyncTest]. 0 and
	// negative: none.
	SyncTest int
	OnDesync func(Desync)
	// After, when set, is called after each Step of the client.
	After func(client.View)
	// Wrap, when set, wraps each endpoint of the client, the first and later ones.
	// Use it to watch traffic, or to simulate a lying client.
	Wrap func(transport.Endpoint) transport.Endpoint
}

// traced says that every eighth rendered frame goes into the trace.
const traced = 8

type seat struct {
	client   *client.Client
	inside   probe.Client // internals of the client
	endpoint *sim.Endpoint
	up, down sim.Link
	interval time.Duration // time between rendered frames, on a correct clock
	drift    float64
	after    func(client.View)
	paused   bool
	observes bool
	gone     bool
	next     time.Duration
	frames   int
}

// Dial opens a connection to the match's server without a client, for example to
// send invalid packets. The test receives and sends itself, at times set with
// Net.At.
func (m *Match) Dial(up, down sim.Link) *sim.Endpoint { return m.Net.Dial(m.listen, up, down) }

// Join adds a client to the match; it sets cfg.Transport. The client's first Step
// comes within one rendered frame, at a time drawn from the seed. If cfg has no
// Logger, errors that the client logs are faults of the match: see [Match.Err].
func (m *Match) Join(cfg client.Config, s Seat) (*client.Client, error) {
	if s.FrameRate == 0 {
		s.FrameRate = defaultFrameRate
	}
	s.Drift = min(max(s.Drift, -0.5), 1)
	st := &seat{
		endpoint: m.Net.Dial(m.listen, s.Up, s.Down), observes: cfg.Observe != nil, after: s.After, drift: s.Drift, up: s.Up, down: s.Down,
		interval: time.Duration(float64(time.Second) / float64(s.FrameRate) / (1 + s.Drift)),
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
		cfg.Logger = alarm.Logger(func(err error) { m.recordFault(nil, err) })
	}
	if cfg.Random == nil {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(st.endpoint.ID()))
		cfg.Random = rand.NewChaCha8(seed)
	}
	m.watchMispredictions(&cfg, st)
	var err error
	if st.client, err = client.New(cfg); err != nil {
		return nil, err
	}
	if err := m.watchClient(st, s); err != nil {
		return nil, err
	}
	m.seats = append(m.seats, st)
	st.next = m.Net.Now() + time.Duration(m.rand.Int64N(int64(st.interval)))
	m.Net.At(st.next, func() { m.stepSeat(st) })
	return st.client, nil
}

// watchClient follows the client's messages, requests and sync test.
func (m *Match) watchClient(st *seat, s Seat) error {
	st.inside = probe.OfClient(st.client)
	st.inside.SetArchitecture(architecture)
	st.inside.OnMessage(func(r probe.MessageReceived) {
		for _, c := range m.messages {
			if !st.observes { // observers get copies of messages, which checkers do not count
				m.recordFault(c, c.Received(m, st.client, MessageReceived(r)))
			}
		}
	})
	st.inside.OnRequest(func(r probe.RequestSent) {
		for _, c := range m.asks {
			c.Asked(m, st.client, RequestSent(r))
		}
	})
	return probe.OfClient(st.client).SyncTest(s.SyncTest, func(found probe.Desync) {
		d := desyncOf(found)
		if s.OnDesync != nil {
			s.OnDesync(d)
		}
		for _, c := range m.wrongs {
			m.recordFault(c, c.Desynced(m, st.client, d))
		}
	})
}

// watchMispredictions adds the match's callback to that of the configuration. Explanations
// cost allocations, so they are made only if a checker reads them.
func (m *Match) watchMispredictions(cfg *client.Config, st *seat) {
	if len(m.wrongs) == 0 {
		return
	}
	onMisprediction := cfg.OnMisprediction
	cfg.OnMisprediction = func(w prediction.Misprediction) {
		if onMisprediction != nil {
			onMisprediction(w)
		}
		for _, c := range m.wrongs {
			m.recordFault(c, c.Mispredicted(m, st.client, w))
		}
	}
}

func (m *Match) stepSeat(st *seat) {
	if st.gone {
		return
	}
	if !st.paused {
		t := m.Net.Now()
		v := m.stepClient(st.client, Epoch.Add(t+time.Duration(float64(t)*st.drift)))
		st.frames++
		if st.frames%traced == 0 && m.trace != nil {
			m.number('C', uint64(v.Tick), st.inside.Hash())
		}
		if st.after != nil {
			st.after(v)
		}
		if v.State == client.Closed {
			m.stand(st)
			return
		}
	}
	st.next += st.interval
	m.Net.At(st.next, func() { m.stepSeat(st) })
}

// stepClient calls Step of a client, through aroundClient if it is set.
func (m *Match) stepClient(c *client.Client, now time.Time) (v client.View) {
	if m.aroundClient == nil {
		return c.Step(now)
	}
	m.aroundClient(func() { v = c.Step(now) })
	return v
}

// stand removes a client from the match: its process has ended.
func (m *Match) stand(st *seat) {
	st.gone = true
	m.seats = slices.DeleteFunc(m.seats, func(x *seat) bool { return x == st })
}

func (m *Match) seatOf(c *client.Client) *seat {
	for _, st := range m.seats {
		if st.client == c {
			return st
		}
	}
	return nil
}
