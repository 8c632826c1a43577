package releasetest

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Proxy returns an environment for the go command. There this checkout is Version of Module, and
// of each of Nested. Other modules come from the module cache of the test's own environment, which
// the proxy fills where they are missing.
//
// The environment has its own module cache, so that it finds no other checkout's Version. It trims
// paths, so that the next test's environment builds nothing again. If the test's module cache holds
// this very Version, the environment shares it. Then missing modules come from the usual proxy:
// this one could not fill the cache, since the go command that asks has locked it.
//
// All of it ends with the test. Proxy skips the test where Root does.
func Proxy(t testing.TB) []string {
	t.Helper()
	root := Root(t)
	dir := t.TempDir()
	if err := Release(dir, root); err != nil {
		t.Fatal(err)
	}
	cache, err := goOutput("env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{release: dir, cache: filepath.Join(cache, "cache", "download")}
	p.shared = holds(p.cache, dir)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	env := append(os.Environ(),
		"GOPROXY="+s.URL,           // nothing after it, unless the cache is shared: where it has no module, there is none
		"GOPRIVATE=", "GONOPROXY=", // a pattern, even "none", makes the go command look past the proxy
		"GONOSUMDB=*", // what comes from the cache was checked when it came there
		"GOWORK=off",
	)
	if p.shared {
		after, err := goOutput("env", "GOPROXY")
		if err != nil {
			t.Fatal(err)
		}
		return append(env, "GOMODCACHE="+cache, "GOPROXY="+s.URL+","+after)
	}
	return append(env,
		"GOMODCACHE="+t.TempDir(),
		"GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -modcacherw -trimpath"), // writable, so that it can be removed
	)
}

// holds reports whether the downloads of a module cache have the root module's Version, byte
// for byte that of release. It may have none of those nested, and no other of them.
func holds(downloads, release string) bool {
	for _, nested := range append([]string{"."}, Nested...) {
		name := filepath.Join(filepath.FromSlash(path.Join(Module, nested)), "@v", Version+".zip")
		had, err := os.ReadFile(filepath.Join(downloads, name)) // #nosec G304 -- of the module cache
		if nested != "." && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		made, missing := os.ReadFile(filepath.Join(release, name)) // #nosec G304 -- of the release
		if err != nil || missing != nil || !bytes.Equal(had, made) {
			return false
		}
	}
	return true
}

// proxy serves the release, and a module cache. It may serve several requests at once.
type proxy struct {
	release, cache string
	shared         bool // The go commands that ask have this cache too.
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from := p.cache
	if strings.HasPrefix(r.URL.Path, "/"+Module+"/") || strings.HasPrefix(r.URL.Path, "/"+filepath.Dir(Module)+"/@") {
		from = p.release
	}
	name := filepath.Join(from, filepath.FromSlash(r.URL.Path)) // Path is clean, or the client is redirected
	b, err := os.ReadFile(name)                                 // #nosec G304 -- below from
	if errors.Is(err, fs.ErrNotExist) && from == p.cache && !p.shared {
		if err = fetch(r.URL.Path); err == nil {
			b, err = os.ReadFile(name) // #nosec G304 -- below from
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_, _ = w.Write(b)
}

// fetch has the go command bring a file of a proxy's path to the module cache. It reports an
// error for what is not one version's file.
func fetch(at string) error {
	module, file, ok := strings.Cut(strings.TrimPrefix(at, "/"), "/@v/")
	kind := filepath.Ext(file)
	version := unescape(strings.TrimSuffix(file, kind))
	if !ok || version == "" {
		return fs.ErrNotExist
	}
	what := unescape(module) + "@" + version
	var err error
	switch kind {
	case ".zip":
		_, err = goOutput("mod", "download", what)
	case ".info", ".mod":
		_, err = goOutput("list", "-m", what)
	default:
		err = fs.ErrNotExist
	}
	return err
}

// unescape returns a path or version of a module from a proxy's form of it, in which an
// exclamation mark stands before what is a capital letter.
func unescape(s string) string {
	var b strings.Builder
	up := false
	for _, r := range s {
		switch {
		case r == '!':
			up = true
		case up:
			b.WriteString(strings.ToUpper(string(r)))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// goOutput runs the go command in the test's own environment, outside of any module.
func goOutput(args ...string) (string, error) {
	cmd := exec.Command("go", args...) // #nosec G204 -- of a module proxy's request
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GO111MODULE=on", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
