package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out, again, errs bytes.Buffer
	require.Zero(t, run([]string{"-seconds", "2"}, &out, &errs))
	require.Contains(t, out.String(), "8 players with 1250 units each gave 32 orders")
	require.Zero(t, run([]string{"-seconds", "2"}, &again, &errs))
	require.Equal(t, out.String(), again.String())
	require.Empty(t, errs.String())
	require.Zero(t, run([]string{"-help"}, &out, &errs))
	for _, bad := range [][]string{{"-seconds", "0"}, {"-what"}} {
		errs.Reset()
		require.Equal(t, 2, run(bad, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
