// Pictures makes the pictures that the documents show, from the running pages: a screenshot
// and a short animation of the arena, and a screenshot of the inspector. Run it in
// internal/screentest:
//
//	go run ./pictures            # all
//	go run ./pictures inspector  # one of arena and inspector
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/foretick/foretick/internal/screentest"
)

const (
	directory = "../../docs/pictures"
	most      = 1_500_000 // bytes of the README's pictures together
	frames    = 36
	delay     = 11 // hundredths of a second between two frames of the animation
	colours   = 64
	charted   = 150 // ticks on the charts
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := screentest.Build(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	all := []struct {
		name string
		make func(tab context.Context, arena *screentest.Arena) error
		of   []string // flags of the arena
	}{
		{"arena", game, []string{"-clients", "9"}},
		{"inspector", inspector, []string{"-clients", "6", "-rtt", "80ms", "-loss", "0.02"}},
	}
	wanted := os.Args[1:]
	for _, one := range all {
		if len(wanted) > 0 && !slices.Contains(wanted, one.name) {
			continue
		}
		if err := picture(dir, program, one.name, one.of, one.make); err != nil {
			return err
		}
	}
	return nil
}

// picture makes one of an arena of its own, in a browser of its own.
func picture(dir, program, name string, flags []string, makes func(tab context.Context, arena *screentest.Arena) error) error {
	arena, err := screentest.Start(program, flags...)
	if err != nil {
		return err
	}
	defer arena.Stop()
	tab, stop, err := screentest.Browser(filepath.Join(dir, name), "")
	if err != nil {
		return err
	}
	defer stop()
	return makes(tab, arena)
}

// game makes the pictures of the arena.
func game(tab context.Context, arena *screentest.Arena) error {
	if err := play(tab, arena.URL); err != nil {
		return err
	}
	var shot []byte
	if err := chromedp.Run(tab, chromedp.CaptureScreenshot(&shot)); err != nil {
		return err
	}
	moving, err := animate(tab)
	if err != nil {
		return err
	}
	if n := len(shot) + len(moving); n > most {
		return fmt.Errorf("the pictures have %d bytes: use fewer frames or colours for at most %d", n, most)
	}
	if err := write("arena.png", shot); err != nil {
		return err
	}
	return write("arena.gif", moving)
}

// inspector makes the picture of the inspector: the charts of a server, once they are full.
func inspector(tab context.Context, arena *screentest.Arena) error {
	var shot []byte
	full := fmt.Sprintf(`inspector.read().connected && inspector.read().samples >= %d`, charted)
	if err := chromedp.Run(tab,
		emulation.SetDeviceMetricsOverride(1600, 1000, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}),
		emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(arena.Inspect),
		chromedp.Evaluate(fmt.Sprintf(`(e => { e.value = "%d"; e.dispatchEvent(new Event("change")); })(document.getElementById("window"))`, charted), nil),
		chromedp.Poll(full, nil, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(time.Minute)),
		chromedp.FullScreenshot(&shot, 100),
	); err != nil {
		return err
	}
	return write("inspector.png", shot)
}

// write writes a picture.
func write(name string, b []byte) error {
	name = filepath.Join(directory, name)
	fmt.Println(name, len(b))
	return os.WriteFile(name, b, 0o644)
}

// play opens the page on a bad network, shows the ghosts, and walks and fires for a while.
func play(tab context.Context, url string) error {
	err := chromedp.Run(tab,
		emulation.SetDeviceMetricsOverride(1500, 900, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(url),
	)
	if err != nil {
		return err
	}
	if _, err := screentest.Until(tab, time.Minute, func(s screentest.State) bool { return s.FirstPlaying > 0 }); err != nil {
		return err
	}
	if err := screentest.Set(tab, "rtt", 250); err != nil {
		return err
	}
	if err := chromedp.Run(tab, chromedp.Evaluate(`for (const l of ["ownNow", "raw", "othersNow"]) document.getElementById("layer-" + l).click()`, nil)); err != nil {
		return err
	}
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := act(tab); err != nil {
			return err
		}
	}
	_, err = screentest.Until(tab, time.Minute, func(s screentest.State) bool { _ = act(tab); return !s.Dead && !s.Stunned && s.Mispredictions > 2 })
	return err
}

