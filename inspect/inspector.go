package inspect

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/misuse"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
)

// Tick is the number of a simulation step.
type Tick = foretick.Tick

// Config configures an Inspector. Zero in a field means the default that its comment names.
type Config struct {
	// Samples is the number of ticks that are kept of each end. 0 means 1800, a minute at 30
	// ticks a second. Negative is an error. At most 65 536.
	Samples int
	// Events is the number of events that are kept of all ends together: corrections,
	// missing inputs, players that come and go. The same number of log lines is kept. 0 means
	// 2048. Negative is an error. At most 65 536.
	Events int
	// NoBytes does not count the bytes of snapshots by component and field. While the
	// inspector is open, counting makes a server code each record of a snapshot a second
	// time, and a client read records word by word.
	NoBytes bool
	// Clock measures the Steps of clients: it returns the time since any moment, such as
	// time.Since of the start. With nil the times are 0, except in [client.Client.Run], which
	// has its own clock. A server uses [server.Config].Clock.
	Clock func() time.Duration
}

const (
	defaultSamples = 1800
	defaultEvents  = 2048
	mostKept       = 1 << 16
	mostEnds       = 4096
	mostName       = 64 // bytes
)

// Inspector collects data of the servers and clients of this process.
type Inspector struct {
	cfg    Config
	events eventRing
	logs   eventRing

	mu    sync.Mutex
	opens int
	ends  []*end // servers and clients, in the order in which they were added
}

// New returns an inspector without ends. It panics with a foretick.UsageError if a
// number of the config is out of its bounds.
func New(cfg Config) *Inspector {
	if cfg.Samples == 0 {
		cfg.Samples = defaultSamples
	}
	if cfg.Events == 0 {
		cfg.Events = defaultEvents
	}
	if cfg.Samples < 2 || cfg.Samples > mostKept || cfg.Events < 2 || cfg.Events > mostKept {
		misuse.Panicf("inspect: Config.Samples is %d and Events %d: use 2 to %d, or 0 for %d and %d", cfg.Samples, cfg.Events, mostKept, defaultSamples, defaultEvents)
	}
	return &Inspector{cfg: cfg, events: eventRing{most: cfg.Events}, logs: eventRing{most: cfg.Events}}
}

// Errors of the inspector's methods.
var (
	// ErrNoEnd is returned for an end that was not added, or was removed.
	ErrNoEnd = errors.New("inspect: there is no such end")
	// ErrBusy is returned when too many calls wait for an end's tick.
	ErrBusy = errors.New("inspect: too many questions wait for the end of the tick: ask again after it")
	// ErrClient is returned when a client is asked for what only a server has: edits, and what a
	// player receives.
	ErrClient = errors.New("inspect: a client's world follows the server: ask the server")
)

// AddServer adds a server under a name. Names are unique and have 1 to 64 bytes. A server
// can be in one Inspector only.
func (in *Inspector) AddServer(name string, s *server.Server) error {
	if s == nil {
		return fmt.Errorf("inspect: server %q is nil: add it after server.New, and look at its error first", name)
	}
	return in.addEnd(newServerEnd(in, name, s))
}

// AddClient adds a client under a name, as AddServer does.
func (in *Inspector) AddClient(name string, c *client.Client) error {
	if c == nil {
		return fmt.Errorf("inspect: client %q is nil: add it after client.New, and look at its error first", name)
	}
	return in.addEnd(newClientEnd(in, name, c))
}

func (in *Inspector) addEnd(e *end) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case e.name == "" || len(e.name) > mostName:
		return fmt.Errorf("inspect: a name of %d bytes: use 1 to %d", len(e.name), mostName)
	case len(in.ends) == mostEnds:
		return fmt.Errorf("inspect: there are %d ends already: Remove those that are over", mostEnds)
	case e.internals.Tap() != nil:
		return fmt.Errorf("inspect: %q is looked at by another Inspector: use one for a process", e.name)
	}
	for _, x := range in.ends {
		if x.name == e.name {
			return fmt.Errorf("inspect: two ends are named %q: give each a name of its own", e.name)
		}
	}
	in.ends = append(in.ends, e)
	if in.opens > 0 {
		e.openTap()
	}
	return nil
}

// Remove removes an end, such as a match that is over. Its events stay. It does nothing if no
// end has this name.
func (in *Inspector) Remove(name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, e := range in.ends {
		if e.name == name {
			if in.opens > 0 {
				e.closeTap()
			}
			in.ends = append(in.ends[:i], in.ends[i+1:]...)
			return
		}
	}
}

// Open begins to collect at every end, and returns a function that stops it. If Open was called
// several times, collecting ends with the last stop, at each end with its next tick. A second
// call of the same stop does nothing.
func (in *Inspector) Open() (stop func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.opens++; in.opens == 1 {
		for _, e := range in.ends {
			e.openTap()
		}
	}
	return sync.OnceFunc(func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.opens--; in.opens == 0 {
			for _, e := range in.ends {
				e.closeTap()
			}
		}
	})
}

// End describes a server or client.
type End struct {
	Name     string `json:"name"`
	Role     string `json:"role"` // server or client
	Game     string `json:"game"`
	Version  int    `json:"version"`
	TickRate int    `json:"tick_rate"` // ticks a second
	Tick     Tick   `json:"tick"`      // newest tick that was collected; 0 before the first
	Faults   uint64 `json:"faults"`    // panics of this package while it collected; please report them
	Fault    string `json:"fault,omitempty"`
	Counted  string `json:"counted"` // counters of the end that are not zero, as one line for a log
}

// Ends lists the servers and clients, in the order in which they were added.
func (in *Inspector) Ends() []End {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make([]End, len(in.ends))
	for i, e := range in.ends {
		out[i] = e.describe()
	}
	return out
}

// findEnd finds an end; the empty name is the first one.
func (in *Inspector) findEnd(name string) (*end, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.ends {
		if name == "" || e.name == name {
			return e, nil
		}
	}
	return nil, ErrNoEnd
}

// reported adds an event for a correction that a client reported to its server. It does nothing if
// the client is an end of this inspector and added the event itself.
func (in *Inspector) reported(end string, player uint16, m *prediction.Misprediction) {
	text := m.String()
	begins := text
	if len(m.Differences) > 0 { // a report has the first difference only
		begins = fmt.Sprintf("tick %d: %s", m.Tick, m.Differences[0])
	}
	if in.events.noted(end, m.Tick, begins) {
		return
	}
	in.events.addEvent(Event{
		End: end, Tick: m.Tick, Kind: "correction", Cause: m.Cause.String(), Player: player,
		Text: fmt.Sprintf("player %d: %s", player, text), Detail: []byte(m.JSON()),
	})
}

// corrected adds an event for a correction of a client.
func (in *Inspector) corrected(end string, m *prediction.Misprediction) {
	in.events.addEvent(Event{
		End: end, Tick: m.Tick, Kind: "correction", Cause: m.Cause.String(), Player: m.Player,
		Text: m.String(), Detail: []byte(m.JSON()),
	})
}
