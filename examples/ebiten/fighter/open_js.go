package main

import (
	"context"
	"syscall/js"

	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/transport"
)

// defaultConnect returns the address of the relay that served the page.
func defaultConnect() string {
	at := js.Global().Get("location")
	scheme := "ws://"
	if at.Get("protocol").String() == "https:" {
		scheme = "wss://"
	}
	return scheme + at.Get("host").String() + "/play"
}

// open returns how the page's player connects. A browser cannot run a relay.
func open(_ context.Context, o options) (func() (transport.Endpoint, error), error) {
	return func() (transport.Endpoint, error) { return play.Dial(o.connect) }, nil
}

// hidden reports whether the page is hidden.
func hidden() bool { return js.Global().Get("document").Get("hidden").Bool() }

// publish gives the page's scripts fighter.read, which returns the player's figures. A page that goes away leaves the
// match at once. Otherwise the relay would hold its place.
func (w *window) publish() {
	js.Global().Call("addEventListener", "pagehide", js.FuncOf(func(js.Value, []js.Value) any {
		w.mu.Lock()
		defer w.mu.Unlock()
		go func() { _ = w.player.Close() }() // not here, where nothing may wait
		return nil
	}))
	js.Global().Set("fighter", map[string]any{"read": js.FuncOf(func(js.Value, []js.Value) any {
		w.mu.Lock()
		defer w.mu.Unlock()
		v, s := w.player.View(), w.player.Stats()
		return map[string]any{
			"state": v.State.String(), "player": int(v.Player), "tick": int(v.Tick), "settled": int(v.Settled), "delay": v.Delay,
			"rollbacks": int(s.Rollbacks), "reruns": int(s.Reruns), "stalls": int(s.Stalls), "standIns": int(s.StandIns), "sums": int(s.Sums),
			"desyncs": int(s.Desyncs), "worlds": int(s.Worlds), "connections": int(s.Connections), "pressed": w.player.Pressed, "hits": w.player.Hits,
			"frames": w.frames, "between": w.between, "visibility": js.Global().Get("document").Get("visibilityState").String(),
		}
	})})
}
