package browser

import (
	"bytes"
	"context"
	"image"
	_ "image/png"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/ebiten/duel"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/ws"
)

// chromium returns the browser's program. Without one the test is skipped, unless
// REQUIRE_BROWSER=1 says that there must be one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("REQUIRE_BROWSER") == "1" {
		t.Fatal("no Chromium here: install chromium")
	}
	t.Skip("SKIPPED: no Chromium here, so nothing was played in a browser: install chromium")
	return ""
}

// build makes the page: the program and the files that load it.
func build(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "main.wasm"), "..")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{
		"wasm_exec.js": filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"),
		"index.html":   filepath.Join("..", "web", "index.html"),
	} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// match is a server with its page.
type match struct {
	url     string
	mu      sync.Mutex
	at      map[foretick.PlayerID]duel.Position
	resumed uint64    // how many places were resumed
	opened  time.Time // when the last page's client opened its connection
	back    time.Time // when the last place was resumed
}

// serve starts a server behind a link, which each direction uses.
func serve(t *testing.T, link sim.Link) *match {
	t.Helper()
	m := &match{at: map[foretick.PlayerID]duel.Position{}}
	endpoint, err := ws.NewServer(ws.Config{})
	if err != nil {
		t.Fatal(err)
	}
	g := &duel.Game{}
	p := g.Protocol()
	p.OnReconnect(func(*foretick.ServerFrame, foretick.PlayerID) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.back = time.Now()
	})
	var srv *server.Server
	srv, err = server.New(server.Config{Protocol: p, Transport: impair.Wrap(endpoint, link, link, 1), OnTick: func(f *foretick.ServerFrame) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.resumed = srv.Stats().Resumed
		clear(m.at)
		for _, rows := range g.Players().All(f.World) {
			m.at[rows.Owner()] = g.Pos.Slice(rows)[0]
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/play", func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.opened = time.Now()
		m.mu.Unlock()
		endpoint.ServeHTTP(w, r)
	})
	mux.Handle("/", http.FileServer(http.Dir(build(t))))
	page := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = page.Serve(l) }()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		t.Log("the server ended:", <-ended)
		_ = page.Close()
	})
	m.url = "http://" + l.Addr().String()
	return m
}

// place returns where the server has a player, if it plays.
func (m *match) place(player foretick.PlayerID) (duel.Position, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.at[player]
	return at, ok
}

// await waits until so returns true, for at most a minute and a half: on a slow machine two programs of
// 20 MB need that to start.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// key presses or releases a key.
func key(kind input.KeyType, code, name string) chromedp.Action {
	return input.DispatchKeyEvent(kind).WithCode(code).WithKey(name)
}

// has counts the pixels that have nearly the colour.
func has(img image.Image, r, g, b uint32) (n int) {
	near := func(a, b uint32) bool { return max(a>>8, b)-min(a>>8, b) < 12 }
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if cr, cg, cb, _ := img.At(x, y).RGBA(); near(cr, r) && near(cg, g) && near(cb, b) {
				n++
			}
		}
	}
	return n
}

// browse starts a browser, a few times if it has to: on a busy machine it at times ends at once.
func browse(t *testing.T, program string) context.Context {
	t.Helper()
	for try := 1; ; try++ {
		profile, err := os.MkdirTemp("", "duel") // not t.TempDir: the browser may write to it while it is removed
		if err != nil {
			t.Fatal(err)
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.WindowSize(640, 400),
			chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("disable-gpu", true),
			chromedp.Flag("autoplay-policy", "no-user-gesture-required"), chromedp.Flag("disable-component-update", true))
		allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, end := chromedp.NewContext(allocated)
		t.Cleanup(func() {
			end()
			stop()
			_ = os.RemoveAll(profile)
		})
		if err := chromedp.Run(ctx); err == nil {
			return ctx
		} else if try == 3 {
			t.Fatal(err)
		}
	}
}

