package client

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded adds to a fuzz target's seeds the bodies of one type of message from the packets of a whole
// match; see netcode's fuzz tests.
func recorded(f *testing.F, t byte) {
	m, err := os.ReadFile("../netcode/testdata/match.txt")
	require.NoError(f, err)
	n := 0
	for line := range strings.Lines(string(m)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		p, err := hex.DecodeString(strings.TrimSpace(line))
		require.NoError(f, err)
		const sum = 4
		at := sum + 3
		if p[sum]&0x10 != 0 {
			at += 3 + bits.OnesCount8(p[sum]&0xf)
		}
		for p = p[at:]; len(p) > 1; {
			size, k := binary.Uvarint(p[1:])
			if p[0] == t {
				f.Add(p[1+k : 1+k+int(size)])
				n++
			}
			p = p[1+k+int(size):]
		}
	}
	require.NotZero(f, n, "no message of type %d was recorded", t)
}
