package benchmarks

// plain is slices of structs, without entities.
type plain struct {
	bodies []body
	ring   [][]body
	at     int
}

type body struct {
	Position
	Velocity
}

func (p *plain) Sum() (sum float64) {
	for i := range p.bodies {
		sum += float64(p.bodies[i].Position.X)
	}
	return sum
}

func (p *plain) fill(n int) {
	p.bodies = make([]body, n)
	for i := range p.bodies {
		p.bodies[i] = body{Position{X: float32(i)}, Velocity{X: 1, Y: 1}}
	}
}

func (p *plain) Iterate(rows, _ int) Work {
	p.fill(rows)
	return Work{Run: func() { moveBodies(p.bodies) }}
}

func moveBodies(bodies []body) {
	for i := range bodies {
		b := &bodies[i]
		b.Position.X += b.Velocity.X
		b.Position.Y += b.Velocity.Y
	}
}

// move is the loop that the libraries with columns run.
func move(pos []Position, vel []Velocity) {
	vel = vel[:len(pos)]
	for i := range pos {
		p, v := &pos[i], &vel[i]
		p.X += v.X
		p.Y += v.Y
	}
}

func (p *plain) Get(order []int) Work {
	p.fill(len(order))
	a := p.bodies
	return Work{Run: func() {
		for _, i := range order {
			a[i].Position.X++
		}
	}}
}

func (p *plain) appending(n int) Work {
	p.bodies = make([]body, 0, n)
	return Work{Run: func() {
		p.bodies = p.bodies[:0]
		for i := range n {
			p.bodies = append(p.bodies, body{Position{X: float32(i)}, Velocity{X: 1, Y: 1}})
		}
	}}
}

func (p *plain) Create(n int) Work      { return p.appending(n) }
func (p *plain) CreateBatch(n int) Work { return p.appending(n) }
func (p *plain) Destroy(n int) Work     { return p.appending(n) }
func (p *plain) AddRemove(n int) Work   { return p.appending(n) }
func (p *plain) Transfer(n int) Work    { return p.appending(n) }

func (p *plain) Save(n, slots int) Work {
	p.fill(n)
	p.ring = make([][]body, slots)
	for i := range p.ring {
		p.ring[i] = append([]body(nil), p.bodies...) // written to, since fresh memory is all one zero page
	}
	return Work{Times: slots, Run: func() {
		p.at++
		copy(p.ring[p.at%slots], p.bodies)
	}}
}

func (p *plain) Restore(n, slots int) Work {
	p.Save(n, slots)
	return Work{Times: slots, Run: func() {
		p.at++
		copy(p.bodies, p.ring[p.at%slots])
	}}
}

func (p *plain) SaveChanged(n, slots int) Work    { return p.Save(n, slots) }
func (p *plain) RestoreChanged(n, slots int) Work { return p.Restore(n, slots) }
