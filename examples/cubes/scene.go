package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A generated scene: a field of cubes, and one driven cube, called the player, that pushes
// them around and sometimes pulls nearby ones towards itself.

const (
	substeps  = 8
	step      = 1.0 / (hz * substeps)
	half      = 0.2  // of a cube's edge, in metres
	reach     = 0.85 // the radius of the driven cube, in metres
	gravity   = 12
	stiffness = 2500
	damping   = 22
	friction  = 0.55
	perMetre  = 512
	pulled    = 2.8 // how near a cube must be to be pulled, in metres
)

type vec3 [3]float64

func (a vec3) plus(b vec3, k float64) vec3 { return vec3{a[0] + b[0]*k, a[1] + b[1]*k, a[2] + b[2]*k} }

func (a vec3) dot(b vec3) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func (a vec3) cross(b vec3) vec3 {
	return vec3{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// box is a rigid cube. Its inertia is the same around every axis.
type box struct {
	at, v, w      vec3       // position, velocity, and angular velocity
	q             [4]float64 // rotation: x, y, z, w
	force, torque vec3
	radius        float64
	mass          float64
	still         int  // for how many frames it has hardly moved
	asleep        bool // not simulated until something wakes it
	drawn         int  // for how many more frames it belongs to the clump around the player
}

// field is the simulation.
type field struct {
	rng     *rand.Rand
	boxes   []box                // the first is the player
	cells   map[[2]int32][]int32 // the cubes in each square metre
	drive   vec3                 // the velocity that the player aims at
	hold    int                  // frames until the player chooses another drive
	pulling int                  // for how many more frames the player pulls; below 0: how long ago it ended
}

func newField(seed uint64) *field {
	f := &field{rng: rand.New(rand.NewPCG(seed, 5)), boxes: make([]box, cubes), cells: map[[2]int32][]int32{}}
	for i := range f.boxes {
		k := i - 1
		f.boxes[i] = box{at: vec3{float64(k%30) - 14.5, float64(k/30) - 14.5, half}, q: [4]float64{0, 0, 0, 1}, radius: half * 1.15, mass: 1, asleep: true}
	}
	f.boxes[0] = box{at: vec3{0, 0, 4}, q: [4]float64{0, 0, 0, 1}, radius: reach, mass: 12}
	return f
}

// scene generates a match of the given number of frames.
func scene(seed uint64, frames int) []Frame {
	f := newField(seed)
	out := make([]Frame, frames)
	for i := range out {
		f.steer()
		for range substeps {
			f.step()
		}
		f.rest()
		out[i] = f.frame()
	}
	return out
}

// steer changes at random what the player does: it chooses a direction, jumps, or starts to
// pull. A pull wakes the cubes nearby.
func (f *field) steer() {
	p := &f.boxes[0]
	if f.hold--; f.hold < 0 {
		f.hold = 20 + f.rng.IntN(70)
		a := f.rng.Float64() * 2 * math.Pi
		if r := math.Hypot(p.at[0], p.at[1]); r > 9 {
			a = math.Atan2(-p.at[1], -p.at[0]) + f.rng.NormFloat64()*0.5
		}
		s := []float64{0, 6, 9, 9}[f.rng.IntN(4)]
		f.drive = vec3{math.Cos(a) * s, math.Sin(a) * s}
		if f.rng.IntN(4) == 0 {
			p.v[2] += 5
		}
	}
	if f.pulling--; f.pulling < -60 && f.rng.IntN(60) == 0 {
		f.pulling = 120 + f.rng.IntN(400)
	}
	p.asleep, p.still = false, 0
	for i := range f.boxes {
		if b := &f.boxes[i]; f.pulling > 0 && b.asleep {
			if d := b.at.plus(p.at, -1); d.dot(d) < pulled*pulled {
				b.asleep, b.still = false, 0
			}
		}
	}
}

func (f *field) step() {
	f.hash()
	p := &f.boxes[0]
	for i := range f.boxes {
		b := &f.boxes[i]
		if b.asleep {
			continue
		}
		b.force[2] -= gravity * b.mass
		f.ground(b)
		f.neighbours(int32(i))
		if i > 0 {
			f.pull(b, p)
		}
	}
	p.force = p.force.plus(vec3{f.drive[0] - p.v[0], f.drive[1] - p.v[1]}, 4*p.mass)
	if p.at[2] < 1.6 {
		p.force[2] += (1.6 - p.at[2]) * 10 * p.mass
	}
	for i := range f.boxes {
		if b := &f.boxes[i]; !b.asleep {
			b.move()
		} else {
			b.force, b.torque = vec3{}, vec3{}
		}
	}
}

// pull accelerates a cube towards the player, if it is near and the player pulls.
func (f *field) pull(b, p *box) {
	d := p.at.plus(b.at, -1)
	r := math.Sqrt(d.dot(d))
	if f.pulling > 0 && r < pulled {
		b.force = b.force.plus(d, 35*b.mass/max(r, 0.3)).plus(b.v.plus(p.v, -1), -3*b.mass)
		b.drawn = 40
	}
}

func (b *box) move() {
	b.v = b.v.plus(b.force, step/b.mass)
	inertia := b.mass * (2 * half) * (2 * half) / 6
	if b.radius > half*2 {
		inertia = b.mass * reach * reach * 0.4
	}
	b.w = b.w.plus(b.torque, step/inertia).plus(b.w, -0.2*step)
	if s := math.Sqrt(b.w.dot(b.w)); s > 25 {
		b.w = b.w.plus(b.w, 25/s-1)
	}
	b.at = b.at.plus(b.v, step)
	w, q := b.w, b.q
	h := step / 2
	b.q[0] += h * (w[0]*q[3] + w[1]*q[2] - w[2]*q[1])
	b.q[1] += h * (w[1]*q[3] + w[2]*q[0] - w[0]*q[2])
	b.q[2] += h * (w[2]*q[3] + w[0]*q[1] - w[1]*q[0])
	b.q[3] -= h * (w[0]*q[0] + w[1]*q[1] + w[2]*q[2])
	n := 1 / math.Sqrt(b.q[0]*b.q[0]+b.q[1]*b.q[1]+b.q[2]*b.q[2]+b.q[3]*b.q[3])
	for i := range b.q {
		b.q[i] *= n
	}
	b.force, b.torque = vec3{}, vec3{}
}

// ground pushes those of the eight corners upwards that are below the ground.
func (f *field) ground(b *box) {
	size := half
	if b.radius > half*2 {
		size = reach * 0.6
	}
	if b.at[2] > size*1.8 {
		return
	}
	x, y, z := b.axes()
	for c := range 8 {
		sign := func(bit int) float64 { return size * float64(2*(c>>bit&1)-1) }
		r := vec3{}.plus(x, sign(0)).plus(y, sign(1)).plus(z, sign(2))
		if depth := -(b.at[2] + r[2]); depth > 0 {
			v := b.v.plus(b.w.cross(r), 1)
			b.touch(r, vec3{0, 0, 1}, v, depth)
		}
	}
}

func (b *box) axes() (x, y, z vec3) {
	q := b.q
	x = vec3{1 - 2*(q[1]*q[1]+q[2]*q[2]), 2 * (q[0]*q[1] + q[2]*q[3]), 2 * (q[0]*q[2] - q[1]*q[3])}
	y = vec3{2 * (q[0]*q[1] - q[2]*q[3]), 1 - 2*(q[0]*q[0]+q[2]*q[2]), 2 * (q[1]*q[2] + q[0]*q[3])}
	return x, y, x.cross(y)
}

// touch applies the force of a contact at r from the centre, and returns it: a damped spring
// along the normal n, and friction across it.
func (b *box) touch(r, n, v vec3, depth float64) vec3 {
	vn := v.dot(n)
	push := max(stiffness*depth-damping*vn, 0)
	across := v.plus(n, -vn)
	s := math.Sqrt(across.dot(across))
	force := vec3{}.plus(n, push).plus(across, -min(friction*push, 40*s)/max(s, 1e-9))
	b.force = b.force.plus(force, 1)
	b.torque = b.torque.plus(r.cross(force), 1)
	return force
}

// hash sorts the cubes into cells of a square metre.
func (f *field) hash() {
	for k, c := range f.cells {
		f.cells[k] = c[:0]
	}
	for i := 1; i < len(f.boxes); i++ {
		k := f.boxes[i].cell()
		f.cells[k] = append(f.cells[k], int32(i))
	}
}

func (b *box) cell() [2]int32 {
	return [2]int32{int32(math.Floor(b.at[0])), int32(math.Floor(b.at[1]))}
}

// neighbours collides a cube with those of a higher index and with sleeping ones nearby.
func (f *field) neighbours(i int32) {
	b := &f.boxes[i]
	at := b.cell()
	for dx := int32(-1); dx <= 1; dx++ {
		for dy := int32(-1); dy <= 1; dy++ {
			for _, j := range f.cells[[2]int32{at[0] + dx, at[1] + dy}] {
				o := &f.boxes[j]
				if j != i && (j > i || o.asleep) {
					f.collide(b, o)
				}
			}
		}
	}
}

func (f *field) collide(b, o *box) {
	d := b.at.plus(o.at, -1)
	reach := b.radius + o.radius
	r2 := d.dot(d)
	if r2 >= reach*reach || r2 == 0 {
		return
	}
	r := math.Sqrt(r2)
	n := vec3{}.plus(d, 1/r)
	rb, ro := vec3{}.plus(n, -b.radius), vec3{}.plus(n, o.radius)
	v := b.v.plus(b.w.cross(rb), 1).plus(o.v.plus(o.w.cross(ro), 1), -1)
	force := b.touch(rb, n, v, reach-r)
	o.force = o.force.plus(force, -1)
	o.torque = o.torque.plus(ro.cross(force), -1)
	if b.radius > half*2 {
		o.drawn = 40
	}
	if push := math.Sqrt(force.dot(force)); o.asleep && push > 3 {
		o.asleep, o.still = false, 0
	}
}

// rest puts cubes to sleep that have hardly moved for some frames.
func (f *field) rest() {
	for i := 1; i < len(f.boxes); i++ {
		b := &f.boxes[i]
		if b.asleep {
			continue
		}
		b.drawn = max(b.drawn-1, 0)
		if b.v.dot(b.v) < 0.003 && b.w.dot(b.w) < 0.06 {
			if b.still++; b.still > 25 {
				b.asleep, b.v, b.w = true, vec3{}, vec3{}
			}
		} else {
			b.still = 0
		}
	}
}

// frame quantises the current state.
func (f *field) frame() Frame {
	out := make(Frame, len(f.boxes))
	for i := range f.boxes {
		b, c := &f.boxes[i], &out[i]
		for k, v := range b.at {
			c.At[k] = int32(math.Round(min(max(v, -500), 500) * perMetre))
		}
		c.Interacting = b.drawn > 0 || i == 0
		c.Turn = smallestThree(b.q)
	}
	return out
}

// smallestThree packs a rotation: the index of its largest component, and the other three as
// numbers from 0 to 511.
func smallestThree(q [4]float64) (t [4]int32) {
	top := 0
	for i := range q {
		if math.Abs(q[i]) > math.Abs(q[top]) {
			top = i
		}
	}
	t[0] = int32(top)
	rest := slices.Delete(slices.Clone(q[:]), top, top+1)
	for i, v := range rest {
		if q[top] < 0 {
			v = -v
		}
		t[i+1] = int32(min(max(math.Floor((v*math.Sqrt2+1)/2*511+0.5), 0), 511))
	}
	return t
}
