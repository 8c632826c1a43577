package server

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
	"github.com/stretchr/testify/require"
)

// TestServerContainsDecoding makes each reader of a player's bytes panic, by removing data that it
// needs. Only that player loses its connection, and the packet is logged.
func TestServerContainsDecoding(t *testing.T) {
	for name, plant := range map[string]func(h *hands, c *client.Client, p *player) (mend func()){
		"packet": func(_ *hands, _ *client.Client, p *player) func() {
			clearField(p.session.conn, "sent") // an acknowledgement is looked up there
			return func() {}
		},
		"commands": func(_ *hands, _ *client.Client, p *player) func() {
			clearField(p.inputs.buffer, "came") // commands are marked there
			return func() {}
		},
		"command": func(h *hands, _ *client.Client, _ *player) func() {
			c := h.server.p.Command
			schema := c.Schema
			c.Schema = nil
			return func() { c.Schema = schema }
		},
		"question for the schema": func(_ *hands, c *client.Client, p *player) func() {
			p.schemas.answers.Library = nil
			ask := netcode.SchemaRequest{Name: netcode.ProtocolSchema}.Append(nil)
			require.NoError(t, connOf(c).SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, ask))
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHands(t)
			guilty, innocent := h.clients[0], h.clients[1:]
			for sent := connOf(guilty).Stats().Sent; connOf(guilty).Stats().Sent == sent; { // until a packet has been sent
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
				require.Equal(t, client.Playing, c.View().State)
			}
		})
	}
}

// clearField sets a field to zero, in the value that at points to.
func clearField(at any, name string) {
	f := reflect.ValueOf(at).Elem().FieldByName(name)
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().SetZero()
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestServerDecodesInside: all code of the server that reads a peer's bytes runs inside
// panics.decodePeer.
func TestServerDecodesInside(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	inside, names := 0, map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
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

// reads matches the functions that read a peer's bytes.
var reads = regexp.MustCompile("^(Receive|Read|Unpack|UnpackValues|ParseHello|ParseClientConfig|ParseSchemaRequest|ParseReport|NewestCommand|answer)$")

// TestKickedPlayerAsksForTheSchema: a kicked player may ask for the schema while its last messages are
// being sent.
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
	require.NoError(t, connOf(c).SendOn(standard.ChannelSchemas, 0, netcode.KindSchemaRequest, ask))
	sendPacket(t, c, func(*netcode.Packet) {})
	serve()
	require.Equal(t, asked+1, s.stats.SchemasAsked)
	require.Zero(t, s.stats.CorePanics)
}