// act walks around the middle, aims at the nearest other player and fires now and then.
func act(tab context.Context) error {
	s, err := screentest.Read(tab)
	if err != nil {
		return err
	}
	near, angle := math.Inf(1), 0.
	for _, at := range s.Others {
		if d := math.Hypot(at[0]-s.X, at[1]-s.Y); d < near && d > 0 {
			near, angle = d, math.Atan2(at[1]-s.Y, at[0]-s.X)
		}
	}
	around := float64(time.Now().UnixMilli()%8000) / 8000 * 2 * math.Pi
	x, y := 8*math.Cos(around)-s.X, 8*math.Sin(around)-s.Y
	script := fmt.Sprintf(`for (const [k, down] of [["d", %t], ["a", %t], ["w", %t], ["s", %t], ["mouse_left_button", %t]]) arena.key(k, down);
arena.queued.push(4, %g, %g)`, x > 1, x < -1, y > 1, y < -1, near < 25, s.X+5*math.Cos(angle), s.Y+5*math.Sin(angle))
	return chromedp.Run(tab, chromedp.Evaluate(script, nil))
}

// animate makes an animation of the field.
func animate(tab context.Context) ([]byte, error) {
	var box struct{ X, Y, W, H float64 }
	if err := chromedp.Run(tab, chromedp.Evaluate(`(() => { const b = document.getElementById("field").getBoundingClientRect(); return {X: b.x, Y: b.y, W: b.width, H: b.height}; })()`, &box)); err != nil {
		return nil, err
	}
	clip := &page.Viewport{X: box.X, Y: box.Y, Width: box.W, Height: box.H, Scale: 480 / box.W}
	var images []image.Image
	began := time.Now()
	for n := range frames {
		if err := act(tab); err != nil {
			return nil, err
		}
		var b []byte
		err := chromedp.Run(tab, chromedp.ActionFunc(func(ctx context.Context) (err error) {
			b, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithClip(clip).Do(ctx)
			return err
		}))
		if err != nil {
			return nil, err
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		images = append(images, m)
		time.Sleep(time.Until(began.Add(time.Duration(n+1) * delay * 10 * time.Millisecond)))
	}
	fmt.Printf("%d frames in %v\n", frames, time.Since(began).Round(time.Millisecond))
	out := &gif.GIF{}
	shades := palette(images)
	var last *image.Paletted
	for _, m := range images {
		p := image.NewPaletted(m.Bounds(), shades)
		known := map[color.Color]uint8{}
		for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
			for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
				c := m.At(x, y)
				i, ok := known[c]
				if !ok {
					i = uint8(shades[1:].Index(c) + 1)
					known[c] = i
				}
				p.SetColorIndex(x, y, i)
			}
		}
		out.Image, out.Delay = append(out.Image, changes(last, p)), append(out.Delay, delay)
		last = p
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, out)
	return b.Bytes(), err
}

// changes returns what differs from the image before, and the transparent colour elsewhere.
func changes(before, now *image.Paletted) *image.Paletted {
	if before == nil {
		return now
	}
	p := image.NewPaletted(now.Rect, now.Palette)
	for i, v := range now.Pix {
		if before.Pix[i] != v {
			p.Pix[i] = v
		}
	}
	return p
}

// palette returns the most frequent colours, after a transparent one.
func palette(images []image.Image) color.Palette {
	count := map[color.RGBA]int{}
	for _, m := range images {
		for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
			for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
				c := color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)
				count[color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}]++
			}
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return count[b] - count[a] })
	p := color.Palette{color.RGBA{}}
	for _, c := range all[:min(len(all), colours-1)] {
		p = append(p, c)
	}
	return p
}
