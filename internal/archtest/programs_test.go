package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommonPrograms: the three programs that most games begin with stay short.
func TestCommonPrograms(t *testing.T) {
	for name, most := range map[string]int{"example_player_test.go": 73, "example_shot_test.go": 50, "example_spectator_test.go": 24} {
		src, err := os.ReadFile(filepath.Join(repository(t), name))
		require.NoError(t, err)
		lines := 0
		for _, line := range strings.Split(string(src), "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		require.LessOrEqual(t, lines, most, name)
		require.Equal(t, 1, strings.Count(string(src), "\nfunc Example"), "%s has one Example, so that it is shown whole", name)
	}
}
