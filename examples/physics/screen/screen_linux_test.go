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

// The window draws the player's own car, the bots' and all crates: as many pixels of each as
// their sizes come to.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	bin, shot := filepath.Join(dir, "physics"), filepath.Join(dir, "shot.png")
	if out, err := exec.Command("go", "build", "-o", bin, "..").CombinedOutput(); err != nil {
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
	found := map[color.RGBA]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			found[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	const metre = 24 * 24 // pixels of a square metre
	for what, c := range map[string]struct {
		colour color.RGBA
		area   float64
	}{
		"the own car": {color.RGBA{90, 200, 120, 255}, 2 * 1.2},
		"three cars":  {color.RGBA{220, 110, 90, 255}, 3 * 2 * 1.2},
		"15 crates":   {color.RGBA{190, 160, 100, 255}, 15 * 1.3 * 1.3},
	} {
		if n := float64(found[c.colour]); n < 0.8*c.area*metre || n > 1.2*c.area*metre {
			t.Errorf("%s: %.0f pixels, want about %.0f", what, n, c.area*metre)
		}
	}
}
