package host

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/internal/published"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Errors of Allocate.
var (
	// ErrFull: as many matches run as MaxMatches allows, or the heap is above HeapLimit.
	ErrFull = errors.New("host: no room for another match")
	// ErrExists: a match of this name runs already.
	ErrExists = errors.New("host: this match runs already")
	// ErrDraining: the host takes no new matches.
	ErrDraining = errors.New("host: draining")
)

var errNoServer = errors.New("host: Config.NewMatch returned neither a match nor an error: return one of them")

const codeRefused = transport.Refused

// Host runs matches behind one endpoint. New makes one. Call either Run or Step, from one goroutine.
// Any goroutine may call the other methods.
type Host struct {
	cfg       Config
	endpoint  transport.Endpoint
	events    [256]transport.Event // what Recv fills; used by the porter alone
	turned    []turned             // peers that the porter refuses once the lock is released
	newcomers []newcomer           // the peers that connected in events
	refusals  map[string]*quiet    // refusals that were not logged, by reason
	now       time.Time            // when the porter last read the endpoint; the porter's own
	begun     []string             // matches that the porter made, to be logged
	replaced  []transport.PeerID   // old connections of identities that connected again
	workers   []*worker
	drains    atomic.Pointer[string]
	stops     atomic.Pointer[stop]
	tally     tally
	load      load
	hooks     hooks
	counted   counted
	running   sync.WaitGroup // goroutines of Run
	tails     sync.WaitGroup // goroutines that wait for a disk, or call OnEnd of matches that were given up

	clock   func() time.Duration // Run's clock; nil in the virtual time of Step
	roll    published.Cell[roll] // read by Figures; written under the lock
	ended   roll                 // figures of matches that have ended, for the next roll
	scratch stats.Server         // memory for the figures of a match that ends

	mu      sync.Mutex
	matches map[string]*match
	routes  map[transport.PeerID]*match
	closed  bool          // all has ended
	runs    bool          // Run was called
	start   func(*worker) // begins the goroutine of a worker; set by Run
	// loners are workers that run one match each. They are not in workers: see hang.go.
	loners  []*worker
	hangs   []*hang       // steps that the watch took and that have not been given up
	lost    int           // matches that were given up and whose step still runs: each takes a place
	stopped time.Duration // when the watch first saw stops set
	weighed time.Duration // when the watch last weighed the matches
}

// New makes a host. The error lists every fault of the configuration. On an error the Transport
// stays the caller's.
func New(cfg Config) (*Host, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, endpoint: cfg.Transport, matches: map[string]*match{}, refusals: map[string]*quiet{}, routes: map[transport.PeerID]*match{}}
	h.counted.of, _ = transport.As[transport.Counted](cfg.Transport)
	h.workers = []*worker{newWorker()} // Run makes the others
	return h, nil
}

// Matches appends the names of the matches that run to dst, sorted.
func (h *Host) Matches(dst []string) []string {
	n := len(dst)
	h.mu.Lock()
	for name := range h.matches {
		dst = append(dst, name)
	}
	h.mu.Unlock()
	slices.Sort(dst[n:])
	return dst
}

// Drain makes the host take no new matches. Running matches refuse newcomers, let players reconnect,
// as Server.Drain does, and end by themselves. Run returns when the last one has. The
// reason of the first call counts.
func (h *Host) Drain(reason string) {
	if !h.drains.CompareAndSwap(nil, &reason) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.matches {
		if s := m.made.Load(); s != nil {
			(*s).Drain(reason)
		}
	}
	h.wakeAll()
}

// stop is what Shutdown was called with.
type stop struct {
	reason string
	linger time.Duration
}

// Shutdown makes every match end now, as Server.Shutdown does: each closes when its last messages have
// arrived, and after linger at most. A linger of 0 or less does not wait. Players are told the reason,
// and new matches are refused. Run returns nil when the last match has ended. The reason and the linger
// of the first call count. Any goroutine may call Shutdown.
func (h *Host) Shutdown(reason string, linger time.Duration) {
	h.Drain(reason)
	h.stops.CompareAndSwap(nil, &stop{reason, linger})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakeAll()
}

// wakeAll makes every worker look at its matches. The host is locked: Run adds workers.
func (h *Host) wakeAll() {
	for _, w := range slices.Concat(h.workers, h.loners) {
		w.all.Store(true)
		w.wakeUp()
	}
}

