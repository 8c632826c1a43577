package main

import (
	"fmt"
	"math"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/examples/ebiten/duel"
	"github.com/foretick/foretick/examples/ebiten/keys"
	"github.com/foretick/foretick/examples/ebiten/pad"
	"github.com/foretick/foretick/examples/ebiten/screenshot"
	"github.com/foretick/foretick/input"
	"github.com/foretick/foretick/transport"
)

// window implements ebiten.Game.
type window struct {
	o      options
	game   *duel.Game
	client *client.Client
	view   client.View
	here   *host // the match; nil: another process hosts it

	keys *input.Map
	pad  *pad.Pad
	bot  *input.Source                  // emits actions with -bot
	read func(client.View) duel.Command // fills a command from keys

	rebinding keys.Rebinding

	network network
	figures figures
	showServer,
	showFigures bool
	sound  *speaker
	shots  []shot
	frames int
}

// shot is a line that fades.
type shot struct {
	duel.Traced
	left int // frames until it is gone
}

func newWindow(o options, here *host) (*window, error) {
	m, err := keys.Load(o.bindings)
	if err != nil {
		return nil, fmt.Errorf("-bindings %w", err)
	}
	w := &window{
		o: o, here: here, keys: m, pad: pad.New(m), bot: m.NewSource(), rebinding: keys.Rebinding{Map: m, File: o.bindings}, game: &duel.Game{}, sound: newSpeaker(o.mute),
		showServer: o.overlays, showFigures: o.overlays,
	}
	if w.read, err = input.Fill[duel.Command, client.View](m); err != nil {
		return nil, err
	}
	w.game.OnShot = w.onShot
	endpoint, err := w.dial()
	if err != nil {
		return nil, err
	}
	w.client, err = client.New(client.Config{
		Protocol: w.game.Protocol(), Transport: endpoint, Redial: w.dial,
		Sample:      client.Sample(&w.game.Cmd, w.sample),
		ResumeToken: savedPlace(), OnSession: func(client.Session) { savePlace(w.client.ResumeToken()) },
	})
	return w, err
}

// dial connects to the host, through the delay and loss of F4.
func (w *window) dial() (transport.Endpoint, error) {
	e, err := dial(w.o.join)
	if err != nil {
		return nil, err
	}
	return w.network.wrap(e), nil
}

// Update implements ebiten.Game. It runs once for each frame that is drawn: see SetTPS in main.go.
func (w *window) Update() error {
	w.pad.Poll()
	if w.o.bot {
		w.autopilot()
	}
	w.rebinding.Frame()
	if w.keys.JustPressed("figures") {
		w.showFigures = !w.showFigures
	}
	if w.keys.JustPressed("network") {
		w.network.next()
	}
	if w.keys.JustPressed("server") {
		w.showServer = !w.showServer
	}
	now := time.Now()
	w.view = w.client.Step(now) // calls sample
	w.keys.EndFrame()
	w.figures.frame(now, w.client, w.view)
	if w.view.State == client.Closed {
		return fmt.Errorf("the match is over: %w", w.view.Err)
	}
	w.frames++
	if w.o.frames > 0 && w.frames > w.o.frames {
		return ebiten.Termination
	}
	return nil
}

// sample returns the player's command. Its aim is the direction from the player's body to the
// cursor, both as this frame shows them.
func (w *window) sample(v client.View) duel.Command {
	cmd := w.read(v)
	me, ok := w.body(v.Player, true)
	if !ok {
		return duel.Command{}
	}
	x, y := w.keys.Value("aim.x"), w.keys.Value("aim.y")
	if x == 0 && y == 0 {
		cx, cy := ebiten.CursorPosition()
		x, y = float32(cx)/scale-me.X, float32(cy)/scale-me.Y
	}
	if it, found := w.body(v.Player, false); w.o.bot && found {
		x, y = it.X-me.X, it.Y-me.Y
	}
	cmd.Aim = float32(math.Atan2(float64(y), float64(x)))
	return cmd
}

// body returns where this frame shows the player's body, or if own is false, that of another
// player.
func (w *window) body(player foretick.PlayerID, own bool) (duel.Position, bool) {
	for _, rows := range w.game.Players().All(w.client.View().World) {
		if (rows.Owner() == player) == own {
			return w.game.Pos.Slice(rows)[0], true
		}
	}
	return duel.Position{}, false
}

// autopilot emits the actions of a player that runs in a circle around the middle and
// shoots.
func (w *window) autopilot() {
	me, _ := w.body(w.view.Player, true)
	at := float64(w.view.Tick)/40 + 2.5*float64(w.view.Player)
	w.bot.Emit("move.x", duel.Width/2+6*float32(math.Cos(at))-me.X)
	w.bot.Emit("move.y", duel.Height/2+6*float32(math.Sin(at))-me.Y)
	w.bot.Emit("fire", float32(w.frames/10%2))
}

// onShot draws and plays a shot: one of the player at once, those of others when the server's
// message arrives.
func (w *window) onShot(s duel.Traced, own bool) {
	if !own && foretick.PlayerID(s.By) == w.view.Player {
		return // shown already
	}
	w.shots = append(w.shots, shot{s, 12})
	w.sound.shot(own, s.Hit)
}

// Layout implements ebiten.Game.
func (w *window) Layout(int, int) (int, int) { return duel.Width * scale, duel.Height * scale }

// capture writes the screenshot, in the last frame.
func (w *window) capture(screen *ebiten.Image) {
	if w.o.screenshot == "" || w.frames != w.o.frames {
		return
	}
	if err := screenshot.Write(screen, w.o.screenshot); err != nil {
		panic(err)
	}
}
