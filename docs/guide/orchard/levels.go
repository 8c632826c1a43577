package orchard

import (
	"strings"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
)

// Level is what never changes while it is played: walls and ground. It is not sent, as
// both ends have it in their files.
type Level struct{ rows []string }

// levels by name. Each letter is a field of 4 by 4 metres: # is a wall, ~ is mud.
var levels = map[string]*Level{
	"meadow": {strings.Fields("........ .....~~. .##..~~. .#...... ........ ......#. .....##. ........")},
	"cave":   {strings.Fields("######## #......# #..##..# #......# #......# #..##..# #......# ########")},
}

func (l *Level) at(x, y float32) byte {
	if x < 0 || y < 0 || x >= Size || y >= Size {
		return '#'
	}
	return l.rows[int(y/4)][int(x/4)]
}

// Solid reports whether a body cannot be there.
func (l *Level) Solid(x, y float32) bool { return l.at(x, y) == '#' }

// Ground returns how much of its speed a body keeps there.
func (l *Level) Ground(x, y float32) float32 {
	if l.at(x, y) == '~' {
		return 0.5
	}
	return 1
}

// Start returns where a player begins.
func (l *Level) Start(player foretick.PlayerID) Position {
	return Position{X: 5 + 3*float32(player%8), Y: 18}
}

func (g *Game) declareLevels(p *foretick.Protocol) {
	g.level = levels["meadow"]
	p.OnLevel(func(_ *foretick.Frame, data []byte) { g.load(string(data)) })
}

// load runs on the server in Begin and Next, and on each client when it enters the level.
func (g *Game) load(name string) {
	if l := levels[name]; l != nil {
		g.level = l
	}
	g.print("entering " + name)
}

// Begin names the first level, before the server's first Step.
func (g *Game) Begin(s *server.Server, level string) error {
	g.server = s
	return s.NextLevel([]byte(level), func(*foretick.ServerFrame) { g.load(level) })
}

// Next starts another level, from a system or a handler of the server.
func (g *Game) Next(level string) error {
	kept := map[foretick.PlayerID]Name{} // the old world is gone when build runs
	for _, rows := range g.players.All(g.server.World()) {
		kept[rows.Owner()] = g.Name.Slice(rows)[0]
	}
	return g.server.NextLevel([]byte(level), func(f *foretick.ServerFrame) {
		g.load(level)
		*g.Match.Get(f.World) = Match{Phase: Playing, Left: round} // a singleton outlives its level
		for _, player := range g.server.Players(nil) {
			g.body(f, player.ID, kept[player.ID])
		}
	})
}
