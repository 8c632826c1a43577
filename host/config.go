package host

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/metrics"
	"time"

	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ticket"
)

// Config configures a Host. Transport and NewMatch are required.
type Config struct {
	// Transport is the endpoint that all players connect through. Required. The host reads it, and
	// closes it at the end.
	Transport transport.Endpoint
	// NewMatch makes a match over the endpoint end, which the match closes at its end: a
	// *server.Server, or a *relay.Relay. The worker of the match calls it. On an error the players
	// of the match are refused. Required.
	NewMatch func(name string, end transport.Endpoint) (Match, error)
	// Match returns the match that a peer plays in, and the peer's identity there. nil takes both from
	// a ticket that names a match, with [ticket.SplitIdentity]. An error refuses the peer with the
	// error's text. A panic in it refuses the peer too: see [Stats].HookPanics.
	Match func(info *transport.Info) (name string, identity []byte, err error)
	// Same decides what happens to a second connection of one identity in one match. The second one may
	// come through another part of a joined endpoint. The zero value replaces the old connection. The
	// host's endpoint applies its own rule first, and a match applies server.Config.Same: set all three
	// alike.
	Same transport.Same
	// OnDemand lets the first peer of a match make it. Set it only if Match can be trusted, as it
	// is with tickets. false refuses peers of matches that Allocate did not make.
	OnDemand bool
	// MaxMatches is the most matches at the same time. 0 means 1000. Negative is an error. At most 2²⁰.
	MaxMatches int
	// MaxPlayers is the most peers in all matches together. 0 means no limit but the endpoint's.
	// Negative is an error. At most 2²⁰.
	MaxPlayers int
	// PlayersPerMatch is the limit of peers that the endpoint of a match reports. It is the default of
	// server.Config.MaxClients. Up to twice that many peers may be connected, because a player may
	// reconnect before the server notices that its old connection is lost. 0 means that the endpoint
	// reports no limit. Negative is an error. At most 4096.
	PlayersPerMatch int
	// HeapLimit is the size of the heap's objects, in bytes, above which no match is made. 0 means
	// no limit. At most 2⁴⁶.
	HeapLimit uint64
	// Workers is how many goroutines run matches. 0 means one for each processor. Negative is an
	// error. At most 1024.
	Workers int
	// Inbox is how many datagrams of one peer may wait for its match. Beyond it the oldest is
	// dropped. 0 means 64. Negative is an error. At most 65 536.
	Inbox int
	// Linger is the longest time that matches wait for their last messages to arrive when Run's context ends. 0
	// means 2 s. Negative does not wait. At most 24 h.
	Linger time.Duration
	// Stall is the time after which a step that does not end makes its match stuck. The host then logs
	// the match with the step's stack, and Ready reports false. 0 means 5 s. Negative is an error. At
	// most 24 h.
	Stall time.Duration
	// Abandon is the time after which a match whose step does not end is given up. Its players are
	// closed, OnEnd gets ErrStuck, and its place is lost until the step ends. Less than Stall means
	// Stall. 0 means 30 s. Negative is an error. At most 24 h.
	Abandon time.Duration
	// Kind, when set, names the kind of a match for figures, such as its mode. Figures are summed by
	// kind (see [Host.Figures]). After 32 kinds, matches of further kinds count as kind "other". Any
	// goroutine of the host may call it. If it panics, the match is not made. nil gives all matches the
	// kind "match".
	Kind func(name string) string
	// OnEnd, when set, is called once for each match that has ended, before Run returns. The worker of
	// the match calls it, or Step. A separate goroutine calls it for a match that was given up, and for
	// a match that panicked and has a tape, after the tape is written. So two goroutines may call it at
	// once. A panic in OnEnd is counted and logged.
	OnEnd func(End)
	// Logger logs matches that begin, end and fail. nil is silent.
	Logger *slog.Logger

	heap    func() uint64        // returns the size of the heap's objects; tests replace it
	elapsed func() time.Duration // the clock that steps are measured with; tests replace it
}

