package server

import (
	"log/slog"
	"time"

	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// endpointCounts has the counters of the server's own endpoint. They count peers that the endpoint
// refused, which the server never saw. A match of a host has none.
type endpointCounts struct {
	of    transport.Counted // nil: it has no counters
	newly []transport.Count
	told  []transport.Count // as of the newest log line about refusals
	shown []stats.Count
	next  time.Duration // when to read them again
}

// readEvery is the time between two readings of the counters.
const readEvery = time.Second

func newEndpointCounts(e transport.Endpoint) (c endpointCounts) {
	c.of, _ = transport.As[transport.Counted](e)
	return c
}

// read reads the counters once a second, and logs refusals at most once a minute.
func (c *endpointCounts) read(now time.Duration, logs *peerLog) {
	if c.of == nil || now < c.next {
		return
	}
	c.next = now + readEvery
	c.newly = c.of.AppendCounts(c.newly[:0])
	c.shown = c.shown[:0]
	for _, n := range c.newly {
		c.shown = append(c.shown, stats.Count(n))
	}
	refusals := transport.RefusedLine(c.told, c.newly)
	if refusals == "" {
		return
	}
	if _, due := logs.allow("refused by the endpoint"); due {
		logs.Logger.Warn(refusals)
		c.told = append(c.told[:0], c.newly...)
	}
}

// logEvery is the time between two lines of one kind about abuse or refusals, so that no outsider can
// fill the log.
const logEvery = time.Minute

// logKind counts the lines of one kind that were not logged.
type logKind struct {
	next    time.Duration // no line of the kind is logged before
	skipped uint64
}

// peerLog logs what peers do, with a limit for each kind of line.
type peerLog struct {
	Logger *slog.Logger
	clock  *matchClock
	limits map[string]*logKind // by kind; kinds are fixed texts
}

// allow reports whether a line of a kind may be logged now, and returns how many were left out since
// the last one.
func (l *peerLog) allow(kind string) (skipped uint64, ok bool) {
	return l.allowEach(logEvery, kind)
}

// allowEach is allow for a kind of which one line may be logged in the time every.
func (l *peerLog) allowEach(every time.Duration, kind string) (skipped uint64, ok bool) {
	k, t := l.limits[kind], l.clock.now
	if k == nil {
		k = &logKind{}
		l.limits[kind] = k
	}
	if t < k.next {
		k.skipped++
		return 0, false
	}
	skipped, k.next, k.skipped = k.skipped, t+every, 0
	return skipped, true
}

// abuse logs what a peer did or why it was refused, at most once a minute for each kind.
func (l *peerLog) abuse(kind string, p *player, args ...any) {
	l.refusal(kind, p.session.peer, p.session.address, p.session.identity, append(args, "session", p.session.number, "player", p.owner)...)
}

// refusal is abuse for a peer that never became a player.
func (l *peerLog) refusal(kind string, peer transport.PeerID, address string, identity []byte, args ...any) {
	skipped, ok := l.allow(kind)
	if !ok {
		return
	}
	line := make([]any, 0, 8+len(args))
	line = append(line, "peer", peer, "address", address, slog.String("identity", string(identity)), "skipped", skipped)
	l.Logger.Warn(kind, append(line, args...)...)
}
