package server

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/transport/sim"
)

// The hooks around systems are those that ARCHITECTURE.md lists, in its order, when everything that
// needs a hook is on. When something is off, its hooks are missing.
func TestHooksAroundSystems(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	require.NoError(t, err)
	made := func(world, all bool) *Server {
		p, cmd := foretick.NewProtocol("hooks", 1), new(ecs.Component[hand])
		p.Command(cmd)
		s, err := New(Config{Protocol: p, Transport: sim.NewNetwork(1).Listen(), Late: Late{Window: 100 * time.Millisecond, World: world}})
		require.NoError(t, err)
		if all {
			require.NoError(t, probe.OfServer(s).SyncTest(1, func(probe.Desync) {}))
			s.traces.match.armed = []*playerTrace{{}}
			probe.OfServer(s).OnSystem(func(probe.SystemRun) {})
		}
		return s
	}
	names := func(list []game.SystemHook) string {
		var all []string
		for _, h := range list {
			all = append(all, strings.TrimLeft(strings.ReplaceAll(fmt.Sprintf("%T", h), "server.", ""), "*"))
		}
		return strings.Join(all, ", ")
	}
	own, world, bare := made(false, true), made(true, true), made(false, false)
	bare.late = newLate(&bare.cfg, &bare.run, &bare.reruns) // debug builds always test
	bare.around.arrangeHooks()
	for row, list := range map[string][]game.SystemHook{
		"first run": own.around.first, "own part again": own.around.ownAgain, "world again": world.around.worldAgain, "sync test": own.around.test,
	} {
		told := regexp.MustCompile(`(?m)^\| ` + row + ` \| (.*) \|$`).FindSubmatch(page)
		require.NotNil(t, told, row)
		want := strings.Split(strings.ReplaceAll(string(told[1]), "`", ""), ", ")
		if !game.DebugBuild {
			want = slices.DeleteFunc(want, func(name string) bool { return name == "writeTrails" || name == "game.Losses" })
		}
		t.Logf("%s: %s", row, names(list))
		require.Equal(t, strings.Join(want, ", "), names(list), row)
	}
	require.Equal(t, names(own.around.first), names(world.around.first))
	require.Equal(t, names(own.around.test), names(world.around.test))
	require.Equal(t, "laterRuns, named", names(bare.around.ownAgain))
	require.Equal(t, "laterRuns, named", names(bare.around.test))
	require.Equal(t, "writeWatch", names(bare.around.worldAgain))
	require.Equal(t, len(own.around.first)-3, len(bare.around.first))
	require.Equal(t, bare.around.first, bare.sim.frames.Around)
}