// Match is what a host runs: a *server.Server, or a *relay.Relay for a match that sends inputs alone. A later
// version may add methods which both of them have.
//
// A match has ended once it has closed the endpoint that Config.NewMatch was given. One goroutine at a time calls
// Step, Next, Shutdown and Close.
type Match interface {
	// Step does all that is due at now.
	Step(now time.Time)
	// Next returns when Step is due again.
	Next() time.Time
	// Drain makes the match refuse newcomers, and end with its last player. Any goroutine may call it.
	Drain(reason string)
	// Shutdown ends the match once its last messages have arrived, and after linger at most. It does not wait for
	// that: further Steps do.
	Shutdown(reason string, linger time.Duration) error
	// Close ends the match at once.
	Close(reason string) error
	// Figures sets dst to the figures of the match. Any goroutine may call it, also after the match has ended.
	Figures(dst *stats.Server)
}

// End says how a match ended.
type End struct {
	Match string // name of the match
	Err   error  // why the match could not be made, or ErrStuck; nil otherwise
	Panic any    // value of the panic that ended the match; nil if none did
	Stack []byte // stack of the panic, or of the step that did not end
	// Tape is the file with the match's tape. It is set if a system panicked and the server has a
	// recorder: see package flight.
	Tape string
}

var errNoMatch = errors.New("the ticket names no match")

// splitTicket is the default of Config.Match.
func splitTicket(info *transport.Info) (string, []byte, error) {
	name, identity, ok := ticket.SplitIdentity(info.Identity)
	if !ok {
		return "", nil, errNoMatch
	}
	return name, identity, nil
}

func (c *Config) checkConfig() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("host: Config."+format, args...))
		}
	}
	fault(missing(c.Transport), "Transport is nil: pass a listening endpoint, and look at the error of Listen first")
	fault(c.NewMatch == nil, "NewMatch is nil: pass a function that makes a match's server or relay")
	for _, n := range []struct {
		name       string
		value      *int
		zero, most int
	}{{"MaxMatches", &c.MaxMatches, 1000, 1 << 20}, {"MaxPlayers", &c.MaxPlayers, 0, 1 << 20}, {"PlayersPerMatch", &c.PlayersPerMatch, 0, 1 << 12}, {"Workers", &c.Workers, 0, 1 << 10}, {"Inbox", &c.Inbox, 64, 1 << 16}} {
		fault(*n.value < 0 || *n.value > n.most, "%s is %d: use 1 to %d, or 0 for the default", n.name, *n.value, n.most)
		if *n.value == 0 {
			*n.value = n.zero
		}
	}
	fault(c.Same > transport.AllowBoth, "Same is %d: use transport.ReplaceOld, RefuseNew or AllowBoth", c.Same)
	fault(c.Stall < 0 || c.Stall > longest, "Stall is %v: use up to %v, or 0 for 5 s", c.Stall, longest)
	fault(c.Abandon < 0 || c.Abandon > longest, "Abandon is %v: use up to %v, or 0 for 30 s", c.Abandon, longest)
	fault(c.HeapLimit > 1<<46, "HeapLimit is %d: use up to 2⁴⁶ bytes, or 0 for no limit", c.HeapLimit)
	fault(c.Linger > longest, "Linger is %v: use up to %v, 0 for 2 s, or less for none", c.Linger, longest)
	if c.Stall == 0 {
		c.Stall = 5 * time.Second
	}
	if c.Abandon == 0 {
		c.Abandon = 30 * time.Second
	}
	if c.Linger == 0 {
		c.Linger = 2 * time.Second
	}
	if c.Match == nil {
		c.Match = splitTicket
	}
	if c.Kind == nil {
		c.Kind = func(string) string { return "match" }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.heap == nil {
		c.heap = heapObjects
	}
	if c.elapsed == nil {
		c.elapsed = sinceEpoch
	}
	return errors.Join(errs...)
}

// missing reports whether x is nil, or a nil pointer in an interface.
func missing(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// longest bounds the times of a Config.
const longest = 24 * time.Hour

// heapObjects returns the size of the heap's objects.
func heapObjects() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
