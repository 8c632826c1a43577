package dtls

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSums(t *testing.T) {
	body := plainRecord(typeHandshake, 0, 1, message(1, 2, 0, 2, 9, 9)...)
	b := appendSum(bytes.Clone(body))
	got, _, summed, ok := unsum(b)
	assert.True(t, summed && ok)
	assert.Equal(t, body, got)
	for bit := range len(b) * 8 {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		_, _, summed, ok := unsum(c)
		require.False(t, summed && ok, "bit %d", bit)
	}
	_, _, summed, ok = unsum(body)
	assert.True(t, !summed && ok)
}

// Protected records end in bytes of every value, and are never mistaken for a
// checksum.
func TestProtectedIsNoSum(t *testing.T) {
	k := testKeys(t)
	w := writer{half: k.write, next: firstSequence}
	for i := range 5000 {
		b, err := w.appendRecord(nil, typeData, make([]byte, 1+i%100))
		require.NoError(t, err)
		got, _, summed, ok := unsum(b)
		require.True(t, ok && !summed && len(got) == len(b))
	}
}
