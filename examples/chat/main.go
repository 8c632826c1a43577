// Command chat shows how players talk and carry things: names that they choose, lines
// of chat in both directions, plans that only allies can read, a predicted bag of
// items, and level changes during the match.
//
// The texts that a player types are sent as requests, and the server's answers as messages; both arrive
// exactly once and in order. A player's actions are commands, one for each tick.
//
// With -observe, a tool without the game's types watches the match: see watch.go.
//
//	go run ./examples/chat -loss 0.3
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type (
	// Profile is what others see of a player.
	Profile struct {
		Name string `net:"max=16"`
		Plan string `net:"max=24,allies"` // only allies receive it
	}
	// Item is a number of things of one kind in a bag.
	Item struct {
		Kind  uint8 `net:"max=15"`
		Count uint8 `net:"max=99"`
	}
	// Bag is predicted: a taken item appears in it at once.
	Bag struct {
		Items []Item `net:"max=4"`
	}
	// Command is a player's input.
	Command struct {
		Take uint8 `net:"max=15"` // the kind of item to take; 0: none
	}
	// Say is the request that sends a line that a player types.
	Say struct {
		Text string `net:"max=40"`
	}
	// Said is the message that shows a line of chat.
	Said struct {
		By   foretick.PlayerID
		Text string `net:"max=60"`
	}
)

// Game holds the handles of one end.
type Game struct {
	Profile ecs.Component[Profile]
	Bag     ecs.Component[Bag]
	Cmd     ecs.Component[Command]
	Player  ecs.Prefab
	Say     foretick.Request[Say]
	Chat    foretick.Message[Said]

	server *server.Server                // on the server: the match
	kept   map[foretick.PlayerID]Profile // each player's profile, from /next to the end of its tick; otherwise nil
	mine   *ecs.Query                    // all players' entities
	show   func(string)                  // on a client: shows a line of chat
}

// Protocol declares the game.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("chat", 1)
	p.Component(&g.Profile)
	p.Component(&g.Bag, foretick.Predicted())
	p.Command(&g.Cmd)
	p.Prefab(&g.Player, "player", &g.Profile, &g.Bag, &g.Cmd)
	g.mine = p.Query(ecs.With(&g.Profile))
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		f.SetTeam(player, uint8(player)%2+1)
		g.enter(f, player, Profile{Name: fmt.Sprintf("player %d", player)})
	})
	p.Shared("take", g.take, ecs.Read(&g.Cmd), ecs.Write(&g.Bag))
	p.OnLevel(func(_ *foretick.Frame, data []byte) { g.show("level " + string(data)) })
	g.Say.Handle(p, g.hear)
	g.Chat.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, s Said) { g.show(s.Text) })
	return p
}

func (g *Game) enter(f *foretick.ServerFrame, player foretick.PlayerID, pr Profile) {
	*g.Profile.Get(f.World, f.Spawn(&g.Player, player)) = pr
}

// take puts an item into the bag, on the server and on the player's client.
func (g *Game) take(_ *foretick.Frame, rows ecs.Rows) {
	bag := g.Bag.Slice(rows)
	for i, cmd := range g.Cmd.Slice(rows) {
		if cmd.Take != 0 {
			bag[i].put(cmd.Take)
		}
	}
}

// put adds an item to those of its kind. If there are four other kinds, it drops the oldest.
func (b *Bag) put(kind uint8) {
	for i := range b.Items {
		if it := &b.Items[i]; it.Kind == kind {
			it.Count = min(it.Count+1, 99)
			return
		}
	}
	if len(b.Items) == 4 {
		b.Items = append(b.Items[:0], b.Items[1:]...)
	}
	b.Items = append(b.Items, Item{kind, 1})
}

// hear handles a line that a player typed.
func (g *Game) hear(f *foretick.ServerFrame, player foretick.PlayerID, say Say) {
	for _, rows := range g.mine.Owned(f.World, player) {
		pr := &g.Profile.Slice(rows)[0]
		var text string
		switch verb, rest, _ := strings.Cut(say.Text, " "); verb {
		case "/name":
			text = pr.Name + " is now " + rest
			pr.Name = rest
			g.keep(player, *pr)
		case "/plan":
			pr.Plan = rest
			g.keep(player, *pr)
			return
		case "/next":
			g.next(f.Frame, rest)
			return
		default:
			text = pr.Name + ": " + say.Text
		}
		g.Chat.Broadcast(f, Said{player, text})
	}
}

