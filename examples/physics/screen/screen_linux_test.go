package screen

import (
	"bufio"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// display starts an X server without a screen, and returns its name. It needs Xvfb,
// libgl1-mesa-dri, and what Ebitengine builds with.
func display(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1100x700x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatalf("%v: install xvfb", err)
	}
	t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	_ = w.Close()
	_ = r.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return ":" + strings.TrimSpace(line)
}

// capture builds a program, lets it draw, and counts the pixels of each colour.
func capture(t *testing.T, pkg string) map[color.RGBA]int {
	t.Helper()
	dir := t.TempDir()
	bin, shot := filepath.Join(dir, "window"), filepath.Join(dir, "shot.png")
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(bin, "-auto", "-frames", "150", "-screenshot", shot)
	cmd.Env = append(os.Environ(), "DISPLAY="+display(t))
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("SCREENSHOT"); name != "" { // for people
		if b, err := os.ReadFile(shot); err != nil || os.WriteFile(name, b, 0o600) != nil {
			t.Errorf("SCREENSHOT=%s: not written: %v", name, err)
		}
	}
	found := map[color.RGBA]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			found[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return found
}

// shape is what a window draws in one colour: its area in pixels, and the share of it that
// must be seen and may be.
type shape struct {
	colour      color.RGBA
	area        float64
	least, most float64
}

func compare(t *testing.T, found map[color.RGBA]int, want map[string]shape) {
	t.Helper()
	for what, s := range want {
		if n := float64(found[s.colour]); n < s.least*s.area || n > s.most*s.area {
			t.Errorf("%s: %.0f pixels, want about %.0f", what, n, s.area)
		}
	}
}

// The window draws the player's own car, the bots' and all crates: as many pixels of each as
// their sizes come to.
func TestWindow(t *testing.T) {
	const metre = 24 * 24 // pixels of a square metre
	compare(t, capture(t, ".."), map[string]shape{
		"the own car": {color.RGBA{90, 200, 120, 255}, metre * 2 * 1.2, 0.8, 1.2},
		"three cars":  {color.RGBA{220, 110, 90, 255}, metre * 3 * 2 * 1.2, 0.8, 1.2},
		"15 crates":   {color.RGBA{190, 160, 100, 255}, metre * 15 * 1.3 * 1.3, 0.8, 1.2},
	})
}

// The platformer's window draws the ground, the platforms and the lift whole, the own jumper,
// which nobody stands before, and the bots', who may stand in one another and behind it.
func TestPlatformerWindow(t *testing.T) {
	const tile = 16 * 16 // pixels of a tile
	compare(t, capture(t, "../platformer/window"), map[string]shape{
		"ground and platforms": {color.RGBA{90, 95, 110, 255}, tile * (60 + 6 + 6 + 8 + 6 + 6 + 6 + 8), 0.95, 1.02},
		"the lift":             {color.RGBA{190, 160, 100, 255}, tile * 4 * 0.6, 0.6, 1.1},
		"the own jumper":       {color.RGBA{90, 200, 120, 255}, tile * 0.8 * 1.6, 0.5, 1.1},
		"three jumpers":        {color.RGBA{220, 110, 90, 255}, tile * 3 * 0.8 * 1.6, 0.1, 1.1},
	})
}
