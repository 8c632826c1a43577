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

// display starts a virtual X server, and returns its name. It needs Xvfb, libgl1-mesa-dri, and what
// Ebitengine needs to build.
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

// The window draws the player's own runner, the bots' and the coins, each with about as many pixels as
// its size requires. Parts outside of the field are cut off.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	bin, shot := filepath.Join(dir, "donburi"), filepath.Join(dir, "shot.png")
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
	for what, c := range map[string]struct {
		colour color.RGBA
		area   float64 // pixels
		most   float64
	}{
		"the own runner": {color.RGBA{90, 200, 120, 255}, 3.14 * 8 * 8, 6}, // and its balls
		"three runners":  {color.RGBA{220, 110, 90, 255}, 3 * 3.14 * 8 * 8, 2},
		"eight coins":    {color.RGBA{240, 210, 90, 255}, 8 * 3.14 * 5 * 5, 1.2},
		"the walls":      {color.RGBA{90, 95, 110, 255}, (2*11 + 10*2 + 2*11) * 16 * 16, 1},
	} {
		if n := float64(found[c.colour]); n < 0.2*c.area || n > c.most*c.area {
			t.Errorf("%s: %.0f pixels, want about %.0f", what, n, c.area)
		}
	}
}
