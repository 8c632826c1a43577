package impair

import (
	"time"

	"github.com/foretick/foretick/transport/internal/heap"
)

// line holds items in transit until they are due. The owner's lock guards everything except waitForDue.
type line[T any] struct {
	start time.Time
	heap.Heap[T]
	armed time.Duration // time at which waitForDue wakes; 0: it is not waiting
	kick  chan struct{}
	done  chan struct{}
	timer *time.Timer
}

// limit is the most datagrams in transit; more are lost.
const limit = 1 << 15

func newLine[T any]() line[T] {
	return line[T]{start: time.Now(), kick: make(chan struct{}, 1), done: make(chan struct{}), timer: time.NewTimer(time.Hour)}
}

func (l *line[T]) now() time.Duration { return time.Since(l.start) }

// addItem puts v in transit, and returns false if there are too many items.
func (l *line[T]) addItem(at time.Duration, v T) bool {
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

// nextDue returns the next item that has arrived by now, in order of time.
func (l *line[T]) nextDue(now time.Duration) (v T, ok bool) {
	at, ok := l.Next()
	if !ok || at > now {
		return v, false
	}
	_, v = l.Pop()
	return v, true
}

// arm sets the time at which waitForDue wakes. The owner holds the lock.
func (l *line[T]) arm() {
	at, ok := l.Next()
	if !ok {
		at = l.now() + time.Hour
	}
	l.armed = max(at, 1)
	l.timer.Reset(max(0, at-l.now()))
}

// waitForDue sleeps until an item is due, an earlier one is added, or the channel also has a signal. It
// returns false once done is closed.
func (l *line[T]) waitForDue(also <-chan struct{}) bool {
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
