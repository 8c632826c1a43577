package refused_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/refused"
)

// TestTally: an error is counted by its reason, and the newest text is kept.
func TestTally(t *testing.T) {
	var y refused.Tally
	require.Empty(t, y.Append(nil, "udp"))
	forged := refused.Because("forged", errors.New("another key"))
	for range 2 {
		y.Add(forged)
	}
	y.Add(fmt.Errorf("a client: %w", forged))
	y.Add(errors.New("go\naway"))
	y.Add(refused.Because("banned", &transport.DisconnectError{Code: transport.Refused, Reason: "cheats"}))
	y.Add(refused.Because("crowded", &transport.DisconnectError{Code: transport.Full}))
	require.Equal(t, []transport.Count{
		{Layer: "udp", Name: "forged", Refusal: "a client: another key", N: 3},
		{Layer: "udp", Name: "hook", Refusal: `the accept hook said "go\naway"`, N: 1},
		{Layer: "udp", Name: "banned", Refusal: "banned: cheats", N: 1},
		{Layer: "udp", Name: "crowded", Refusal: "crowded: full", N: 1},
	}, y.Append(nil, "udp"))
	dst := make([]transport.Count, 0, 8)
	require.Zero(t, testing.AllocsPerRun(100, func() { y.Append(dst, "udp") }))
}

// TestReasonsAreBounded: a hook that returns ever new reasons takes a bounded memory, and all its
// refusals are counted.
func TestReasonsAreBounded(t *testing.T) {
	var y refused.Tally
	for i := range 1000 {
		y.Add(refused.Because(fmt.Sprint("reason", i), errors.New("no")))
	}
	all := y.Append(nil, "ws")
	require.Len(t, all, 16)
	require.Equal(t, transport.Count{Layer: "ws", Name: "other", Refusal: "no", N: 985}, all[15])
}
