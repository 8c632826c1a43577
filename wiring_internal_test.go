package foretick

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
	"github.com/stretchr/testify/require"
)

// hands is a server of three clients, of which one is going to be spoilt.
type hands struct {
	t       *testing.T
	net     *sim.Network
	server  *Server
	clients []*Client
}

func newHands(t *testing.T) *hands {
	h := &hands{t: t, net: sim.NewNetwork(1)}
	protocol := func() (*Protocol, *ecs.Component[hand]) {
		p, cmd := NewProtocol("hand", 1), new(ecs.Component[hand])
		p.Command(cmd)
		return p, cmd
	}
	listen := h.net.Listen()
	p, _ := protocol()
	var err error
	h.server, err = NewServer(ServerConfig{Protocol: p, Transport: listen})
	require.NoError(t, err)
	for range 3 {
		p, cmd := protocol()
		c, err := NewClient(ClientConfig{Protocol: p, Transport: h.net.Dial(listen, sim.Link{}, sim.Link{}),
			Sample: Sample(cmd, func(View) hand { return hand{X: 1} })})
		require.NoError(t, err)
		h.clients = append(h.clients, c)
	}
	h.run(3 * time.Second)
	for _, c := range h.clients {
		require.Equal(t, Playing, c.View().State)
	}
	return h
}

func (h *hands) run(d time.Duration) {
	for end := h.net.Now() + d; h.net.Now() < end; {
		h.net.Run(h.net.Now() + time.Second/60)
		h.server.Step(time.Unix(0, 0).Add(h.net.Now()))
		for _, c := range h.clients {
			c.Step(time.Unix(0, 0).Add(h.net.Now()))
		}
	}
}

// TestServerContainsDecoding plants a panic in each thing that reads a player's bytes,
// by taking away what it cannot do without. That player alone loses its connection, and
// the packet is logged.
func TestServerContainsDecoding(t *testing.T) {
	for name, plant := range map[string]func(h *hands, c *Client, p *player) (mend func()){
		"packet": func(_ *hands, _ *Client, p *player) func() {
			clearField(p.session.conn, "sent") // where an ack is looked up
			return func() {}
		},
		"commands": func(_ *hands, _ *Client, p *player) func() {
			clearField(p.inputs.buffer, "came") // where they are marked
			return func() {}
		},
		"command": func(h *hands, _ *Client, _ *player) func() {
			c := h.server.p.Command
			schema := c.Schema
			c.Schema = nil
			return func() { c.Schema = schema }
		},
		"question for the schema": func(_ *hands, c *Client, p *player) func() {
			p.schemas.answers.Library = nil
			ask := netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)
			require.NoError(t, c.link.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, ask))
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHands(t)
			guilty, innocent := h.clients[0], h.clients[1:]
			for sent := guilty.link.conn.Stats().Sent; guilty.link.conn.Stats().Sent == sent; { // a packet is on its way
				h.run(time.Second / 60)
			}
			h.net.Run(h.net.Now() + time.Millisecond)
			mend := plant(h, guilty, h.server.sessions.players[0])
			var log bytes.Buffer
			h.server.logs.Logger = slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
				mend() // one panic is enough
				return log.Write(b)
			}), nil))
			if game.DebugBuild {
				require.Panics(t, func() { h.run(time.Second) })
				return
			}
			taken := h.server.Stats().InputsTaken
			h.run(time.Second)
			require.Regexp(t, "packet=[0-9a-f]{4}", log.String())
			require.EqualValues(t, 1, h.server.Stats().CorePanics)
			var why *transport.DisconnectError
			require.ErrorAs(t, guilty.View().Err, &why)
			require.Equal(t, transport.Malformed, why.Code)
			require.Len(t, h.server.sessions.players, 2)
			require.Greater(t, h.server.Stats().InputsTaken-taken, uint64(50), "the others play on")
			for _, c := range innocent {
				require.Equal(t, Playing, c.View().State)
			}
		})
	}
}

// clearField sets a field of what at points at to zero.
func clearField(at any, name string) {
	f := reflect.ValueOf(at).Elem().FieldByName(name)
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().SetZero()
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestServerDecodesInside: whatever of a server reads a peer's bytes, it does so inside of
// panics.decodePeer.
func TestServerDecodesInside(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	inside, names := 0, map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "server") && !slices.Contains(servers, file) {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, 0)
		require.NoError(t, err)
		var walk func(n ast.Node, in bool)
		walk = func(n ast.Node, in bool) {
			ast.Inspect(n, func(m ast.Node) bool {
				call, ok := m.(*ast.CallExpr)
				if m == n || !ok {
					return true
				}
				name := ""
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
					name = sel.Sel.Name
				}
				if reads.MatchString(name) {
					require.True(t, in, "%s: %s reads a peer's bytes outside of panics.decodePeer", fset.Position(call.Pos()), name)
					inside, names[name] = inside+1, true
				}
				for _, a := range call.Args {
					walk(&ast.ParenExpr{X: a}, in || name == "decodePeer")
				}
				walk(&ast.ParenExpr{X: call.Fun}, in)
				return false
			})
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				walk(f.Body, false)
			}
		}
	}
	require.GreaterOrEqual(t, inside, 7, "%v", names)
}

// reads are what reads a peer's bytes, and servers the files besides server*.go that do.
var (
	reads   = regexp.MustCompile("^(Receive|Read|Unpack|UnpackValues|ParseHello|ParseClientConfig|ParseSchemaRequest|ParseReport|NewestCommand|answer)$")
	servers = []string{"player.go"}
)

// TestObserverContainsDecoding: a snapshot whose reading panics ends an observer's
// connection and nothing else. Of a client TestCorePanic says so.
func TestObserverContainsDecoding(t *testing.T) {
	if game.DebugBuild {
		return
	}
	w := newWatch(t)
	w.snapshot(0)
	require.Zero(t, w.observer.Malformed())
	*w.observer.Receiver() = snapshot.Receiver{} // which can read nothing
	w.world()
	w.snapshot(0)
	var why *transport.DisconnectError
	require.ErrorAs(t, w.observer.Step(time.Unix(1000, 0)), &why)
	require.Equal(t, transport.Malformed, why.Code)
}

// TestKickedPlayerAsksForTheSchema: a kicked player that is still told its last messages may ask
// for the schema.
func TestKickedPlayerAsksForTheSchema(t *testing.T) {
	h := newHands(t)
	s, c := h.server, h.clients[0]
	p := s.sessions.player(c.View().Player)
	serve := func() {
		for range 4 { // the client's Step does not run, so it acknowledges nothing
			h.net.Run(h.net.Now() + time.Second/60)
			s.Step(time.Unix(0, 0).Add(h.net.Now()))
		}
	}
	require.NoError(t, p.session.conn.SendReliable(0, 0, []byte{1}))
	serve()
	require.True(t, s.Frame().Kick(p.owner, transport.Kicked, "out"))
	serve()
	require.True(t, s.sessions.sendingAway())
	asked := s.stats.SchemasAsked
	ask := netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)
	require.NoError(t, c.link.conn.SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, ask))
	_, b := c.link.conn.Begin(c.now).Finish()
	require.NoError(t, c.link.endpoint.Send(c.link.peer, b))
	serve()
	require.Equal(t, asked+1, s.stats.SchemasAsked)
	require.Zero(t, s.stats.CorePanics)
}
