package agones

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLine reads lines of a watch. Each result is either a state or an error.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		`{"result":{"object_meta":{"name":"a","deletion_timestamp":"0"},"status":{"state":"Ready","address":"192.0.2.1","ports":[{"name":"default","port":7777}]}}}`,
		`{"result":{"object_meta":{"deletion_timestamp":"1700000000","labels":null},"status":{"state":"Allocated","counters":{"rooms":{"count":"1","capacity":"10"}},"lists":null}}}`,
		`{"error":{"code":14,"message":"gone"}}`, `{"result":null}`, `{}`, `[]`, `null`, `{"result":{"status":{"ports":[{"port":"x"}]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		gs, err := parseLine(b)
		require.Equal(t, err == nil, gs != nil)
		if gs != nil {
			s := gs.state()
			require.LessOrEqual(t, len(s.Ports), len(gs.Status.Ports))
		}
		_ = message(b)
	})
}
