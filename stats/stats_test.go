package stats_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/internal/peek"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// told has all exported types of counters, by directory.
var told = map[string]fmt.Stringer{
	"stats.Counters":          stats.Counters{},
	"stats.Player":            stats.Player{},
	"stats.Client":            stats.Client{},
	"bots.Stats":              bots.Stats{},
	"flight.FolderStats":      flight.FolderStats{},
	"host.Stats":              host.Stats{},
	"netcode.ClockStats":      netcode.ClockStats{},
	"netcode.Stats":           netcode.Stats{},
	"lagcomp.JudgeStats":      lagcomp.JudgeStats{},
	"rollback.Stats":          rollback.Stats{},
	"relay.Stats":             relay.Stats{},
	"lagcomp.HistoryStats":    lagcomp.HistoryStats{},
	"transport.Stats":         transport.Stats{},
	"transport/sim.PathStats": sim.PathStats{},
}

// untoldTypes are the types of package stats that are no struct of counters, or are sums of them.
var untoldTypes = []string{"ByRefusal", "Count", "Histogram", "Host", "Kind", "Loss", "Refusal", "Server", "Shares", "System", "Traffic"}

// TestStatsTellTheirCounters: String prints each counter that is not zero, for all types of counters.
func TestStatsTellTheirCounters(t *testing.T) {
	for name, v := range told {
		nothing := v.String()
		require.NotEmpty(t, nothing, name)
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() {
				continue
			}
			one := reflect.New(typ).Elem()
			fill(one.Field(i))
			line := one.Interface().(fmt.Stringer).String()
			require.NotEqual(t, nothing, line, "%s.%s", name, f.Name)
			if one.Field(i).CanUint() {
				require.Contains(t, line, "77", "%s.%s", name, f.Name)
			}
		}
	}
	st := stats.Client{}
	for c := range st.ByCause.All() {
		st.ByCause.Count(c, uint64(c)+3)
		require.Contains(t, st.String(), fmt.Sprintf("%v %d", c, c+3))
	}
}

// fill makes a value none of whose numbers are zero.
func fill(v reflect.Value) {
	switch {
	case v.CanInt():
		v.SetInt(7000)
	case v.CanUint():
		v.SetUint(77)
	case v.CanFloat():
		v.SetFloat(7)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(peek.Open(v.Field(i)))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	}
}

// TestEveryStatsTypeIsTold: told lists every exported type of counters.
func TestEveryStatsTypeIsTold(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != ".." || d.Name() == "internal" || d.Name() == "examples" || d.Name() == "benchmarks" || d.Name() == "tools") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || releasetest.Newer(path) {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			if ok && spec.Name.IsExported() && (strings.HasSuffix(spec.Name.Name, "Stats") || name == "stats" && !slices.Contains(untoldTypes, spec.Name.Name)) {
				found++
				name += "." + spec.Name.Name
				require.True(t, told[name] != nil, name)
			}
			return true
		})
		return nil
	}))
	require.Equal(t, len(told), found)
}

// TestClientAddLeavesNothingOut: a counter that is added to the struct is summed.
func TestClientAddLeavesNothingOut(t *testing.T) {
	fieldtest.Adds(t, (*stats.Client).Add, "Connection", "Clock")
}

// TestConfirmOfTheEnds: the shares 0 and 1 are the shortest and the longest time. Without inputs the
// time is 0.
func TestConfirmOfTheEnds(t *testing.T) {
	var none, some stats.Client
	require.Zero(t, none.Confirm(0.5))
	for _, ms := range []int{30, 40, 50, 1999} {
		some.CountConfirmed(time.Duration(ms) * time.Millisecond)
	}
	for q, want := range map[float64]int{-1: 30, 0: 30, 0.25: 40, 0.5: 50, 0.99: 1999, 1: 1999, math.Inf(1): 1999} {
		require.Equal(t, time.Duration(want)*time.Millisecond, some.Confirm(q), "%v", q)
	}
	require.Equal(t, 30*time.Millisecond, some.Confirm(math.NaN()))

	none.CountConfirmed(40 * time.Millisecond)
	require.Equal(t, 40*time.Millisecond, none.Confirm(1))
	none.Add(&some)
	require.EqualValues(t, 5, none.Confirmed)
	require.Equal(t, 1999*time.Millisecond, none.Confirm(1))
	require.Equal(t, 40*time.Millisecond, none.Confirm(0.5))
	none.CountConfirmed(-1)
	none.CountConfirmed(time.Minute)
	require.Zero(t, none.Confirm(0))
}
