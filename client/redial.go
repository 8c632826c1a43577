package client

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/transport"
)

const (
	redialFirst = 250 * time.Millisecond // The wait after the first attempt that failed. It doubles with each failure.
	redialMost  = time.Second            // The longest wait between two attempts.
	redialPlay  = 4                      // A wait varies at random by a part in so many.
	dialSilent  = time.Second            // The first attempt may go unanswered this long and six round trips.
	resumeTime  = 30 * time.Second       // The client tries for this time of Steps, or longer if the server holds places longer.
	resumeStep  = time.Second            // A Step counts for this at most.
)

var errNoEndpoint = errors.New("foretick: client.Config.Redial returned neither an endpoint nor an error: return one of them")

// redialling is the state of reconnecting after a lost connection.
type redialling struct {
	ran      time.Duration // how much time Steps took since the connection was lost
	by       error         // why the connection was lost, or why no new one could be made
	begun    time.Duration // the start of the last attempt
	next     time.Duration // when the next attempt is due
	wait     time.Duration // the time between a failed attempt and the next
	patience time.Duration // how long an attempt may be unanswered
}

// comesBack reports whether the client may try another connection after a loss with this code.
func (l *link) comesBack(code transport.Code) bool {
	switch code {
	case transport.Timeout, transport.Unreachable, transport.Gone, transport.Restart:
		return true
	case transport.Closed: // by the endpoint of a server that shuts down, while its port is still open
		return l.view.State == Resuming && !l.up
	case transport.Full: // perhaps because of what is left of the lost connection
		return l.view.State == Resuming
	}
	return false
}

// lose ends the connection. Unless one end wanted that, the client then tries another.
func (l *link) lose(why *transport.DisconnectError) {
	if !l.comesBack(why.Code) || l.cfg.Redial == nil || l.place.token == [16]byte{} && l.cfg.Observe == nil || l.stats.Connections == 0 {
		l.endConnection(why)
		return
	}
	if l.view.State == Resuming {
		if why.Code == transport.Full {
			l.lost.by = why
		}
		l.up = false
		l.lost.next = max(l.now, l.lost.begun+l.redialWait())
		return
	}
	l.cfg.Logger.Info("connection lost", append(l.who(), "code", why.Code, "reason", why.Reason)...)
	l.kept = l.conn
	l.view.State, l.up = Resuming, false
	l.lost = redialling{by: why, next: l.now, wait: redialFirst, patience: dialSilent + 6*l.conn.RTT()}
}

// notePassed handles the time that passed between two Steps, and the part of it that counts. In a Step
// after a pause the client receives again, so the server's silence counts from there. Hardly any of the
// pause counts as time in which the client tried to reconnect.
func (l *link) notePassed(passed, counts time.Duration) {
	l.lost.ran += min(counts, resumeStep)
	if l.stood == 0 && passed > l.cfg.Timeout/2 {
		l.stood, l.woke = passed, l.now
	}
}

// silent reports whether the server is silent for too long. If it had reason to drop the client
// meanwhile, it gets a shorter time, provided that the client can reconnect.
func (l *link) silent() bool {
	silence, most := l.conn.Silent(l.now), l.cfg.Timeout
	if l.stood > 0 {
		silence = min(silence, l.now-l.woke)
		if l.stood > most && l.cfg.Redial != nil {
			most = min(most, dialSilent+6*l.conn.RTT())
		}
	}
	return silence > most
}

// breakOff ends a connection that is useless, as if it had been lost.
func (l *link) breakOff(why string) {
	l.endpoint.Disconnect(l.peer, transport.Timeout, "silent for too long")
	l.lose(&transport.DisconnectError{Code: transport.Timeout, Reason: why})
}

// redialWait returns the time from one attempt to the next. It varies, so that not all clients of a
// lost server return at once.
func (l *link) redialWait() time.Duration {
	wait := l.lost.wait
	l.lost.wait = min(2*wait, redialMost)
	var b [8]byte
	if _, err := io.ReadFull(l.cfg.Random, b[:]); err != nil {
		return wait
	}
	share := float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53) // 0 to 1
	return wait + time.Duration((2*share-1)*float64(wait/redialPlay))
}

// redial makes new connections until one is up or the time is over. It gives an unanswered dial up
// sooner than a connection, because a transport may send ever less often while the server is already
// back. Each dial gets more time than the last, in case the path became longer.
func (l *link) redial() {
	if l.up {
		return
	}
	if l.lost.ran > max(resumeTime, l.place.hold) {
		l.endConnection(l.lost.by)
		return
	}
	if l.now < l.lost.next {
		return
	}
	_ = l.endpoint.Close(transport.Timeout, "")
	e, err := l.cfg.Redial()
	l.lost.begun = l.now
	if err == nil && guard.Missing(e) {
		if err = errNoEndpoint; l.lost.by != err {
			l.lost.by = err
			l.cfg.Logger.Error("cannot reconnect", append(l.who(), "err", err)...)
		}
	}
	if err != nil {
		l.lost.next = l.now + l.redialWait()
		return
	}
	l.endpoint = e
	l.lost.next = l.now + l.lost.patience
	l.lost.patience = max(l.lost.patience, min(2*l.lost.patience, l.cfg.Timeout))
}