// Allocate makes a match before its first player comes. Its worker calls Config.NewMatch, soon
// after. Errors: ErrFull, ErrExists, ErrDraining, transport.ErrClosed, and one for an empty name.
func (h *Host) Allocate(name string) error {
	kind, err := h.askKind(name)
	if err != nil {
		return fmt.Errorf("host: Config.Kind failed for match %q: %w", name, err)
	}
	h.mu.Lock()
	_, err = h.addMatch(name, kind)
	h.mu.Unlock()
	if err == nil {
		h.logBegin(name)
	}
	return err
}

// logBegin logs a match that began. No lock is held: a log may be slow.
func (h *Host) logBegin(name string) { h.cfg.Logger.Info("match begins", "match", name) }

// addMatch adds a match. The host is locked.
func (h *Host) addMatch(name, kind string) (*match, error) {
	switch {
	case h.closed:
		return nil, transport.ErrClosed
	case name == "":
		return nil, errors.New("host: a match needs a name")
	case h.drains.Load() != nil:
		return nil, ErrDraining
	case h.matches[name] != nil:
		return nil, ErrExists
	case len(h.matches)+h.lost >= h.cfg.MaxMatches:
		return nil, fmt.Errorf("%w: %d run, and %d hang", ErrFull, len(h.matches), h.lost)
	case h.cfg.HeapLimit > 0 && h.cfg.heap() > h.cfg.HeapLimit:
		return nil, fmt.Errorf("%w: the heap is above %d bytes", ErrFull, h.cfg.HeapLimit)
	}
	m := &match{name: name, kind: kind}
	m.port = newPort(h, m)
	h.matches[name] = m
	h.tally.made.Add(1)
	h.tally.matches.Store(int64(len(h.matches)))
	h.enroll(m)
	m.labels = labelled(m)
	m.home = h.leastLoaded()
	m.home.takeMatch(m)
	return m, nil
}

// leastLoaded returns the worker with the fewest matches. The host is locked.
func (h *Host) leastLoaded() *worker {
	return slices.MinFunc(h.workers, func(a, b *worker) int { return int(a.load.Load() - b.load.Load()) })
}

// porter reads the endpoint until nothing is left.
func (h *Host) porter() {
	for n := len(h.events); n == len(h.events); {
		n = h.endpoint.Recv(h.events[:])
		h.newcomers = h.newcomers[:0]
		for i := range h.events[:n] {
			if ev := &h.events[i]; ev.Kind == transport.Connected {
				h.newcomers = append(h.newcomers, h.askGame(ev.Peer))
			}
		}
		h.mu.Lock()
		asked := h.newcomers
		for i := range h.events[:n] {
			if h.events[i].Kind == transport.Connected {
				h.route(&asked[0])
				asked = asked[1:]
				continue
			}
			h.sort(&h.events[i])
		}
		h.mu.Unlock()
		for _, name := range h.begun {
			h.logBegin(name)
		}
		h.begun = h.begun[:0]
		h.refusePeers()
	}
}

// sort hands an event to the match of its peer.
func (h *Host) sort(ev *transport.Event) {
	m := h.routes[ev.Peer]
	switch {
	case m == nil: // refused, or dropped by its match
	case ev.Kind == transport.Data:
		dropped, hurry := m.port.data(ev.Peer, ev.Data, h.now)
		if dropped {
			h.tally.dropped.Add(1)
		}
		if hurry {
			m.home.wakeUp()
		}
	case ev.Kind == transport.Disconnected:
		h.leads(ev.Peer, nil)
		m.port.disconnect(ev.Peer, ev.Code, ev.Reason)
		m.home.wakeUp()
	}
}

// newcomer is a peer that has connected, with what Config.Match and Config.Kind returned for it.
type newcomer struct {
	peer     transport.PeerID
	match    string
	kind     string // the match's kind, if the peer may make the match
	identity []byte // the peer's identity in the match
	whole    []byte // the peer's identity as the endpoint knows it
	there    bool   // the endpoint still had the peer
	address  string
	err      error // why Config.Match or Config.Kind refused the peer
}

// askGame calls Config.Match and Config.Kind for a new peer. No lock is held: they may call the host.
func (h *Host) askGame(peer transport.PeerID) newcomer {
	var info transport.Info
	c := newcomer{peer: peer}
	if c.there = h.endpoint.Info(peer, &info); !c.there {
		return c // the peer is gone already
	}
	name, identity, err := h.askMatch(&info)
	if c.match = name; err == nil && h.cfg.OnDemand {
		c.kind, err = h.askKind(name)
	}
	c.identity, c.whole, c.address, c.err = slices.Clone(identity), slices.Clone(info.Identity), info.Addr, err
	return c
}