// next starts another level at the end of the tick. It copies the profiles first, since
// the old world no longer exists when the new level is built.
func (g *Game) next(f *foretick.Frame, level string) {
	g.kept = map[foretick.PlayerID]Profile{}
	for _, rows := range g.mine.All(f.World) {
		g.kept[rows.Owner()] = g.Profile.Slice(rows)[0]
	}
	_ = g.server.NextLevel([]byte(level), func(f *foretick.ServerFrame) { // a name is never too long
		for _, player := range g.server.Players(nil) {
			g.enter(f, player.ID, g.kept[player.ID])
		}
		g.kept = nil
	})
}

// keep updates the copy of a profile that changes in the tick of /next, but after it.
func (g *Game) keep(player foretick.PlayerID, pr Profile) {
	if g.kept != nil {
		g.kept[player] = pr
	}
}

// command returns a client's input: it takes an item every eighth tick.
func (g *Game) command(v client.View) Command {
	if v.Tick%8 != 0 {
		return Command{}
	}
	return Command{Take: uint8(v.Tick/8%7) + 1}
}

// talk sends the first of lines, and returns those that are left.
func (g *Game) talk(c *client.Client, lines []string) []string {
	if len(lines) > 0 && g.Say.Send(c, Say{lines[0]}) == nil {
		lines = lines[1:]
	}
	return lines
}

// speeches are the lines that each player types.
var speeches = [][]string{
	{"/name Ann", "hello", "/plan left", "/next harbour", "bye"},
	{"/name Bert", "who is there?", "/plan right"},
	{"/name Carl", "I am", "/plan I follow Ann"},
}

// play lets three players talk for some seconds of virtual time.
func play(out io.Writer, loss float64, seconds int, observed bool) error {
	m := simtest.New(1)
	g := &Game{}
	srv, err := m.Serve(server.Config{Protocol: g.Protocol(), Observe: admit})
	if err != nil {
		return err
	}
	g.server = srv
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: loss}
	var w *watcher
	if observed {
		if w, err = watch(m.Dial(link, link), func(s string) { _, _ = fmt.Fprintf(out, "%5.2f s  observer  %s\n", m.Net.Now().Seconds(), s) }); err != nil {
			return err
		}
		var step func()
		step = func() {
			if err = w.Step(m.Now()); err == nil {
				m.Net.At(m.Net.Now()+time.Second/30, step)
			}
		}
		m.Net.At(0, step)
	}
	var clients []*client.Client
	var ends []*Game
	for i, lines := range speeches {
		c := &Game{}
		c.show = func(s string) { _, _ = fmt.Fprintf(out, "%5.2f s  screen %d  %s\n", m.Net.Now().Seconds(), i+1, s) }
		var cli *client.Client
		speak := func(v client.View) {
			if v.State == client.Playing && v.Tick%15 == 0 {
				lines = c.talk(cli, lines)
			}
		}
		cfg := client.Config{Protocol: c.Protocol(), Sample: client.Sample(&c.Cmd, c.command)}
		if cli, err = m.Join(cfg, simtest.Seat{Up: link, Down: link, FrameRate: 30, After: speak}); err != nil {
			return err
		}
		clients, ends = append(clients, cli), append(ends, c)
		m.Run(m.Net.Now() + time.Second)
	}
	m.Run(time.Duration(seconds) * time.Second)
	for i, c := range ends {
		for _, rows := range c.mine.All(clients[i].View().World) {
			pr := c.Profile.Slice(rows)[0]
			_, _ = fmt.Fprintf(out, "screen %d: %s has the plan %q and carries %v\n", i+1, pr.Name, pr.Plan, c.Bag.Slice(rows)[0].Items)
		}
	}
	if observed {
		for _, line := range w.Lines() {
			_, _ = fmt.Fprintln(out, "observer:", line)
		}
	}
	return err
}

func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	flags.SetOutput(errs)
	loss := flags.Float64("loss", 0.1, "share of packets lost, 0 to 0.5")
	seconds := flags.Int("seconds", 12, "virtual seconds to play, 5 to 600")
	observed := flags.Bool("observe", false, "let a tool without the game's types watch")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *loss < 0 || *loss > 0.5 || *seconds < 5 || *seconds > 600:
		_, _ = fmt.Fprintln(errs, "chat: a value is out of range: see -help")
		return 2
	}
	if err := play(out, *loss, *seconds, *observed); err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
