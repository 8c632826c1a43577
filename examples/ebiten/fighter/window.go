package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/ebiten/fighter/scene"
	"github.com/foretick/foretick/examples/ebiten/pad"
	"github.com/foretick/foretick/examples/ebiten/screenshot"
	"github.com/foretick/foretick/examples/fighter/game"
	"github.com/foretick/foretick/examples/fighter/play"
	"github.com/foretick/foretick/input"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
)

// window implements ebiten.Game.
type window struct {
	o      options
	keys   *input.Map
	pad    *pad.Pad
	scene  scene.Scene
	lines  [2]string // lines stand below the stage.
	rolled rolled
	frames int

	mu      sync.Mutex   // mu is for steps between frames: see stepBetween.
	player  *play.Player // player is nil for a replay.
	replay  *playback    // replay is nil in a match.
	stepped time.Time    // stepped is when the player stepped last.
	between int          // between counts the steps between frames.
}

// newWindow makes the window of a match.
func newWindow(o options, dial func() (transport.Endpoint, error)) (*window, error) {
	m, err := game.Controls()
	if err != nil {
		return nil, err
	}
	read, err := input.Fill[game.Command, rollback.View](m)
	if err != nil {
		return nil, err
	}
	sample := func(_ *game.Game, v rollback.View) game.Command { return read(v) }
	if o.bot {
		sample = play.Bot(uint64(time.Now().UnixNano()))
	}
	w := &window{o: o, keys: m, pad: pad.New(m)}
	w.player, err = play.Join(dial, sample)
	return w, err
}

// Update implements ebiten.Game. It runs once for each frame that is drawn: see SetTPS in main.go.
func (w *window) Update() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.frames++; w.o.frames > 0 && w.frames > w.o.frames {
		return ebiten.Termination
	}
	if w.replay != nil {
		err := w.replay.step(now)
		w.lines[0] = w.replay.line()
		w.scene.Set(w.replay.game, w.replay.World(), ecs.Nobody)
		return err
	}
	w.pad.Poll()
	v := w.step(now)
	if v.State == rollback.Closed {
		return fmt.Errorf("the match is over: %w", v.Err)
	}
	v.RolledBack = w.rolled.show(now, v.RolledBack)
	w.lines = [2]string{scene.Line(v, w.player.Stats()), "WASD or arrows, U punch, I kick, O fireball; or a pad"}
	if w.player.Differs != "" {
		w.lines[1] = w.player.Differs
	}
	w.scene.Set(w.player.Game, v.World, v.Player)
	return nil
}

// step steps the player with the keys as they are.
func (w *window) step(now time.Time) rollback.View {
	defer w.keys.EndFrame()
	w.stepped = now
	return w.player.Step(now)
}

// stepBetween steps where frames are late, as soon as something has come over the network. A hidden page draws no
// frames, and a slow machine few, but the other player should not have to wait for that. Nobody presses keys on a
// hidden page.
func (w *window) stepBetween() {
	pause := time.NewTicker(250 * time.Millisecond) // for when nothing comes, as after a lost connection
	for {
		select {
		case <-w.ready():
		case <-pause.C:
		}
		if !hidden() { // the timers of hidden pages are slow
			time.Sleep(w.untilLate())
		}
		w.stepIfLate()
	}
}

// ready returns the channel of the newest connection.
func (w *window) ready() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.player.Ready()
}

// untilLate returns the time until a frame is late.
func (w *window) untilLate() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Until(w.stepped.Add(20 * time.Millisecond))
}

// stepIfLate steps if there was no frame in time, as in a hidden page.
func (w *window) stepIfLate() {
	unseen := hidden()
	if !unseen && w.untilLate() > 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if unseen {
		w.keys.ReleaseAll()
	}
	w.step(time.Now())
	w.between++
}

// rolled keeps the deepest rollback for half a second: nobody reads what one frame shows.
type rolled struct {
	ticks int
	until time.Time
}

func (r *rolled) show(now time.Time, ticks int) int {
	if ticks >= r.ticks || now.After(r.until) {
		r.ticks, r.until = ticks, now.Add(time.Second/2)
	}
	return r.ticks
}

// Draw implements ebiten.Game.
func (w *window) Draw(screen *ebiten.Image) {
	screen.Fill(scene.Ground)
	for _, b := range w.scene.Boxes {
		if b.Outline {
			vector.StrokeRect(screen, b.X, b.Y, b.W, b.H, 2, b.Colour, false)
		} else {
			vector.FillRect(screen, b.X, b.Y, b.W, b.H, b.Colour, false)
		}
	}
	for _, t := range w.scene.Texts {
		ebitenutil.DebugPrintAt(screen, t.Text, t.X, t.Y)
	}
	for i, line := range w.lines {
		ebitenutil.DebugPrintAt(screen, line, 8, scene.Height-36+18*i)
	}
	if w.o.screenshot != "" && w.frames == w.o.frames {
		if err := screenshot.Write(screen, w.o.screenshot); err != nil {
			panic(err)
		}
	}
}

// Layout implements ebiten.Game.
func (w *window) Layout(int, int) (int, int) { return scene.Width, scene.Height }
