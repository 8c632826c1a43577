package foretick

import (
	"log/slog"
	"time"

	"github.com/foretick/foretick/transport"
)

// logEvery is the time between two lines of one kind about abuse or refusals, so
// that nobody outside can fill the log.
const logEvery = time.Minute

// logLimit counts what was not logged, by kind. Kinds are fixed texts.
type logLimit map[string]*logKind

type logKind struct {
	next    time.Duration // no line of the kind before
	skipped uint64
}

// allow reports whether a line of a kind may be logged at t, and how many were left
// out since the last one.
func (l logLimit) allow(kind string, t time.Duration) (skipped uint64, ok bool) {
	return l.allowEach(logEvery, kind, t)
}

// allowEach is allow for a kind of which one line may be logged in so much time.
func (l logLimit) allowEach(every time.Duration, kind string, t time.Duration) (skipped uint64, ok bool) {
	k := l[kind]
	if k == nil {
		k = &logKind{}
		l[kind] = k
	}
	if t < k.next {
		k.skipped++
		return 0, false
	}
	skipped, k.next, k.skipped = k.skipped, t+every, 0
	return skipped, true
}

// serverLog logs what peers do, in bounds.
type serverLog struct {
	Logger *slog.Logger
	limits logLimit
}

// abuse logs what a peer did or was refused, once a minute at most for each kind.
func (l *serverLog) abuse(now time.Duration, kind string, p *player, args ...any) {
	l.refusal(now, kind, p.session.peer, p.session.address, p.session.identity, append(args, "session", p.session.number, "player", p.owner)...)
}

// refusal is abuse for a peer that did not get as far as a player.
func (l *serverLog) refusal(now time.Duration, kind string, peer transport.PeerID, address string, identity []byte, args ...any) {
	skipped, ok := l.limits.allow(kind, now)
	if !ok {
		return
	}
	line := make([]any, 0, 8+len(args))
	line = append(line, "peer", peer, "address", address, slog.String("identity", string(identity)), "skipped", skipped)
	l.Logger.Warn(kind, append(line, args...)...)
}
