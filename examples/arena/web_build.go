//go:build !js

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/foretick/foretick/examples/arena/game"
)

// webClient is the built client for browsers: the paths of the program and of the toolchain's
// JavaScript glue.
type webClient struct{ wasm, glue string }

// buildWebClient compiles web/client for js/wasm with the toolchain of this machine. The
// program is kept in the user's cache, and built again where the source has changed.
func buildWebClient(ctx context.Context) (c webClient, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return c, errors.New("-web compiles the page's client, and there is no go command: install Go from https://go.dev/dl, or add it to PATH")
	}
	root, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return c, err
	}
	for _, dir := range []string{"lib", "misc"} { // misc: before Go 1.24
		if name := filepath.Join(root, dir, "wasm", "wasm_exec.js"); c.glue == "" && exists(name) {
			c.glue = name
		}
	}
	if c.glue == "" {
		return c, fmt.Errorf("-web needs lib/wasm/wasm_exec.js of the Go toolchain, and %s has none: install Go from https://go.dev/dl", root)
	}
	arena := strings.TrimSuffix(reflect.TypeFor[game.Game]().PkgPath(), "/game")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	where, err := output(ctx, nil, "go", "list", "-f", "{{.Dir}}", arena+"/game")
	if err != nil {
		return c, fmt.Errorf("-web compiles the page's client from its source: start it in the directory of the module: %w", err)
	}
	of := sha256.Sum256([]byte(where))
	c.wasm = filepath.Join(cache, "foretick-arena", hex.EncodeToString(of[:8])+".wasm")
	if err := os.MkdirAll(filepath.Dir(c.wasm), 0o755); err != nil {
		return c, err
	}
	_, err = output(ctx, []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, "go", append(append([]string{"build"}, webFlags...), "-o", c.wasm, arena+"/web/client")...)
	return c, err
}

// webFlags make the client small: without debug information, paths and the commit, and without
// inlining, which would make it a twentieth larger. Only the standard library's logging is inlined:
// otherwise the linker cannot see that a client which does not log needs no logger.
var webFlags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l", "-gcflags=log/slog=", "-gcflags=sync/atomic="}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// output runs a command and returns the line that it prints.
func output(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var faults strings.Builder
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(faults.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
