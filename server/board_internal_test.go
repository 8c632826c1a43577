package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport/sim"
)

// TestPostingAllocatesNothing: copying the data for other goroutines in every tick allocates nothing.
func TestPostingAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	m := newBoardMatch(t, 8, sim.Link{})
	m.run(3 * time.Second)
	require.Len(t, m.server.Players(nil), 8)
	player := make([]Player, 0, 8)
	var seen stats.Server
	require.Zero(t, testing.AllocsPerRun(100, func() {
		began := m.server.figures.begin(m.server.clock.now)
		m.server.figures.postAll()
		m.server.figures.end(began)
		m.server.Figures(&seen)
		player = m.server.Players(player[:0])
		_, _ = m.server.PlayerStats(player[0])
		_, _ = m.server.Stats(), m.clients[0].Stats()
	}))
}

// TestResentCountsOnce: data that a connection sent again counts once, while the connection exists and
// after its end, so that no counter of the server's ever decreases.
func TestResentCountsOnce(t *testing.T) {
	m := newBoardMatch(t, 4, sim.Link{Loss: 0.3, Latency: 40 * time.Millisecond})
	m.each = func() {
		want := m.gone
		for _, p := range m.server.sessions.players {
			if p.session.conn != nil {
				want += p.session.conn.Stats().EntriesResent
			}
		}
		m.server.board.postAll()
		require.Equal(t, want, m.server.Stats().MessagesResent)
	}
	m.run(3 * time.Second)
	require.Positive(t, m.server.Stats().MessagesResent)
	for player := range foretick.PlayerID(3) {
		p := m.server.sessions.player(player + 1)
		m.gone += p.session.conn.Stats().EntriesResent
		before := m.server.Stats().MessagesResent
		m.server.departures.dropPeer(p, 0, "planted")
		m.server.board.post()
		require.Equal(t, before, m.server.Stats().MessagesResent, "without a tick between")
		m.each()
	}
}

// TestStatsInHooks: a hook sees the arrival or departure for which it is called.
func TestStatsInHooks(t *testing.T) {
	net := sim.NewNetwork(1)
	m := &boardMatch{net: net, tell: func() {}}
	p, _ := boardProtocol()
	var joined, left, sessions uint64
	p.OnJoin(func(_ *foretick.ServerFrame, player foretick.PlayerID) {
		joined++
		require.Equal(t, uint64(3), m.server.Stats().Joined, "all came before the tick")
		require.Contains(t, m.server.Players(nil), m.server.Player(player))
		require.NotZero(t, m.server.Player(player))
		st, ok := m.server.PlayerStats(m.server.Player(player))
		require.True(t, ok)
		require.NotZero(t, st.SessionNumber)
	})
	p.OnLeave(func(_ *foretick.ServerFrame, player foretick.PlayerID) {
		left++
		require.Equal(t, uint64(3), m.server.Stats().Left)
		require.False(t, slices.ContainsFunc(m.server.Players(nil), func(p Player) bool { return p.ID == player }))
		require.Zero(t, m.server.Player(player))
		_, ok := m.server.PlayerStats(m.server.Player(player))
		require.False(t, ok)
	})
	listen := net.Listen()
	var err error
	m.server, err = New(Config{Protocol: p, Transport: listen, ReconnectWindow: -1})
	require.NoError(t, err)
	for i := range 3 {
		cp, _ := boardProtocol()
		var c *client.Client
		c, err = client.New(client.Config{Protocol: cp, Transport: net.Dial(listen, sim.Link{}, sim.Link{}), OnSession: func(client.Session) {
			sessions++
			require.Equal(t, uint64(1), c.Stats().Connections, "of client %d", i)
		}})
		require.NoError(t, err)
		m.clients = append(m.clients, c)
	}
	m.run(time.Second)
	for _, c := range m.clients {
		require.NoError(t, c.Close())
	}
	m.run(time.Second)
	require.Equal(t, []uint64{3, 3, 3}, []uint64{joined, left, sessions})
}

