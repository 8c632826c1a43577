package optiontest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

var (
	pairSeed = flag.Uint64("pairs-seed", 1, "the seed of the matches in which options meet in pairs")
	pairsFor = flag.Duration("pairs-for", 0, "how long TestPairs goes on with the seeds after that, all their matches")
)

// refusal says how two options are refused together, and where that is documented.
type refusal struct {
	says string // part of the error
	page string // page of the guide, or source file whose comment documents the refusal
	word string // text on that page
}

// refusals has every pair that is refused.
var refusals = map[pair]refusal{
	{"server.Config.AllowOtherBuilds", "server.Config.Late.Window"}: {"clients of other builds are not supported", "docs/guide/networks.md", "`AllowOtherBuilds`"},
	{"server.Config.AllowOtherBuilds", "server.Config.Late.World"}:  {"clients of other builds are not supported", "docs/guide/networks.md", "`AllowOtherBuilds`"},
	{"server.Config.Late.Window", "foretick.PredictRemote"}:         {"predict a player with PredictRemote", "docs/guide/networks.md", "`PredictRemote`"},
	{"server.Config.Late.Window", "ecs.WriteOther"}:                 {"writes what is not its own rows", "docs/guide/networks.md", "a shared system with `ecs.WriteOther`"},
	{"client.Config.NoPrediction", "client.Config.PartialTicks"}:    {"only predicted ticks have parts", "client/config.go", "with NoPrediction"},
	{"client.Config.PartialTicks", "foretick.PredictRemote"}:        {"in a game that predicts remote players", "client/config.go", "[foretick.PredictRemote]"},
	{"client.Config.PartialTicks", "ecs.WriteOther"}:                {"shared physics objects", "client/config.go", "shared physics objects"},
	{"client.Config.Observe", "client.Config.PartialTicks"}:         {"an observer predicts nothing", "client/config.go", "and predicts nothing"},
	{"client.Config.Observe", "client.Config.ResumeToken"}:          {"an observer takes no player's place", "client/config.go", "plays nothing"},
	{"client.Config.Observe", "client.Config.Sample"}:               {"an observer gives no input", "client/config.go", "It samples no input"},
	{"server.Config.Late.Window", "use predicted text"}:             {"holds strings or slices", "docs/guide/networks.md", "a predicted component with strings or slices"},
	{"server.Config.Late.Window", "use a shared singleton"}:         {"or a singleton), and cannot run again", "docs/guide/networks.md", "one that writes a singleton"},
	{"client.Config.PartialTicks", "use a shared singleton"}:        {"a singleton", "client/config.go", "a shared system that writes a singleton"},
	{"RemoteConfig.Also", "SpawnConfig.ClientOnly"}:                 {"whose policy is ClientOnly", "protocol_remote.go", "A prefab that is ClientOnly is an error"},
}

// Expected counts. A change of them belongs in the changelog.
const (
	refusedPairs = 19 // including pairs with options that these need
	playedPairs  = 16451
)

// refuse starts a match with a pair and returns the error of the end that does not start.
func (p pair) refuse() error {
	s := setOf(p[0], p[1])
	t, err := s.begin(1)
	if err == nil {
		_, err = t.join(0, nil)
	}
	if err == nil && s["client.Config.Observe"] {
		err = t.watch(p[1] == "client.Config.Sample")
	}
	return err
}

// TestRefusals: each refused pair gives its error.
func TestRefusals(t *testing.T) {
	open, refused := meetings()
	for _, p := range refused {
		require.Error(t, p.refuse(), "%v", p)
	}
	for p, r := range refusals {
		require.ErrorContains(t, p.refuse(), r.says, "%v", p)
	}
	t.Logf("%d refusals, by which %d pairs are refused and %d play", len(refusals), len(refused), len(open))
	require.Equal(t, refusedPairs, len(refused), "a new refusal, or one that is gone")
	require.Equal(t, playedPairs, len(open), "another number of pairs plays")
}

// TestRefusalsAreDocumented: the guide, or else the comment of a config's field, documents each refusal.
func TestRefusalsAreDocumented(t *testing.T) {
	for p, r := range refusals {
		text, err := os.ReadFile(filepath.Join(releasetest.Root(t), filepath.FromSlash(r.page)))
		require.NoError(t, err)
		require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", " ")), " "), r.word, "%v", p)
	}
}

// TestRefusedOptionsPlayAlone: each option of a refused pair plays without the other.
func TestRefusedOptionsPlayAlone(t *testing.T) {
	costtest.Long(t)
	played := set{}
	for p := range refusals {
		for _, name := range p {
			if played[name] || catalogue[name].always {
				continue
			}
			played[name] = true
			require.NoError(t, setOf(name).run(7), name)
		}
	}
	t.Logf("%d options of %d refusals play alone", len(played), len(refusals))
}

// TestPairs plays matches in which each pair of options is played together. The usual run plays
// some of them. With -pairs-for it continues until that time is over or a match fails, and ends
// with the last match of a seed.
func TestPairs(t *testing.T) {
	begun, seeds, matches := time.Now(), 0, 0
	over := func() bool { return time.Since(begun) >= *pairsFor || t.Failed() }
	for first := *pairSeed; seeds == 0 || !over(); first++ {
		sets := cover(first, 45)
		n := min(len(sets), costtest.Count(20, len(sets)))
		if *pairsFor > 0 {
			n = len(sets)
		}
		for i, s := range sets[:n] {
			t.Run(fmt.Sprintf("%d/%d", first, i), func(t *testing.T) {
				if seed := first + uint64(i); s.run(seed) != nil {
					few, err := s.shrink(seed)
					t.Errorf("-pairs-seed %d: seed %d, with %v: %v", first, seed, few.drawn(), err)
				}
			})
			if matches++; seeds > 0 && over() {
				break
			}
		}
		seeds++
		t.Logf("%d options, %d pairs, %d refusals: %d matches played, with those of -pairs-seed %d, which has %d", len(catalogue), playedPairs, len(refusals), matches, first, len(sets))
	}
}

// TestSyncTestSendsNothing: a server's sync test does not change the packets that the server sends.
// A replay of the tape runs without it, and sends the same packets.
func TestSyncTestSendsNothing(t *testing.T) {
	for _, s := range []set{
		setOf("server.Config.Late.World", "Request.Handle"),
		setOf("server.Config.Late.World", "ecs.Structural", "ecs.WriteOther"),
		setOf("server.Config.Late.Window", "Request.Handle", "ecs.Structural"),
	} {
		for _, seed := range []uint64{1, 5, 12} {
			require.NoError(t, s.run(seed), "seed %d, with %v", seed, s.drawn())
		}
	}
}

// TestSpawnsOfALevelsFirstTick: an entity that a player's body spawns in the first tick of a level
// gets the same name in each run of the tick. In the first run the player's client lacks the body.
func TestSpawnsOfALevelsFirstTick(t *testing.T) {
	for _, late := range []string{"server.Config.Late.World", "server.Config.Late.Window"} {
		s := setOf("Protocol.OnLevel", "Protocol.Spawns", "ecs.Create", late)
		for _, seed := range []uint64{3, 16, 38} {
			require.NoError(t, s.run(seed), "seed %d, with %v", seed, s.drawn())
		}
	}
}
