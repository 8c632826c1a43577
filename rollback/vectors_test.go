package rollback_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

var updateVectors = flag.Bool("vectors.update", false, "rewrite testdata/vectors.txt and the vectors in docs/STANDARD-rollback.md")

const (
	vectorsFile  = "testdata/vectors.txt"
	standardFile = "../docs/STANDARD-rollback.md"
)

// TestVectors holds the bytes written today, and what a decoder of the standard reads in them, to those recorded.
func TestVectors(t *testing.T) {
	var out strings.Builder
	var r reader
	for _, v := range rollback.Vectors() {
		switch v.Name {
		case "declaration":
			_, err := r.describe(v.Of, v.Data)
			require.NoError(t, err)
			r.begin(10, 40)
		case "settled: the three ticks":
			r.begin(10, 40)
		}
		again := func(b []byte) (reader, string, error) {
			of := reader{size: r.size, fields: r.fields, places: 10}
			if v.Of == "tick" || strings.HasPrefix(v.Name, "settled: ") {
				of = r
			}
			of.persons, of.commands = append([]uint64(nil), r.persons...), clone(r.commands)
			said, err := of.describe(v.Of, b)
			return of, said, err
		}
		of, said, err := again(v.Data)
		require.NoError(t, err, v.Name)
		_, _, err = again(v.Data[:len(v.Data)-1])
		require.True(t, err != nil || v.Of == "declaration" || v.Of == "kind 5", "%s, cut", v.Name) // these end anywhere
		if v.Of == "tick" {
			r = of
		}
		fmt.Fprintf(&out, "# %s\n", v.Name)
		for i := 0; i < len(v.Data); i += 32 {
			fmt.Fprintf(&out, "> %s\n", hex.EncodeToString(v.Data[i:min(i+32, len(v.Data))]))
		}
		fmt.Fprintf(&out, "%s\n", said)
	}
	if *updateVectors {
		require.NoError(t, os.WriteFile(vectorsFile, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func clone(commands [][]byte) (out [][]byte) {
	for _, c := range commands {
		out = append(out, append([]byte(nil), c...))
	}
	return out
}

// TestStandardShowsTheVectors: the vectors in the document are the tested ones.
func TestStandardShowsTheVectors(t *testing.T) {
	document, err := os.ReadFile(standardFile)
	require.NoError(t, err)
	recorded, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	parts := strings.Split(string(document), "```")
	require.Len(t, parts, 3)
	if *updateVectors {
		parts[1] = "\n" + strings.TrimSuffix(string(recorded), "\n")
		require.NoError(t, os.WriteFile(standardFile, []byte(strings.Join(parts, "```")), 0o644))
	}
	require.Equal(t, "\n"+strings.TrimSuffix(string(recorded), "\n"), parts[1], "go test ./rollback -run 'Vectors' -vectors.update")
}

// TestPersonIsTheTokensSum: the standard says what a person is.
func TestPersonIsTheTokensSum(t *testing.T) {
	token := [16]byte{1, 2, 15: 9}
	require.Equal(t, sumOf(token[:]), rollback.PersonOf(token))
}

// runner is a game for the wire: players count, and press.
type runner struct {
	count  ecs.Component[counter]
	cmd    ecs.Component[counting]
	prefab ecs.Prefab

	made      map[uint16]int8 // made has the direction that the player chose with each number.
	wrongFrom foretick.Tick   // wrongFrom is the tick from which on the game computes what others do not. 0 means none.
}

type counter struct {
	Number uint16
	Filler [700]uint64 // Filler makes the world longer than some pieces.
}

type counting struct {
	Number uint16
	Way    int8 `net:"min=-1,max=1"`
	Press  bool `net:"oneshot"`
}

func (g *runner) protocol(t *testing.T) *foretick.Protocol {
	p := foretick.NewProtocol("runner", 1)
	p.SetTickRate(60)
	p.Component(&g.count, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "runner", &g.count, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		e := f.Spawn(&g.prefab, player)
		for i := range g.count.Get(f.World, e).Filler {
			g.count.Get(f.World, e).Filler[i] = f.Rand(uint64(i))
		}
	})
	p.Shared("count", func(f *foretick.Frame, rows ecs.Rows) {
		count, cmd := g.count.Slice(rows), g.cmd.Slice(rows)
		for i := range count {
			count[i].Number = cmd[i].Number
			if g.wrongFrom > 0 && f.Tick >= g.wrongFrom {
				count[i].Filler[0]++
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.count))
	require.NoError(t, p.Err())
	return p
}

// tapped shows each datagram that an end sends or receives to somebody.
type tapped struct {
	*sim.Endpoint
	out, in func(b []byte)
}

func (e *tapped) Send(p transport.PeerID, b []byte) error {
	e.out(b)
	return e.Endpoint.Send(p, b)
}

func (e *tapped) Recv(ev []transport.Event) int {
	n := e.Endpoint.Recv(ev)
	for i := range ev[:n] {
		if ev[i].Kind == transport.Data {
			e.in(ev[i].Data)
		}
	}
	return n
}

// TestTrafficFollowsTheStandard: the standard's decoder reads all that peers and a relay say in a match with losses, a
// late player, a spectator and a player whose world differs. It has the commands that the players made, and in the end
// the relay's standing.
func TestTrafficFollowsTheStandard(t *testing.T) {
	net := sim.NewNetwork(4)
	end := net.Listen()
	keeper, err := relay.New(relay.Config{Transport: end, Players: 9, History: 10 * time.Second, Rand: rand.NewChaCha8([32]byte{7})})
	require.NoError(t, err)
	begin := time.Unix(0, 0)
	every := func(from time.Duration, fn func()) {
		var step func()
		step = func() {
			fn()
			net.At(net.Now()+5*time.Millisecond, step)
		}
		net.At(from, step)
	}
	standings, equal := map[uint32]string{}, 0 // standings has what peers have after their ticks.
	every(0, func() { keeper.Step(begin.Add(net.Now())) })
	kinds, ticks, known, right := map[string]int{}, 0, map[foretick.PlayerID]*runner{}, 0
	var readers []*reader
	join := func(observe bool, wrongFrom foretick.Tick) {
		g := &runner{made: map[uint16]int8{}, wrongFrom: wrongFrom}
		link := sim.Link{Latency: 20 * time.Millisecond, Loss: 0.02}
		r := &reader{strict: true}
		e := &tapped{Endpoint: net.Dial(end, link, link)}
		up := &connection{read: func(of string, b []byte) error {
			if of == "type 16" {
				of = "declaration"
				var err error
				if b, err = hello(b); err != nil {
					return err
				}
				_, err = r.describe(of, b)
				kinds[of]++
				return err
			}
			if of == "type 20" { // of STANDARD-netcode.md
				return nil
			}
			kinds["up "+of]++
			_, err := (&reader{}).describe(strings.TrimSuffix(of, " on channel 1"), b)
			return err
		}}
		r.settled = func(r *reader) {
			ticks++
			if standing, ok := standings[r.tick]; ok {
				require.Equal(t, standing, fmt.Sprintf("%x %x", r.in, bytes.Join(r.commands, nil)))
				equal++
			}
			for p := range r.places {
				g := known[foretick.PlayerID(p+1)]
				if r.in>>p&1 == 0 || g == nil {
					continue
				}
				// 16 bits number, 2 bits way + 1, 1 bit press. A zero command has way 0, which is packed as 1.
				c := &wire{b: append([]byte(nil), r.commands[p]...)}
				number, way := uint16(c.bits(16)), int8(c.bits(2)^1)-1
				if number == 0 {
					continue
				}
				made, ok := g.made[number]
				require.True(t, ok, "player %d did not make command %d", p+1, number)
				require.Equal(t, made, way)
				right++
			}
		}
		down := &connection{read: func(of string, b []byte) error {
			kinds["down "+of]++
			_, err := r.describe(strings.TrimSuffix(of, " on channel 1"), b)
			return err
		}}
		e.out = func(b []byte) { require.NoError(t, up.packet(b), "%x", b) }
		e.in = func(b []byte) { require.NoError(t, down.packet(b), "%x", b) }
		cfg := rollback.Config{Protocol: g.protocol(t), Transport: e, Observe: observe}
		if !observe {
			n := uint16(0)
			cfg.Sample = rollback.Sample(&g.cmd, func(v rollback.View) counting {
				known[v.Player] = g
				n++
				g.made[n] = int8(n/50%3) - 1
				return counting{Number: n, Way: g.made[n], Press: n%7 == 0}
			})
		}
		peer, err := rollback.New(cfg)
		require.NoError(t, err)
		every(net.Now(), func() {
			peer.Step(begin.Add(net.Now()))
			if tick, in, commands := rollback.StandingOf(peer); tick > 0 {
				standings[tick] = fmt.Sprintf("%x %x", in, commands)
			}
		})
		readers = append(readers, r)
	}
	join(false, 0)
	join(false, 0)
	join(false, 960)
	net.At(12*time.Second, func() { join(false, 0) })
	net.At(13*time.Second, func() { join(true, 0) })
	net.Run(22 * time.Second)
	for _, kind := range []string{
		"declaration", "up type 97", "up kind 2", "up kind 5 on channel 1", "down type 96", "down kind 1", "down kind 3",
		"up kind 7", "down kind 7", "down kind 4",
		"down kind 5 on channel 1", "down kind 6 on channel 1",
	} {
		require.Positive(t, kinds[kind], kind)
		delete(kinds, kind)
	}
	require.Empty(t, kinds, "the standard does not have these")
	require.Greater(t, ticks, 4000)
	require.Greater(t, right, 10_000)
	require.Greater(t, equal, 2500)
	for i, r := range readers {
		require.LessOrEqual(t, int(keeper.Stats().Tick-r.tick), 20, "reader %d", i)
	}
}
