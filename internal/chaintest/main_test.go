package main

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// want is the last sum of 10 000 ticks, on any machine.
const want = "d15d569cc14e8aab4f63eb892d5a9328"

// TestChain: this machine computes what all others do. It says nothing where
// ships no longer hit one another, so the world must change in size.
func TestChain(t *testing.T) {
	var sums [][]byte
	sizes := map[int]bool{}
	require.NoError(t, play(10*link, false, func(_ int, sum []byte, entities int) {
		sums = append(sums, bytes.Clone(sum))
		sizes[entities] = true
	}))
	require.Len(t, sums, 10)
	require.Greater(t, len(sizes), 3, "shots come and go")
	require.Equal(t, want, hex.EncodeToString(sums[9]))
}
