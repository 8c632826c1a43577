package screen

import (
	"bufio"
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// display starts a virtual X server, and returns its name. It needs Xvfb, libgl1-mesa-dri, and what
// Ebitengine needs to build: see README.md.
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

// has counts the pixels that have nearly the colour.
func has(img image.Image, want color.RGBA) int {
	n, b := 0, img.Bounds()
	near := func(a, b uint32) bool { return max(a>>8, b>>8)-min(a>>8, b>>8) < 8 }
	wr, wg, wb, _ := want.RGBA()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); near(r, wr) && near(g, wg) && near(b, wb) {
				n++
			}
		}
	}
	return n
}

func picture(t *testing.T, file string) image.Image {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// The colours of the game.
var (
	own    = color.RGBA{90, 200, 120, 255}
	others = color.RGBA{220, 110, 90, 255}
	onHost = color.RGBA{120, 170, 255, 255}
)

// Runs the game's own tests with a display.
func TestWithDisplay(t *testing.T) {
	cmd := exec.Command("go", "test", "-tags", "display", "..", "../pad")
	cmd.Env = append(os.Environ(), "DISPLAY="+display(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Two windows play one match. Each draws its own player and the other's, and the one that hosts draws
// the server's view over both.
func TestTwoWindows(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "duel")
	if out, err := exec.Command("go", "build", "-o", bin, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	env := append(os.Environ(), "DISPLAY="+display(t))
	hosted, joined := filepath.Join(dir, "host.png"), filepath.Join(dir, "joined.png")
	host := exec.Command(bin, "-bot", "-mute", "-overlays", "-listen", "ws://127.0.0.1:0", "-frames", "400", "-screenshot", hosted)
	host.Env = env
	log, err := host.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	stuck := time.AfterFunc(2*time.Minute, func() { _ = host.Process.Kill() })
	defer stuck.Stop()
	addr := make(chan string, 1)
	var said bytes.Buffer
	done := make(chan bool)
	go func() {
		defer close(done)
		for in := bufio.NewScanner(log); in.Scan(); {
			said.WriteString(in.Text() + "\n")
			if m := regexp.MustCompile(`hosting at (\S+)`).FindStringSubmatch(in.Text()); m != nil {
				addr <- m[1]
			}
		}
	}()
	var at string
	select {
	case at = <-addr:
	case <-done:
		t.Fatalf("the host ended: %s", said.String())
	}
	join := exec.Command(bin, "-bot", "-mute", "-join", at, "-frames", "150", "-screenshot", joined)
	join.Env = env
	if out, err := join.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	<-done
	if err := host.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	for file, want := range map[string][]color.RGBA{joined: {own, others}, hosted: {own, onHost}} {
		img := picture(t, file)
		for _, c := range want {
			if n := has(img, c); n < 50 {
				t.Errorf("%s has %d pixels of %v", filepath.Base(file), n, c)
			}
		}
	}
	if n := has(picture(t, joined), onHost); n > 20 {
		t.Errorf("who joins has a server's view: %d pixels", n)
	}
	if keep := os.Getenv("DUEL_SCREENSHOT"); keep != "" { // for the README
		b, err := os.ReadFile(joined)
		if err == nil {
			err = os.WriteFile(keep, b, 0o666)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// The guide's ported game hosts a match, joins it in two windows, and runs on.
func TestPortedWindows(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "ported")
	if out, err := exec.Command("go", "build", "-o", bin, "../porting/window").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	env := append(os.Environ(), "DISPLAY="+display(t))
	ended := make(chan string, 2)
	for _, args := range [][]string{{"-serve", "-join", "127.0.0.1:7793"}, {"-join", "127.0.0.1:7793"}} {
		var said bytes.Buffer
		window := exec.Command(bin, args...)
		window.Env, window.Stdout, window.Stderr = env, &said, &said
		if err := window.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan bool)
		go func() {
			_ = window.Wait()
			ended <- said.String()
			close(over)
		}()
		t.Cleanup(func() { _ = window.Process.Kill(); <-over })
		hosts(t, "1E71")
	}
	select {
	case said := <-ended:
		t.Errorf("a window closed: %s", said)
	case <-time.After(3 * time.Second):
	}
}

// hosts waits until a program on this machine listens at a UDP port.
func hosts(t *testing.T, port string) {
	for range 300 {
		if open, err := os.ReadFile("/proc/net/udp"); err != nil || strings.Contains(string(open), ":"+port+" ") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("nobody listens at the window's port")
}