// route hands a new peer to its match.
func (h *Host) route(c *newcomer) {
	if !c.there || h.routes[c.peer] != nil {
		return
	}
	away := func(why Refusal, kind string, code transport.Code, reason string) {
		h.tally.refused[why].Add(1)
		h.turned = append(h.turned, turned{c, kind, code, reason})
	}
	if c.err != nil {
		away(RefusedUnnamed, "refused: no match named", transport.Refused, c.err.Error())
		return
	}
	var err error
	var old []*resident // the players of the same identity
	m := h.matches[c.match]
	if m != nil && h.cfg.Same != transport.AllowBoth {
		old = m.port.peersOf(c.identity)
	}
	switch {
	case len(old) > 0 && h.cfg.Same == transport.RefuseNew:
		away(RefusedTwice, "refused: plays already", transport.Refused, "plays in this match already")
		return
	case h.cfg.MaxPlayers > 0 && len(h.routes)-len(old) >= h.cfg.MaxPlayers:
		away(RefusedFull, "refused: the host is full", transport.Full, "the host is full")
		return
	case m != nil:
	case !h.cfg.OnDemand:
		away(RefusedNoMatch, "refused: no such match", transport.Refused, "there is no such match")
		return
	default:
		if m, err = h.addMatch(c.match, c.kind); err != nil {
			why := RefusedNoMatch
			switch {
			case errors.Is(err, ErrFull):
				why = RefusedFull
			case errors.Is(err, ErrDraining):
				why = RefusedDraining
			}
			away(why, "refused: no new match", refusal(err), h.refusalText(err))
			return
		}
		h.begun = append(h.begun, c.match)
	}
	for _, r := range old {
		h.leads(r.id, nil)
		m.port.disconnect(r.id, transport.Replaced, replaced)
		h.replaced = append(h.replaced, r.id)
	}
	if !m.port.addPeer(&resident{id: c.peer, identity: c.identity, whole: c.whole}) {
		away(RefusedFull, "refused: the match is full or over", transport.Full, "the match is full or over")
		return
	}
	h.leads(c.peer, m)
	m.home.wakeUp()
}

// replaced is the reason that the old connection of an identity is closed with.
const replaced = "connected anew"

// leads routes a peer's datagrams to a match; nil drops them. The host is locked.
func (h *Host) leads(peer transport.PeerID, m *match) {
	if m == nil {
		delete(h.routes, peer)
	} else {
		h.routes[peer] = m
	}
	h.tally.players.Store(int64(len(h.routes)))
}

// unroute forgets a peer.
func (h *Host) unroute(peer transport.PeerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leads(peer, nil)
}

// done reports whether a host that drains has no match left.
func (h *Host) done() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drains.Load() != nil && len(h.matches) == 0
}

// Step reads the endpoint, and steps every match that has a tick due at now, that a peer joined or
// left, or that has an inbox half full. It steps them one after another, the oldest match first. It
// returns when Step is due again if nothing arrives. now must not go back.
func (h *Host) Step(now time.Time) (next time.Time) {
	h.now = now
	h.porter()
	h.counted.readCounters(h, now)
	next = h.workers[0].runMatches(h, now)
	h.judgeLoad(now.Sub(time.Unix(0, 0)))
	h.endpoint.Flush()
	return next
}

// Close ends all matches at once, without waiting for messages, and closes the endpoint. While Run runs,
// any goroutine may call it: Close then returns nil at once, as Shutdown without a linger does, and Run
// returns when all has ended. After the end it returns [transport.ErrClosed].
func (h *Host) Close(reason string) error {
	h.mu.Lock()
	if h.runs && !h.closed {
		h.mu.Unlock()
		h.Shutdown(reason, 0)
		return nil
	}
	return h.closeLocked(reason)
}

// closeLocked ends all matches and closes the endpoint. The caller holds the lock, which closeLocked
// releases, so that Run does not begin in between. Workers must not run any more.
func (h *Host) closeLocked(reason string) error {
	if h.closed {
		h.mu.Unlock()
		return transport.ErrClosed
	}
	h.closed = true
	all := slices.Concat(h.workers, h.loners) // loners too: matches that were given up may still run there
	h.mu.Unlock()
	for _, w := range all {
		for _, m := range w.members() {
			if m.server != nil {
				m.guard(func() { _ = m.server.Close(reason) })
			}
			h.reap(m)
		}
	}
	err := h.endpoint.Close(transport.Closed, reason)
	h.counted.next = time.Time{}
	h.counted.readCounters(h, h.wall())
	return err
}
