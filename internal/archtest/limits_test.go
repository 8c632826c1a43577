package archtest_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// limitRows names, for each constant that a refusal of a declaration or config names, its row
// in the guide's page about limits, or begins with a minus and says why it has none.
var limitRows = map[string]string{
	"MaxAudiences":       "audiences",
	"MaxGameChannels":    "channels",
	"MaxHelloData":       "`client.Observe.Data`",
	"MaxLateShare":       "`server.Config.Late.Share`",
	"MaxSnapshotBuffer":  "`client.Config.SnapshotBuffer`",
	"MaxLevelData":       "bytes of data for a level",
	"MaxMessageFields":   "fields of all messages and requests",
	"MaxMessages":        "messages",
	"MaxPlayers":         "`server.Config.MaxClients`",
	"MaxQuatBits":        "`bits` of a `quat`",
	"MaxRecord":          "bytes of an entity's state",
	"MaxShapes":          "custom shapes",
	"MaxText":            "bytes of a name",
	"MaxTickRate":        "ticks a second",
	"MaxTypes":           "types",
	"MaxVector":          "numbers of a vector",
	"longestDelay":       "`client.Config.InputDelay`",
	"longestFade":        "`client.Config.SmoothHalfLife`",
	"longestHold":        "`server.Config.ReconnectWindow`",
	"longestInput":       "`server.Config.RepeatInput`",
	"longestLate":        "`server.Config.Late.Window`",
	"LongestTimeout":     "`relay.Config.CloseAfter`",
	"MaxPlaces":          "`relay.Config.Players`",
	"MaxWindow":          "`rollback.Config.Window`",
	"mostBehind":         "`rollback.Config.Behind`",
	"mostDelay":          "`rollback.Config.Delay`",
	"mostEntities":       "`rollback.Config.MaxEntities`",
	"mostMaxWorld":       "`rollback.Config.MaxWorld`",
	"maxCallName":        "-the name of a call, not of a declaration",
	"maxCalls":           "functions that wait in `Server.Do`",
	"maxComponents":      "-of schema.Registry, for games on the packages alone",
	"maxDepth":           "-of lagcomp.Config, for games on the packages alone",
	"maxEditText":        "-of an edit by hand, in a debugger",
	"maxLabels":          "fields with a name, unit or `enum`",
	"maxPrefabs":         "prefabs",
	"maxReadPrefabWords": "words of all prefabs",
	"maxRewind":          "`server.Config.MaxRewind`",
	"maxSchemaWords":     "words of all components",
	"maxSettle":          "-of lagcomp.Config, for games on the packages alone",
	"maxSingletons":      "-of ecs.Types, which also has those that are not sent",
	"maxSlot":            "entities in a world",
	"maxTags":            "tags of systems",
	"maxTickRate":        "-of lagcomp.Config, for games on the packages alone",
	"maxWords":           "words of a component or message",
	"mostCommand":        "bytes of a command",
	"mostComponents":     "replicated components",
	"mostTags":           "tags of systems",
	"mostSingletons":     "singletons that are sent",
	"mostScale":          "-of Preview.SetTimeScale, a speed",
	"mostWaiting":        "`server.Config.MaxWaitingPerAddress`",
}

// TestLimitsAreOnThePage: a limit that a game can meet when it declares or configures is on the
// page about limits, which a test of the root tries row by row.
func TestLimitsAreOnThePage(t *testing.T) {
	root := repository(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "limits.md"))
	require.NoError(t, err)
	var met []string
	walk(t, func(name string) {
		if !slices.Contains([]string{".", "server", "client", "ecs", "schema", "lagcomp", "internal/game", "relay", "rollback"}, path.Dir(name)) || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		met = append(met, f.refused()...)
	})
	slices.Sort(met)
	for _, name := range slices.Compact(met) {
		row, known := limitRows[name]
		if !known {
			t.Errorf("%s limits what a game says: add a row to docs/guide/limits.md and to limitRows", name)
		} else if !strings.HasPrefix(row, "-") && !strings.Contains(string(page), "| "+row) {
			t.Errorf("%s: docs/guide/limits.md has no row that begins with %q", name, row)
		}
	}
	for name := range limitRows {
		require.Contains(t, met, name, "no refusal names it any more")
	}
}

var limitName = regexp.MustCompile(`^(Max|max|Most|most|Longest|longest)[A-Z]\w*$`)

// refused lists the constants that a file's refusals name.
func (f *file) refused() (names []string) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn := ""
		switch of := call.Fun.(type) {
		case *ast.Ident:
			fn = of.Name
		case *ast.SelectorExpr:
			fn = of.Sel.Name
		}
		if !slices.Contains([]string{"faultf", "fault", "addFault", "Errorf", "Panicf", "check", "CheckDuration", "within", "upTo", "checkNumber"}, fn) {
			return true
		}
		for _, arg := range call.Args {
			ast.Inspect(arg, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok && (of.Name == "c" || of.Name == "cfg") { // a config's field
						return false
					}
				}
				if id, ok := n.(*ast.Ident); ok && limitName.MatchString(id.Name) {
					names = append(names, id.Name)
				}
				return true
			})
		}
		return true
	})
	return names
}
