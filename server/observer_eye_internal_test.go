package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
)

// The entities around an entity reveal where it is. So an observer that follows a player has no eye at
// an entity that is hidden from it, and none beside that.
func TestFollowersOfAHiddenPlayer(t *testing.T) {
	for name, row := range map[string]struct {
		grant    Grant
		from     foretick.PlayerID // the player or observer that the body is hidden from
		sees     bool              // the observer sees what is beside the hidden body
		eye, two bool              // the game set an eye there; the player has another body, beside another item
	}{
		"public":                       {Public(), 2, false, false, false},
		"public, to follow only":       {Public().FollowOnly(), 2, false, false, false},
		"public, with an eye":          {Public(), 2, false, true, false},
		"its own team's":               {OfTeam(1), 2, true, false, false},
		"the team it is hidden from":   {OfTeam(2), 2, false, false, false},
		"that team's, with an eye":     {OfTeam(2), 2, false, true, false},
		"the player's":                 {OfPlayer(1), 2, true, false, false},
		"everything":                   {Everything(), 2, true, false, false},
		"hidden from nobody":           {Public(), 0, true, false, false},
		"hidden from nobody, with eye": {Public(), 0, true, true, false},
		"two bodies":                   {Public(), 2, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			grant := Public()
			x := newExhibition(t, 60, Config{Observe: func(Observer) (Grant, error) { return grant, nil }})
			f := x.srv.Frame()
			x.comes(client.Config{})
			x.run(time.Second / 2)
			x.comes(client.Config{})
			x.run(time.Second / 2)
			f.SetTeam(1, 1)
			f.SetTeam(2, 2)
			body := x.game.spawn(f, &x.game.item, 1, 500, 500)
			near := x.game.named + 1
			x.game.spawn(f, &x.game.item, ecs.Nobody, 510, 500)
			far := near + 1
			x.game.spawn(f, &x.game.item, ecs.Nobody, -500, 500)
			if row.two {
				x.game.spawn(f, &x.game.item, 1, -490, 500)
			}
			if row.eye {
				require.True(t, f.SetEye(1, 505, 500, 0))
			}
			if row.from != ecs.Nobody {
				require.True(t, f.SetVisible(row.from, body, false))
			}
			grant = row.grant
			c, _ := x.comes(client.Config{Observe: &client.Observe{}})
			x.run(time.Second / 2)
			c.Follow(1)
			x.run(time.Second)
			require.Equal(t, client.Playing, c.View().State)
			_, sees := x.seen(c)[near]
			require.Equal(t, row.sees, sees)
			_, other := x.seen(c)[far]
			require.Equal(t, row.two, other)
			if !row.sees { // shown again, it is an eye
				require.True(t, f.SetVisible(row.from, body, true))
				x.run(time.Second)
				require.Contains(t, x.seen(c), near)
			}
		})
	}
}