func boardProtocol() (*foretick.Protocol, *foretick.Message[hand]) {
	p, news := foretick.NewProtocol("board", 1), &foretick.Message[hand]{}
	news.OnClient(p, func(*foretick.Frame, foretick.Tick, hand) {})
	return p, news
}

// boardMatch is a match in virtual time in which the server sends a message to everybody in every tick.
type boardMatch struct {
	net     *sim.Network
	server  *Server
	clients []*client.Client
	tell    func() // sends a message to everybody
	each    func() // called after each Step of the server
	gone    uint64
}

func newBoardMatch(t *testing.T, clients int, link sim.Link) *boardMatch {
	t.Helper()
	m := &boardMatch{net: sim.NewNetwork(1)}
	listen := m.net.Listen()
	p, news := boardProtocol()
	var err error
	m.server, err = New(Config{Protocol: p, Transport: listen})
	require.NoError(t, err)
	m.tell = func() { news.Broadcast(m.server.Frame(), hand{X: 1}) }
	for range clients {
		cp, _ := boardProtocol()
		c, err := client.New(client.Config{Protocol: cp, Transport: m.net.Dial(listen, link, link)})
		require.NoError(t, err)
		m.clients = append(m.clients, c)
	}
	return m
}

func (m *boardMatch) run(d time.Duration) {
	epoch := time.Unix(0, 0)
	for end := m.net.Now() + d; m.net.Now() < end; {
		m.net.Run(m.net.Now() + time.Second/60)
		m.tell()
		m.server.Step(epoch.Add(m.net.Now()))
		if m.each != nil {
			m.each()
		}
		for _, c := range m.clients {
			c.Step(epoch.Add(m.net.Now()))
		}
	}
}

// aboutNobody has the log lines that concern no single player of the server.
var aboutNobody = []string{
	"cautionText", "ended", // about the game's code, and about the match
	`"Frame.Rewind or RewindBehind was asked for`, // a caller that is not a player has no address
	`"a string or slice does not fit its tag`,     // in any entity
	`"the world has no table for an entity`,       // the owner is not a player
	"kind",                                        // in refusal: with an address, before there is a player; abuse adds the player
	`"the server falls behind`,                    // about everybody
	`"the game ended the server's goroutine`,      // about everybody
	"refusals",                                    // about peers that the endpoint refused
	`"this build has the tag`,                     // about the build
	`"tools do not get the labels`,                // about the game
	`"panic in server.Config.OnPanic`,             // the line before it names the player
}

// TestEveryLogLineSaysWho reads the log lines of both ends in the source. Each line about a player has
// the address, the identity and the session.
func TestEveryLogLineSaysWho(t *testing.T) {
	var files []string
	for _, dir := range []string{".", "../client", "../internal/game", ".."} {
		some, err := releasetest.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, some, dir)
		files = append(files, some...)
	}
	lines := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, src, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			text := string(src[d.Pos()-file.FileStart : d.End()-file.FileStart])
			ast.Inspect(d, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !logs(call) {
					return true
				}
				lines++
				line := string(src[call.Args[0].Pos()-file.FileStart : call.End()-file.FileStart])
				for _, nobody := range aboutNobody {
					if strings.HasPrefix(line, nobody) {
						return true
					}
				}
				require.True(t, strings.Contains(line, ".who(") || strings.Contains(line, "line") && strings.Contains(text, "line = p.who(") || strings.Contains(text, "line := p.who("),
					"%s says of whom by p.who(), or is one of aboutNobody: %s", set.Position(call.Pos()), line)
				return true
			})
		}
	}
	require.Greater(t, lines, 10)
}

// logs reports whether a call is a line of a server's logger.
func logs(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	at, ok := f.X.(*ast.SelectorExpr)
	return ok && at.Sel.Name == "Logger"
}
