package screentest

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var chainTicks = flag.Int("ticks", 100000, "how many ticks TestChain plays")

// chainPage runs the program with what it is told, and keeps what it prints.
const chainPage = `<!doctype html><link rel="icon" href="data:,"><script src="wasm_exec.js"></script><script>
const printed = [];
console.log = text => printed.push(text);
const go = new Go();
go.argv = ["chaintest", "-ticks", "%d"];
WebAssembly.instantiateStreaming(fetch("chaintest.wasm"), go.importObject)
	.then(program => go.run(program.instance))
	.then(() => document.title = "ended");
</script>`

// TestChain: the game of internal/chaintest computes as WebAssembly in a browser what it does here.
func TestChain(t *testing.T) {
	t.Parallel()
	browser, dir := browse(t, ""), t.TempDir()
	build := func(name string, env ...string) string {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "github.com/foretick/foretick/internal/chaintest")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return filepath.Join(dir, name)
	}
	build("chaintest.wasm", "GOOS=js", "GOARCH=wasm")
	here, err := exec.Command(build("chaintest"), "-ticks", fmt.Sprint(*chainTicks)).Output()
	require.NoError(t, err)
	require.Equal(t, *chainTicks/1000, strings.Count(string(here), "\n"))
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)

	mux := http.NewServeMux()
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, fmt.Sprintf(chainPage, *chainTicks))
	})
	mux.HandleFunc("/chaintest.wasm", func(rw http.ResponseWriter, r *http.Request) {
		http.ServeFile(rw, r, filepath.Join(dir, "chaintest.wasm"))
	})
	mux.HandleFunc("/wasm_exec.js", func(rw http.ResponseWriter, r *http.Request) {
		http.ServeFile(rw, r, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	p, started := open(t, browser, site.URL), time.Now()
	var title, there string
	for title != "ended" {
		require.Less(t, time.Since(started), patience+time.Duration(*chainTicks)*time.Millisecond, p.faults)
		require.NoError(t, chromedp.Run(p, chromedp.Sleep(50*time.Millisecond), chromedp.Title(&title)))
	}
	require.NoError(t, chromedp.Run(p, chromedp.Evaluate(`printed.join("\n") + "\n"`, &there)))
	require.Equal(t, string(here), there)
	t.Logf("%d sums of %d ticks are equal, in %v", *chainTicks/1000, *chainTicks, time.Since(started).Round(time.Millisecond))
}
