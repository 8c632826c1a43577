package oracletest

import (
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
)

func within(x float32) float32 { return min(max(x, -30), 30) }

// wave is roughly a sine for x from −1 to 1, with the same result on every machine.
func wave(x float32) float32 { return 4 * x * (1 - max(x, -x)) }

// compass returns the direction of an angle.
func compass(angle float32) (x, y float32) {
	half := angle/math.Pi + 0.5
	if half > 1 {
		half -= 2
	}
	return wave(half), wave(angle / math.Pi)
}

// length returns the length of a vector.
func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(float64(x)*float64(x)) + float64(float64(y)*float64(y))))
}

// shared declares the systems that both ends run for a player's own rows.
func (g *rich) shared(p *foretick.Protocol) {
	p.Shared("crowd", func(f *foretick.Frame, rows ecs.Rows) {
		c, at := g.crowd.Slice(rows), g.place.Slice(rows)
		for i := range c {
			c[i].Near = 0
			for _, others := range g.bodies.All(f.World) {
				for _, other := range g.place.Slice(others) {
					if d := length(other.X-at[i].X, other.Y-at[i].Y); d > 0.1 && d < 4 {
						c[i].Near++
					}
				}
			}
		}
	}, ecs.Stage("act"), ecs.Before("walk"), ecs.Read(&g.cmd, &g.place), ecs.ReadOther(&g.place), ecs.Write(&g.crowd))
	walk := []ecs.Access{ecs.Stage("act"), ecs.Read(&g.cmd, &g.crowd), ecs.Write(&g.place)}
	if g.partial {
		walk = append(walk, ecs.Partial())
	}
	p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
		at, cmd, near := g.place.Slice(rows), g.cmd.Slice(rows), g.crowd.Slice(rows)
		for i := range at {
			speed := float32(5)
			if cmd[i].Run {
				speed = 8
			}
			if near[i].Near > 0 {
				speed--
			}
			way := float32(speed * f.DT)
			at[i].X = within(at[i].X + float32(cmd[i].X*way))
			at[i].Y = within(at[i].Y + float32(cmd[i].Y*way))
		}
	}, walk...)
	p.Shared("turn", func(_ *foretick.Frame, rows ecs.Rows) {
		h, cmd := g.heading.Slice(rows), g.cmd.Slice(rows)
		for i := range h {
			if g.turns++; g.stray && g.turns%40 == 0 {
				h[i].Angle += 0.1
			}
			if h[i].Angle += cmd[i].Turn; h[i].Angle > math.Pi {
				h[i].Angle -= 2 * math.Pi
			}
		}
	}, ecs.Stage("act"), ecs.Read(&g.cmd), ecs.Write(&g.heading))
	shoot := []ecs.Access{ecs.Stage("act"), ecs.Read(&g.cmd, &g.place, &g.heading), ecs.Write(&g.gun, &g.mark), ecs.Create(&g.place, &g.heading, &g.fuse, &g.streak)}
	if g.partial {
		shoot = append(shoot, ecs.Partial())
	}
	p.Shared("shoot", g.shoot, shoot...)
	p.Shared("fly", func(f *foretick.Frame, rows ecs.Rows) {
		at, h, left := g.place.Slice(rows), g.heading.Slice(rows), g.fuse.Slice(rows)
		for i := range at {
			x, y := compass(h[i].Angle)
			way := 12 * f.DT
			at[i].X = within(at[i].X + float32(x*way))
			at[i].Y = within(at[i].Y + float32(y*way))
			if left[i].Left--; left[i].Left == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Stage("world"), ecs.Read(&g.heading), ecs.Write(&g.place, &g.fuse), ecs.Structural())
	p.Shared("whizz", func(f *foretick.Frame, rows ecs.Rows) {
		left := g.streak.Slice(rows)
		for i := range left {
			if left[i].Left--; left[i].Left == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, ecs.Stage("world"), ecs.Write(&g.streak), ecs.Structural())
	if g.storm {
		p.Shared("storm", func(f *foretick.Frame, rows ecs.Rows) {
			at := g.place.Slice(rows)
			for i := range at {
				at[i].Y = within(at[i].Y + f.DT)
			}
		}, ecs.Stage("act"), ecs.With(&g.cmd), ecs.Write(&g.place), ecs.Tags("storm"))
		p.Render("draw the storm", func(f *foretick.Frame, rows ecs.Rows) { g.note("storm", uint64(rows.Len())) }, ecs.Read(&g.place), ecs.Tags("storm scenes"))
	}
	p.Render("draw", func(f *foretick.Frame, rows ecs.Rows) {
		for _, at := range g.place.Slice(rows) {
			g.note("draw", uint64(math.Float32bits(at.X)), uint64(math.Float32bits(at.Y)))
		}
	}, ecs.With(&g.cmd), ecs.Read(&g.place))
	g.sharedBetween(p)
}

// sharedBetween declares the shared systems that concern more than a player's own rows.
func (g *rich) sharedBetween(p *foretick.Protocol) {
	if g.balls {
		p.Shared("push", func(f *foretick.Frame, rows ecs.Rows) {
			for _, at := range g.place.Slice(rows) {
				for _, balls := range g.rolling.All(f.World) {
					b := g.ball.Slice(balls)
					for k := range b {
						dx, dy := b[k].X-at.X, b[k].Y-at.Y
						if d := length(dx, dy); d < 3 && d > 0.01 {
							b[k].VX = min(max(b[k].VX+float32(dx/d), -9), 9)
							b[k].VY = min(max(b[k].VY+float32(dy/d), -9), 9)
						}
					}
				}
			}
		}, ecs.Stage("act"), ecs.With(&g.cmd), ecs.Read(&g.place), ecs.WriteOther(&g.ball))
		p.Shared("roll", func(f *foretick.Frame, rows ecs.Rows) {
			b := g.ball.Slice(rows)
			for k := range b {
				b[k].X = within(b[k].X + float32(b[k].VX*f.DT))
				b[k].Y = within(b[k].Y + float32(b[k].VY*f.DT))
				b[k].VX *= 0.9
				b[k].VY *= 0.9
			}
		}, ecs.Stage("world"), ecs.Write(&g.ball))
	}
	if g.shove && g.balls {
		p.Shared("shove", func(f *foretick.Frame, rows ecs.Rows) {
			cmd, from := g.cmd.Slice(rows), g.place.Slice(rows)
			for i := range cmd {
				for _, others := range g.bodies.All(f.World) {
					for k, at := range g.place.Slice(others) {
						if cmd[i].Fire && rows.Owner() != others.Owner() && length(at.X-from[i].X, at.Y-from[i].Y) < 20 {
							g.place.Slice(others)[k].Y = within(at.Y + 0.5)
						}
					}
				}
			}
		}, ecs.Stage("act"), ecs.Read(&g.cmd, &g.place), ecs.WriteOther(&g.place))
	}
	if g.text {
		p.Shared("boast", func(f *foretick.Frame, rows ecs.Rows) {
			m, cmd := g.motto.Slice(rows), g.cmd.Slice(rows)
			for i := range m {
				if cmd[i].Fire {
					m[i].Text = "foretick"[f.Tick%8:]
					m[i].List = append(m[i].List[:0:0], make([]uint8, f.Tick%5)...)
				}
			}
		}, ecs.Stage("act"), ecs.Read(&g.cmd), ecs.Write(&g.motto))
	}
	if g.paced {
		p.Shared("pace", func(f *foretick.Frame, rows ecs.Rows) {
			for _, c := range g.cmd.Slice(rows) {
				if c.Run {
					g.pace.Get(f.World).N++
				}
			}
		}, ecs.Stage("act"), ecs.Read(&g.cmd), ecs.Write(&g.pace))
	}
}

// shoot raises an event for each shot. One in four shots is a rocket, one a bomb, and two are bullets.
func (g *rich) shoot(f *foretick.Frame, rows ecs.Rows) {
	cmd, at, h, guns, marks := g.cmd.Slice(rows), g.place.Slice(rows), g.heading.Slice(rows), g.gun.Slice(rows), g.mark.Slice(rows)
	for i := range cmd {
		if guns[i].Cool > 0 {
			guns[i].Cool--
		}
		if !cmd[i].Fire || guns[i].Ammo == 0 || guns[i].Cool > 0 {
			continue
		}
		guns[i].Ammo--
		guns[i].Shots++
		guns[i].Cool = 4
		by := rows.Entity(i)
		g.shot.Raise(f, by, shot{lagcomp.Ray2D(at[i].X, at[i].Y, cmd[i].Aim, 60), f.Tick})
		marks[i].N++
		from, way := at[i], h[i]
		switch guns[i].Shots % 4 {
		case 1:
			e := f.SpawnBy(by, &g.rocket)
			g.mark.Get(f.World, by).Rocket = e
			*g.place.Get(f.World, e), *g.heading.Get(f.World, e) = from, way
			g.fuse.Get(f.World, e).Left = 20
		case 2:
			x, y := compass(way.Angle)
			g.launch.Raise(f, by, launch{from.X, from.Y, 15 * x, 15 * y})
		default:
			g.streak.Get(f.World, f.SpawnBy(by, &g.bullet)).Left = 6
		}
	}
}

// servers declares the systems that only the server runs.
func (g *rich) servers(p *foretick.Protocol) {
	world := ecs.Stage("world")
	p.Server("wind", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i, at := 0, g.place.Slice(rows); i < len(at) && f.Tick%50 == 11; i++ {
			at[i].Y = within(at[i].Y + 1.5)
		}
	}, world, ecs.With(&g.cmd), ecs.Write(&g.place))
	p.Server("respawn", func(f *foretick.ServerFrame, rows ecs.Rows) {
		hp, at := g.health.Slice(rows), g.place.Slice(rows)
		for i := range hp {
			if hp[i].Points > 0 || f.Tick%30 != 0 {
				continue
			}
			hp[i] = health{Points: 100, Lives: hp[i].Lives + 1}
			at[i] = place{X: float32(f.Rand(uint64(rows.Owner()))%40) - 20, Y: float32(f.Rand(uint64(rows.Owner())+99)%40) - 20}
			f.Teleport(rows.Entity(i))
		}
	}, world, ecs.Write(&g.health, &g.place))
	p.Server("bombs", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at, bombs := g.place.Slice(rows), g.shell.Slice(rows)
		for i := range bombs {
			b := &bombs[i]
			fly := lagcomp.Projectile{Position: lagcomp.Vec{X: at[i].X, Y: at[i].Y}, Velocity: lagcomp.Vec{X: b.VX, Y: b.VY}, Radius: 0.3}
			hit, ok := f.RewindBehind(rows.Owner(), b.Behind).Advance(&fly, f.DT)
			at[i] = place{within(fly.Position.X), within(fly.Position.Y)}
			if ok {
				g.note("bombed", uint64(f.Tick), uint64(hit.Entity))
				g.hurt(f.Frame, hit.Entity)
			}
			if b.Left--; ok || b.Left == 0 {
				f.Destroy(rows.Entity(i))
			}
		}
	}, world, ecs.Write(&g.place, &g.shell), ecs.WriteOther(&g.health), ecs.Structural())
	p.Server("weather", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if w := g.weather.Get(f.World); f.Tick%40 == 1 {
			seed := uint64(f.Tick) * 77777 // stands for a value from outside
			g.srv.Record(&seed)
			w.Seed = seed
			w.Draws++
		}
	}, world, ecs.Once(), ecs.Write(&g.weather))
	p.Server("tally", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if s := g.score.Get(f.World); f.Tick%20 == 3 {
			s.Red++
			s.Blue += uint16(f.Tick % 3)
		}
		if g.rules.level != 0 && f.Tick == g.rules.level {
			_ = g.srv.NextLevel([]byte("of the game"), func(f *foretick.ServerFrame) { g.level(f, g.srv.Players(nil)) })
		}
	}, world, ecs.Once(), ecs.Write(&g.score))
	p.Server("pets", func(f *foretick.ServerFrame, rows ecs.Rows) {
		at, n := g.place.Slice(rows), g.leash.Slice(rows)
		for i := range at {
			n[i].N++
			at[i].X = within(at[i].X + float32(wave(float32(n[i].N%60)/30-1)*f.DT))
			if k := n[i].N % 120; k == 60 || k == 80 { // gives corrections while the owner predicts the entity
				f.SetPredicted(rows.Entity(i), k == 60)
			}
		}
	}, world, ecs.Write(&g.place, &g.leash))
	p.Server("curtain", g.curtain, world, ecs.Once(), ecs.ReadOther(&g.badge, &g.cmd))
	p.Server("props", func(f *foretick.ServerFrame, _ ecs.Rows) {
		switch f.Tick % 45 {
		case 20:
			e := f.Spawn(&g.prop, ecs.Nobody)
			*g.place.Get(f.World, e) = place{X: float32(f.Tick%40) - 20}
			g.badge.Get(f.World, e).N = 200
		case 40:
			for _, rows := range g.props.All(f.World) {
				for i, b := range g.badge.Slice(rows) {
					if b.N == 200 {
						f.Destroy(rows.Entity(i))
					}
				}
			}
		}
	}, world, ecs.Once(), ecs.Create(&g.place, &g.badge, &g.password, &g.seen), ecs.ReadOther(&g.badge), ecs.WriteOther(&g.place), ecs.Structural())
	p.Server("say", func(f *foretick.ServerFrame, _ ecs.Rows) {
		if f.Tick%40 == 9 {
			g.chat.Broadcast(f, chat{uint16(f.Tick), "the clock strikes"})
		}
		if f.Tick%7 == 2 {
			g.chirp.Broadcast(f, chirp{uint16(f.Tick)})
		}
	}, world, ecs.Once())
	if g.younger {
		p.Server("forge", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range g.armour.Slice(rows) {
				g.armour.Slice(rows)[i].Plates++
			}
		}, world, ecs.Write(&g.armour))
	}
	if g.long {
		p.Server("scribble", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, g.scroll.Slice(rows); i < len(all) && f.Tick%60 == 9; i++ {
				for k := range all[i].Words {
					all[i].Words[k] += f.Tick * uint32(k+1) * 2654435761
				}
			}
		}, world, ecs.Write(&g.scroll))
	}
	if g.infinite {
		p.Server("grow", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i, all := 0, g.limit.Slice(rows); i < len(all) && f.Tick%40 == 9; i++ {
				all[i] = limit{float32(math.Inf(int(f.Tick/40%2)*2 - 1)), float64(f.Tick)}
			}
		}, world, ecs.Write(&g.limit))
	}
}

