package lifecycle

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// lineEvery is the least time between two log lines of one kind. It keeps a manager that changes its
// mind or hangs up again and again from filling the log.
const lineEvery = time.Second

// lines logs each kind of line once a second at most, with the number of those left out.
type lines struct {
	log  *slog.Logger
	mu   sync.Mutex
	kind map[string]*lineKind
}

type lineKind struct {
	next    time.Time // no line is logged before this time
	skipped int
}

// mayLog reports whether a line of a kind may be logged now. If not, it counts the line as skipped.
func (l *lines) mayLog(kind string) (skipped int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kind == nil {
		l.kind = map[string]*lineKind{}
	}
	k := l.kind[kind]
	if k == nil {
		k = &lineKind{}
		l.kind[kind] = k
	}
	now := time.Now()
	if now.Before(k.next) {
		k.skipped++
		return 0, false
	}
	skipped, k.skipped, k.next = k.skipped, 0, now.Add(lineEvery)
	return skipped, true
}

// logLine logs a line, unless one of its kind was logged in the second before. call tells apart kinds
// that share a text.
func (l *lines) logLine(level slog.Level, text, call string, args ...any) {
	skipped, due := l.mayLog(text + call)
	if !due {
		return
	}
	if call != "" {
		args = append([]any{"call", call}, args...)
	}
	if skipped > 0 {
		args = append(args, "skipped", skipped)
	}
	l.log.Log(context.Background(), level, text, args...)
}
