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

	"github.com/foretick/foretick/examples/ebiten/fighter/scene"
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

// build builds a program of the module.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "game")
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// host starts a program that hosts a match. It returns the address that the program logs, and a function that waits
// for its end.
func host(t *testing.T, env []string, pattern, bin string, args ...string) (addr string, ends func()) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = env
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	found := make(chan string, 1)
	var said bytes.Buffer
	done := make(chan bool)
	go func() {
		defer close(done)
		for in := bufio.NewScanner(log); in.Scan(); {
			said.WriteString(in.Text() + "\n")
			if m := regexp.MustCompile(pattern).FindStringSubmatch(in.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case addr = <-found:
	case <-done:
		t.Fatalf("the host ended: %s", said.String())
	}
	return addr, func() {
		t.Helper()
		<-done
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
		stuck.Stop()
	}
}

// runs runs a program to its end.
func runs(t *testing.T, env []string, bin string, args ...string) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// shows checks that a screenshot has pixels of each colour.
func shows(t *testing.T, file string, colours ...color.RGBA) {
	t.Helper()
	img := picture(t, file)
	for _, c := range colours {
		if n := has(img, c); n < 50 {
			t.Errorf("%s has %d pixels of %v", filepath.Base(file), n, c)
		}
	}
}

// Two windows play one match. Each draws its own player and the other's, and the one that hosts draws
// the server's view over both.
func TestTwoWindows(t *testing.T) {
	dir, bin := t.TempDir(), build(t, "..")
	env := append(os.Environ(), "DISPLAY="+display(t))
	hosted, joined := filepath.Join(dir, "host.png"), filepath.Join(dir, "joined.png")
	at, ends := host(t, env, `hosting at (\S+)`, bin, "-bot", "-mute", "-overlays", "-listen", "ws://127.0.0.1:0", "-frames", "400", "-screenshot", hosted)
	runs(t, env, bin, "-bot", "-mute", "-join", at, "-frames", "150", "-screenshot", joined)
	ends()
	shows(t, joined, own, others)
	shows(t, hosted, own, onHost)
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

// Two windows play the fighter, one of which runs the relay and keeps a replay. A third plays it again, and a fourth
// plays against a bot. Each draws both fighters, and where they are hit.
func TestFighterWindows(t *testing.T) {
	dir, bin := t.TempDir(), build(t, "../fighter")
	env := append(os.Environ(), "DISPLAY="+display(t))
	file := func(name string) string { return filepath.Join(dir, name) }
	at, ends := host(t, env, `connects to (\S+),`, bin, "-bot", "-host", "127.0.0.1:0", "-frames", "500", "-save", file("replay"), "-screenshot", file("host.png"))
	runs(t, env, bin, "-bot", "-connect", at, "-frames", "200", "-screenshot", file("joined.png"))
	ends()
	shows(t, file("joined.png"), scene.Own, scene.Other, scene.Hurt)
	shows(t, file("host.png"), scene.Ground, scene.Floor) // the other has left
	runs(t, env, bin, "-replay", file("replay"), "-frames", "150", "-screenshot", file("replay.png"))
	shows(t, file("replay.png"), scene.Own, scene.Other, scene.Hurt)
	runs(t, env, bin, "-bot", "-frames", "150", "-screenshot", file("alone.png"))
	shows(t, file("alone.png"), scene.Own, scene.Other, scene.Hurt)
}

// The guide's ported game hosts a match, joins it in two windows, and runs on.
func TestPortedWindows(t *testing.T) {
	bin := build(t, "../porting/window")
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