// curtain hides and shows entities, and changes the members of audiences.
func (g *rich) curtain(f *foretick.ServerFrame, _ ecs.Rows) {
	if f.Tick%15 != 0 || g.open {
		return
	}
	k := f.Tick / 15
	var avatars, things []ecs.Entity
	for _, rows := range g.bodies.All(f.World) {
		avatars = append(avatars, rows.Entities()...)
	}
	for _, rows := range g.props.All(f.World) {
		things = append(things, rows.Entities()...)
	}
	for i, e := range things {
		for j, a := range avatars {
			f.SetVisible(f.World.Owner(a), e, (k+uint32(i+j))%4 != 0)
		}
	}
	for i, a := range avatars {
		player := f.World.Owner(a)
		f.SetVisible(f.World.Owner(avatars[(i+1)%len(avatars)]), a, k%5 != uint32(i) || len(avatars) == 1)
		f.SetAudience(player, ecs.None, g.members, (k+uint32(i))%3 == 0)
		if k%8 == uint32(i) {
			f.SetTeam(player, uint8(1+(k/8+uint32(i))%2))
		}
		if g.interest {
			switch k % 6 {
			case 2:
				f.SetEye(player, float32(k%30)-15, 0, 0)
			case 4:
				f.ClearEye(player)
			}
		}
	}
	if len(things) > 2 {
		with := things[0]
		if k%4 == 3 {
			with = ecs.None
		}
		f.SetGroup(things[1], with)
		f.SetAudience(f.World.Owner(things[0]), things[1], g.members, k%2 == 0)
	}
}
