package foretick_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// BenchmarkServerTick measures a tick of a server with 64 clients that all move: it reads
// commands, runs systems and sends snapshots, all over a simulated network.
func BenchmarkServerTick(b *testing.B) {
	m := simtest.New(1)
	var truth Walk
	srv, err := m.Serve(server.Config{Protocol: truth.Protocol(), MaxClients: 64})
	require.NoError(b, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	for range 64 {
		var g Walk
		sample := client.Sample(&g.Move, func(v client.View) Move { return Move{X: float32(v.Tick%2)*2 - 1} })
		_, err := m.Join(client.Config{Protocol: g.Protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
		require.NoError(b, err)
	}
	m.Run(10 * time.Second)
	var in time.Duration
	m.AroundServer = func(step func()) {
		start := time.Now()
		step()
		in += time.Since(start)
	}
	first, bytes := srv.Tick(), srv.Stats().BytesOut
	b.ResetTimer()
	for range b.N {
		m.Run(m.Net.Now() + time.Second/30)
	}
	ticks := float64(srv.Tick() - first)
	b.ReportMetric(float64(in.Microseconds())/ticks, "µs/server-tick")
	b.ReportMetric(float64(srv.Stats().BytesOut-bytes)/ticks/64, "B/client-tick")
}

// BenchmarkManySystems measures a tick of a server with 250 systems, half of which are shared,
// and ten bodies without an owner. Most of the time is spent around the systems.
func BenchmarkManySystems(b *testing.B) {
	type spot struct{ X float32 }
	var pos ecs.Component[spot]
	var body ecs.Prefab
	p := foretick.NewProtocol("many systems", 60)
	p.Component(&pos, foretick.Predicted())
	p.Prefab(&body, "body", &pos)
	for i := range 125 {
		p.Shared(fmt.Sprint("shared ", i), func(*foretick.Frame, ecs.Rows) {}, ecs.Read(&pos))
		p.Server(fmt.Sprint("server ", i), func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Read(&pos))
	}
	srv, err := server.New(server.Config{Protocol: p, Transport: sim.NewNetwork(1).Listen()})
	require.NoError(b, err)
	for range 10 {
		srv.Frame().Spawn(&body, ecs.Nobody)
	}
	now := time.Unix(0, 0)
	srv.Step(now)
	b.ReportAllocs()
	_, took := costtest.Cost(func() {
		for b.Loop() {
			now = now.Add(time.Second/60 + 1)
			srv.Step(now)
		}
	})
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "thread-ns/op")
}

// swarm is the game of walking players with 64 bodies of 16 hitboxes each, at which a client
// shoots.
type swarm struct {
	Walk
	Limbs ecs.Component[Limbs]
	Body  ecs.Prefab
	shot  foretick.Event[lagcomp.Ray]
	fire  func(f *foretick.Frame, by foretick.PlayerID)
}

// Limbs decides where a body's hitboxes are.
type Limbs struct {
	Phase float32 `net:"angle,bits=12,lerp"`
}

func (g *swarm) protocol() *foretick.Protocol {
	p := g.Protocol()
	p.Component(&g.Limbs)
	p.Prefab(&g.Body, "body", &g.Pos, &g.Limbs)
	foretick.Hitboxes(p, func(b *foretick.HitboxBuilder) {
		at, limbs := foretick.HitboxField(b, &g.Pos), foretick.HitboxField(b, &g.Limbs)
		for i := range 16 {
			z := float32(i)*0.1 + limbs.Phase*0.01
			b.Add(lagcomp.SphereHitbox(lagcomp.Sphere{X: at.X, Y: at.Y, Z: z, R: 0.1}).On(uint8(i), 0))
		}
	}, &g.Pos, &g.Limbs)
	p.Shared("shoot", func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			g.shot.Raise(f, rows.Entity(i), lagcomp.Ray{})
		}
	}, ecs.Read(&g.Move))
	p.Server("stir", func(f *foretick.ServerFrame, rows ecs.Rows) {
		pos, limbs := g.Pos.Slice(rows), g.Limbs.Slice(rows)
		for i := range pos {
			pos[i].X += float32(f.Tick%2)*0.1 - 0.05
			limbs[i].Phase = float32(f.Tick%60) * 0.1
		}
	}, ecs.Write(&g.Pos, &g.Limbs))
	g.shot.OnServer(p, func(f *foretick.ServerFrame, by foretick.By, _ lagcomp.Ray) {
		if g.fire != nil {
			g.fire(f.Frame, by.Player)
		}
	})
	return p
}

// BenchmarkRewind measures a player's first shot in a tick among 64 bodies of 16 hitboxes: it
// builds the view from interpolated components, and then uses it. again is a second shot in the
// same tick, and behind is a shot at another moment.
func BenchmarkRewind(b *testing.B) {
	m := simtest.New(1)
	g := &swarm{}
	srv, err := m.Serve(server.Config{Protocol: g.protocol()})
	require.NoError(b, err)
	for i := range 64 {
		e := srv.Frame().Spawn(&g.Body, ecs.Nobody)
		*g.Pos.Get(srv.World(), e) = Position{X: float32(i%8) * 5, Y: float32(i/8) * 5}
	}
	cg := &swarm{}
	link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond}
	_, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.Move, func(client.View) Move { return Move{} })}, simtest.Seat{Up: link, Down: link})
	require.NoError(b, err)
	m.Run(3 * time.Second)
	var first, again, behind time.Duration
	n := 0
	ray := lagcomp.Ray2D(-10, 15, 0, 100)
	ray.Z = 0.8
	g.fire = func(f *foretick.Frame, by foretick.PlayerID) {
		start := time.Now()
		_, ok := f.Rewind(by).Raycast(ray)
		middle := time.Now()
		_, _ = f.Rewind(by).Raycast(ray)
		last := time.Now()
		_, _ = f.RewindBehind(by, 3.3).Raycast(ray)
		first, again, behind = first+middle.Sub(start), again+last.Sub(middle), behind+time.Since(last)
		if n++; !ok {
			b.Fatal("a ray through the middle of the crowd missed")
		}
	}
	for n < b.N {
		m.Run(m.Net.Now() + time.Second)
	}
	b.ReportMetric(float64(first.Nanoseconds())/float64(n), "ns/first")
	b.ReportMetric(float64(again.Nanoseconds())/float64(n), "ns/again")
	b.ReportMetric(float64(behind.Nanoseconds())/float64(n), "ns/behind")
}
