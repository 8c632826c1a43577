package impair

import (
	"time"

	"github.com/foretick/foretick/transport/internal/heap"
)

// line holds what is under way until it is due. Its owner's lock guards all but wait.
type line[T any] struct {
	start time.Time
	heap.Heap[T]
	armed time.Duration // when wait will wake; 0: it does not wait
	kick  chan struct{}
	done  chan struct{}
	timer *time.Timer
}

// limit is how many datagrams may be under way; further ones are lost.
const limit = 1 << 15

func newLine[T any]() line[T] {
	return line[T]{start: time.Now(), kick: make(chan struct{}, 1), done: make(chan struct{}), timer: time.NewTimer(time.Hour)}
}

func (l *line[T]) now() time.Duration { return time.Since(l.start) }

// add puts v under way and reports false if there is too much already.
func (l *line[T]) add(at time.Duration, v T) bool {
	if l.Len() >= limit {
		return false
	}
	l.Push(at, v)
	if l.armed != 0 && at < l.armed {
		l.armed = 0
		select {
		case l.kick <- struct{}{}:
		default:
		}
	}
	return true
}

// due returns what has arrived by now, first things first.
func (l *line[T]) due(now time.Duration) (v T, ok bool) {
	at, ok := l.Next()
	if !ok || at > now {
		return v, false
	}
	_, v = l.Pop()
	return v, true
}

// arm sets the time at which wait shall wake; the owner's lock is held.
func (l *line[T]) arm() {
	at, ok := l.Next()
	if !ok {
		at = l.now() + time.Hour
	}
	l.armed = max(at, 1)
	l.timer.Reset(max(0, at-l.now()))
}

// wait sleeps until something is due, or added that is due earlier, or also has a signal; false: until the end.
func (l *line[T]) wait(also <-chan struct{}) bool {
	select {
	case <-l.done:
		l.timer.Stop()
		return false
	case <-l.timer.C:
	case <-l.kick:
	case <-also:
	}
	return true
}
