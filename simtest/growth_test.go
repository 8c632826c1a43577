package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	seedling struct {
		X float32 `net:"min=-100,max=100,step=0.01"`
	}
	growthNews  struct{ N uint8 }
	growthScore struct{ N uint32 }
)

// meadow is a game whose server spawns plants and sends the score.
type meadow struct {
	plants foretick.Tick // ticks from one plant to the next; 0: none
	lives  foretick.Tick // ticks that a plant lives; 0: it stays
	tells  foretick.Tick // ticks from one score message to the next; 0: none
}

func (g meadow) player() simtest.Player {
	var (
		plant, sprig ecs.Prefab
		at           ecs.Component[seedling]
		news         foretick.Message[growthNews]
		score        foretick.Message[growthScore]
	)
	return (&planted{}).End(func(_ *planted, p *foretick.Protocol) {
		p.Component(&at)
		p.Prefab(&sprig, "sprig", &at)
		p.Prefab(&plant, "plant", &at)
		news.OnClient(p, func(*foretick.Frame, foretick.Tick, growthNews) {})
		score.OnClient(p, func(*foretick.Frame, foretick.Tick, growthScore) {})
		var planted []ecs.Entity
		p.Server("garden", func(f *foretick.ServerFrame, _ ecs.Rows) {
			if g.plants > 0 && f.Tick%g.plants == 0 {
				planted = append(planted, f.Spawn(&plant, ecs.Nobody))
			}
			if g.lives > 0 && len(planted) > int(g.lives/g.plants) {
				f.Destroy(planted[0])
				planted = planted[1:]
			}
			if f.Tick%40 == 0 {
				news.Broadcast(f, growthNews{})
			}
			if g.tells > 0 && f.Tick%g.tells == 0 {
				score.Broadcast(f, growthScore{f.Tick})
			}
		}, ecs.Once(), ecs.Create(&at), ecs.Structural())
	})
}

// Check names a prefab whose entities only become more, and a message that is sent each tick. It
// reports nothing if entities go after a time, if there are few, or if the plan allows growth.
func TestCheckNamesWhatGrows(t *testing.T) {
	const more, sent = `entities of prefab "plant" only become more: `, "message growthScore is sent to player 1 in 100 % of all ticks, reliably"
	for name, row := range map[string]struct {
		game  meadow
		allow bool
		says  string
	}{
		"spawns that only grow":        {game: meadow{plants: 4}, says: more},
		"they are meant":               {game: meadow{plants: 4}, allow: true},
		"they live for 3 s":            {game: meadow{plants: 4, lives: 180}},
		"a few":                        {game: meadow{plants: 60}},
		"a message each tick":          {game: meadow{tells: 1}, says: sent},
		"it is meant":                  {game: meadow{tells: 1}, allow: true},
		"a message in each other tick": {game: meadow{tells: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simtest.Plan{Clients: 2, Play: 10 * time.Second, Rest: -1, Links: []sim.Link{sim.LAN}, SyncTest: -1, AllowGrowth: row.allow, New: row.game.player}
			_, err := plan.Run(1)
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.says)
			require.ErrorContains(t, err, "Plan.AllowGrowth")
		})
	}
}
