package inspect

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// LogHandler returns a handler that keeps the newest lines for [Inspector.Logs] and passes
// all on to next, which may be nil. Give it to [slog.New], and the logger to
// [server.Config].Logger. Lines of level Debug are not kept. A logger with an attribute "end",
// as in logger.With("end", "match 1"), writes lines of that end. A line without an attribute
// "tick" gets the newest tick of its end while the inspector is open.
func (in *Inspector) LogHandler(next slog.Handler) slog.Handler {
	return &logHandler{in: in, next: next}
}

type logHandler struct {
	in    *Inspector
	next  slog.Handler
	attrs string // text of the attributes of WithAttrs
	group string // prefix of the attributes' names, from WithGroup
	end   string // name of the end, from an attribute "end" of WithAttrs
}

func (h *logHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.next != nil && h.next.Enabled(ctx, l)
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		h.keepRecord(&r)
	}
	if h.next != nil && h.next.Enabled(ctx, r.Level) {
		return h.next.Handle(ctx, r)
	}
	return nil
}

func (h *logHandler) keepRecord(r *slog.Record) {
	e := Event{Kind: "log", End: h.end, Cause: strings.ToLower(r.Level.String())}
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "tick" {
			switch v := a.Value.Resolve(); v.Kind() {
			case slog.KindUint64:
				e.Tick = Tick(v.Uint64())
			case slog.KindInt64:
				e.Tick = Tick(v.Int64())
			case slog.KindAny:
				if t, ok := v.Any().(Tick); ok {
					e.Tick = t
				}
			}
		}
		put(&b, h.group, a)
		return true
	})
	if e.Text = b.String(); e.Tick == 0 {
		e.Tick = h.in.newestTick(h.end)
	}
	h.in.logs.addEvent(e)
}

// newestTick returns the newest tick of an end, 0 if nobody looks at the end.
func (in *Inspector) newestTick(name string) Tick {
	if name == "" {
		return 0
	}
	e, err := in.findEnd(name)
	if err != nil || !e.isOpen() {
		return 0
	}
	return e.newest.Load()
}

func put(b *strings.Builder, group string, a slog.Attr) {
	if a.Equal(slog.Attr{}) {
		return
	}
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, x := range v.Group() {
			put(b, group+a.Key+".", x)
		}
		return
	}
	fmt.Fprintf(b, " %s%s=%v", group, a.Key, v)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	var b strings.Builder
	for _, a := range attrs {
		if a.Key == "end" && h.group == "" {
			out.end = a.Value.Resolve().String()
			continue
		}
		put(&b, h.group, a)
	}
	out.attrs += b.String()
	if h.next != nil {
		out.next = h.next.WithAttrs(attrs)
	}
	return &out
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	out := *h
	out.group += name + "."
	if h.next != nil {
		out.next = h.next.WithGroup(name)
	}
	return &out
}
