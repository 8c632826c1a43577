//go:build foretick_debug

package server_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A server of a debug build logs once that the sizes of its packets are not those of the real game.
func TestDebugBuildIsLogged(t *testing.T) {
	var log bytes.Buffer
	_, err := server.New(server.Config{
		Protocol: foretick.NewProtocol("debug", 1), Transport: sim.NewNetwork(1).Listen(),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "this build has the tag foretick_debug")
}
