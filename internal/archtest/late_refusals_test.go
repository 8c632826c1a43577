package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// lateRefusals has for each error of server.New about Late, by how it begins, what
// networks.md says of it.
var lateRefusals = map[string]string{
	"%v: use up to %v":                               "a window over 500 ms",
	"%v is %d ticks at %d Hz":                        "over half of the 32 ticks that clients remember",
	"clients of other builds are not supported":      "- `AllowOtherBuilds`\n",
	"the protocol has no command":                    "- a protocol without a command\n",
	"other players' clients predict a player":        "- `PredictRemote`\n",
	"prefab %q is a shared physics object":           "- a prefab that is a shared physics object\n",
	"shared system %q writes what is not":            "- a shared system with `ecs.WriteOther`, or one that writes a singleton. A clock that is `ecs.Once` and has nothing but singletons is no such system: no command changes what it does\n",
	"shared system %q is declared with ecs.Once":     "- a shared system with `ecs.Once` that writes or creates components",
	"predicted component %s holds strings or slices": "- a predicted component with strings or slices\n",
}

// TestLateRefusals: the guide lists everything that a server with Late refuses.
func TestLateRefusals(t *testing.T) {
	root := repository(t)
	src, err := os.ReadFile(filepath.Join(root, "server", "late.go"))
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "networks.md"))
	require.NoError(t, err)
	texts := regexp.MustCompile(`\bfault\("([^"]*)"`).FindAllSubmatch(src, -1)
	require.Len(t, texts, len(lateRefusals), "each refusal has its line in lateRefusals and in networks.md")
	for _, text := range texts {
		said, begins := beginning(lateRefusals, string(text[1]))
		require.NotEmpty(t, begins, "networks.md does not list: %s", text[1])
		require.Contains(t, string(page), said)
	}
}
