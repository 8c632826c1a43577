package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// watchWord is what a spectator sends to be admitted. A real one sends a token.
const watchWord = "the public stream"

// admit admits spectators. The zero Grant lets them see what all players may see: no plans.
func admit(o server.Observer) (server.Grant, error) {
	if string(o.Data) != watchWord {
		return server.Public(), errors.New("only the stream may watch")
	}
	return server.Public(), nil
}

// watcher is a tool that follows a match without the game's Go types: it knows components,
// fields and messages by the names in the server's schema.
type watcher struct{ o *observe.Observer }

// watch returns a watcher, which calls show for each message of the server.
func watch(net transport.Endpoint, show func(string)) (*watcher, error) {
	o, err := observe.New(observe.Config{
		Transport: net, Data: []byte(watchWord),
		OnMessage: func(m schema.Message, tick observe.Tick, values []any) {
			show(fmt.Sprintf("%s in tick %d: %v", m.Schema.Name(), tick, values))
		},
	})
	return &watcher{o}, err
}

// Step reads and sends packets. Call it once a tick.
func (w *watcher) Step(now time.Time) error { return w.o.Step(now) }

// Lines returns a line for each entity, with the fields that a spectator receives.
func (w *watcher) Lines() (lines []string) {
	for _, e := range w.o.Entities() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s of player %d:", e.Prefab(), e.Owner())
		for f := range e.Fields() {
			fmt.Fprintf(&b, " %s.%s=%v", f.Component, f.Name, f)
		}
		lines = append(lines, b.String())
	}
	return lines
}
