//go:build !js

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// -web says what it needs: a toolchain, an address, and no flags of other ways to play.
func TestWebFaults(t *testing.T) {
	var out strings.Builder
	require.ErrorContains(t, run(t.Context(), []string{"-web", "8080"}, &out), "use an address such as :8080")
	require.ErrorContains(t, run(t.Context(), []string{"-web", ":0", "-log", "x"}, &out), "-web excludes -log")
	t.Setenv("PATH", t.TempDir())
	err := run(t.Context(), []string{"-web", ":0"}, &out)
	require.ErrorContains(t, err, "install Go from https://go.dev/dl")
	require.Equal(t, 1, exitCode(err, io.Discard))
}

// Pages of other names cannot reach the match: it shows what the server knows.
func TestWebRefusesOtherHosts(t *testing.T) {
	served := loopback(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, code := range map[string]int{
		"127.0.0.1:8080": 200, "localhost:8080": 200, "[::1]:8080": 200, "localhost": 200,
		"example.com:8080": 403, "127.0.0.1.example.com": 403, "": 403, "10.0.0.1:8080": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		require.Equal(t, code, w.Code, host)
	}
}