// Two tabs play one match: a key in the first moves its player on the server, and each
// tab draws its own player and the other's.
func TestTwoTabs(t *testing.T) {
	program := chromium(t)
	m := serve(t, sim.Link{})
	ctx, stop := context.WithTimeout(browse(t, program), 4*time.Minute)
	defer stop()
	var tabs []context.Context
	for i := range 2 {
		tab, closeTab := chromedp.NewContext(ctx)
		defer closeTab()
		chromedp.ListenTarget(tab, func(e any) {
			switch e := e.(type) {
			case *runtime.EventExceptionThrown:
				t.Logf("tab %d: %s", i+1, e.ExceptionDetails.Error())
			case *runtime.EventConsoleAPICalled:
				for _, a := range e.Args {
					t.Logf("tab %d says %s", i+1, a.Value)
				}
			}
		})
		if err := chromedp.Run(tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(m.url)); err != nil {
			t.Fatal(err)
		}
		await(t, "a player of the tab", func() bool { _, ok := m.place(foretick.PlayerID(i + 1)); return ok })
		tabs = append(tabs, tab)
	}
	walk := func(code, name string, far func(duel.Position) bool) {
		t.Helper()
		if err := chromedp.Run(tabs[0], key(input.KeyRawDown, code, name)); err != nil {
			t.Fatal(err)
		}
		await(t, "the player to go where "+name+" sends it", func() bool { to, _ := m.place(1); return far(to) })
		if err := chromedp.Run(tabs[0], key(input.KeyUp, code, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range []struct {
		code, name string
		ahead      func(from, to duel.Position) bool
	}{
		{"KeyD", "d", func(from, to duel.Position) bool { return to.X > from.X+1 || to.X > duel.Width-1 }},
		{"KeyA", "a", func(from, to duel.Position) bool { return to.X < from.X-1 || to.X < 1 }},
		{"KeyS", "s", func(from, to duel.Position) bool { return to.Y > from.Y+1 || to.Y > duel.Height-1 }},
	} {
		from, _ := m.place(1)
		other, _ := m.place(2)
		walk(way.code, way.name, func(to duel.Position) bool { return way.ahead(from, to) })
		if to, _ := m.place(2); to != other {
			t.Errorf("a key in one tab moved the other's player from %v to %v", other, to)
		}
	}
	// One player may cover the other: it walks towards the farther wall until both can be seen.
	at, _ := m.place(1)
	other, _ := m.place(2)
	apart := func(at duel.Position) bool { return math.Abs(float64(at.X-other.X)) > 3 }
	if at.X < duel.Width/2 {
		walk("KeyD", "d", apart)
	} else {
		walk("KeyA", "a", apart)
	}
	for i, tab := range tabs {
		var shot []byte
		var img image.Image
		if err := chromedp.Run(tab, key(input.KeyRawDown, "F3", "F3"), key(input.KeyUp, "F3", "F3"), chromedp.Sleep(3*time.Second), chromedp.CaptureScreenshot(&shot)); err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(shot))
		if err != nil {
			t.Fatal(err)
		}
		if own, others := has(img, 90, 200, 120), has(img, 220, 110, 90); own < 50 || others < 50 {
			t.Errorf("tab %d draws %d pixels of its own player and %d of the other's", i+1, own, others)
		}
		if keep := os.Getenv("DUEL_SCREENSHOT"); keep != "" {
			if err := os.WriteFile(strings.TrimSuffix(keep, ".png")+"-tab"+string(rune('1'+i))+".png", shot, 0o600); err != nil {
				t.Error(err)
			}
		}
	}

	// A page that is loaded again resumes its place: there is no third player.
	if err := chromedp.Run(tabs[0], chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	await(t, "the page that is loaded again", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.resumed == 1 || len(m.at) > 2
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, first := m.at[1]; !first || len(m.at) != 2 {
		t.Errorf("a page was loaded again, and these play: %v", m.at)
	}
}

// TestReloads: a page is loaded again ten times, with a round trip of 50 ms. Each time it is the same
// player in the same place within a second of its client's first step on the network. The time before
// that is the page's own start: the browser loads and compiles 20 MB.
func TestReloads(t *testing.T) {
	program := chromium(t)
	m := serve(t, sim.Link{Latency: 25 * time.Millisecond})
	ctx, stop := context.WithTimeout(browse(t, program), 5*time.Minute)
	defer stop()
	if err := chromedp.Run(ctx, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(m.url)); err != nil {
		t.Fatal(err)
	}
	await(t, "the page's player", func() bool { _, ok := m.place(1); return ok })
	time.Sleep(12 * time.Second) // a place is held for as long as its player has played
	before, _ := m.place(1)
	for n := uint64(1); n <= 10; n++ {
		if err := chromedp.Run(ctx, chromedp.Reload()); err != nil {
			t.Fatal(err)
		}
		await(t, "the page that is loaded again", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.resumed == n && m.at[1] == before || len(m.at) > 1
		})
		m.mu.Lock()
		took := m.back.Sub(m.opened)
		if len(m.at) != 1 || m.at[1] != before {
			t.Errorf("reload %d: %v instead of player 1 at %v", n, m.at, before)
		}
		m.mu.Unlock()
		t.Logf("reload %d: in its place %v after its client opened a connection", n, took.Round(time.Millisecond))
		if took > 10*time.Second { // ten times what it is to be: a machine that does other work is slow
			t.Errorf("reload %d took %v", n, took)
		}
	}
}
