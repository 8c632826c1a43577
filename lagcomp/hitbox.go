package lagcomp

// maxShapes bounds Config.Shapes.
const maxShapes = 64

// Sphere is a ball, or in two dimensions a disc. It is stored as it is; a
// negative radius counts as zero.
type Sphere struct{ X, Y, Z, R float32 }

// Capsule is everything within R of the segment from A to B; where they are one,
// a ball. A negative R counts as zero.
type Capsule struct {
	A, B Vec
	R    float32
}

// Box is an oriented box: Half is half its size along its own three axes, and
// Rotation turns those axes; the zero Rotation leaves them aligned with the
// world's. A negative half counts as zero. In two dimensions give Half a Z that no
// ray can pass above.
type Box struct {
	Center, Half Vec
	Rotation     Quat
}

// kind says what the parameters of a volume mean.
type kind uint8

const (
	kindSphere kind = iota
	kindCapsule
	kindBox
	kindCustom
)

// Hitbox is one hit volume of one entity at one tick: a sphere, a capsule, an
// oriented box or a shape of the game's own, flat, without pointers, 48 bytes,
// so that a tick is recorded at the speed of copying. Make one with
// SphereHitbox, CapsuleHitbox, BoxHitbox or CustomHitbox; the zero Hitbox is a
// point at the origin.
type Hitbox struct {
	c Vec        // centre
	r float32    // everything lies within r of c
	p [7]float32 // capsule: half axis, radius; box: half, rotation; custom: the game's

	kind  kind
	shape uint8 // place in Config.Shapes of a custom volume

	// Part is the game's name for what was hit: head, body, shield…
	Part uint8
	// Layer, 0 to 31, is what Filter.Layers selects by. Of a larger number the
	// low five bits count.
	Layer uint8
}

// SphereHitbox makes a volume of a sphere.
func SphereHitbox(s Sphere) Hitbox {
	return Hitbox{c: Vec{s.X, s.Y, s.Z}, r: nonNegative(s.R), kind: kindSphere}
}

// CapsuleHitbox makes a volume of a capsule.
func CapsuleHitbox(c Capsule) Hitbox {
	h := c.B.sub(c.A).scale(0.5)
	r := nonNegative(c.R)
	return Hitbox{
		c: c.A.lerp(c.B, 0.5), r: h.length() + r, kind: kindCapsule,
		p: [7]float32{h.X, h.Y, h.Z, r},
	}
}

// BoxHitbox makes a volume of an oriented box.
func BoxHitbox(b Box) Hitbox {
	q := b.Rotation.unit()
	h := Vec{nonNegative(b.Half.X), nonNegative(b.Half.Y), nonNegative(b.Half.Z)}
	return Hitbox{
		c: b.Center, r: h.length(), kind: kindBox,
		p: [7]float32{h.X, h.Y, h.Z, q.X, q.Y, q.Z, q.W},
	}
}

// CustomHitbox makes a volume of the game's own shape, Config.Shapes[shape]. It
// must lie within bound, whose centre moves with it; param is the shape's to
// interpret. Between two ticks bound and param are interpolated linearly.
func CustomHitbox(shape uint8, bound Sphere, param [7]float32) Hitbox {
	return Hitbox{c: Vec{bound.X, bound.Y, bound.Z}, r: nonNegative(bound.R), kind: kindCustom, shape: shape, p: param}
}

// On answers the volume with its Part and Layer set.
func (v Hitbox) On(part, layer uint8) Hitbox {
	v.Part, v.Layer = part, layer
	return v
}

// Bound is a sphere that contains the volume; of a sphere, itself.
func (v Hitbox) Bound() Sphere { return Sphere{v.c.X, v.c.Y, v.c.Z, v.r} }

// Sphere answers the sphere that the volume is, if it is one.
func (v Hitbox) Sphere() (Sphere, bool) { return v.Bound(), v.kind == kindSphere }

// Capsule answers the capsule that the volume is, if it is one.
func (v Hitbox) Capsule() (Capsule, bool) {
	if v.kind != kindCapsule {
		return Capsule{}, false
	}
	h := v.half()
	return Capsule{A: v.c.sub(h), B: v.c.add(h), R: v.p[3]}, true
}

// Box answers the box that the volume is, if it is one.
func (v Hitbox) Box() (Box, bool) {
	if v.kind != kindBox {
		return Box{}, false
	}
	return Box{Center: v.c, Half: v.half(), Rotation: v.rotation()}, true
}

// Custom answers the shape and parameters of a volume of the game's own.
func (v Hitbox) Custom() (shape uint8, param [7]float32, ok bool) {
	return v.shape, v.p, v.kind == kindCustom
}

func (v *Hitbox) half() Vec      { return Vec{v.p[0], v.p[1], v.p[2]} }
func (v *Hitbox) rotation() Quat { return Quat{v.p[3], v.p[4], v.p[5], v.p[6]} }

// lerp blends two volumes into dst. Different kinds do not blend.
func (v *Hitbox) lerp(b *Hitbox, f float32, dst *Hitbox) {
	*dst = *v
	if v.kind != b.kind || v.shape != b.shape {
		return
	}
	dst.c = v.c.lerp(b.c, f)
	dst.r = v.r + (b.r-v.r)*f
	switch v.kind {
	case kindSphere:
	case kindBox:
		for i := range 3 {
			dst.p[i] = v.p[i] + (b.p[i]-v.p[i])*f
		}
		q := v.rotation().lerp(b.rotation(), f).unit()
		dst.p[3], dst.p[4], dst.p[5], dst.p[6] = q.X, q.Y, q.Z, q.W
	default:
		for i := range dst.p {
			dst.p[i] = v.p[i] + (b.p[i]-v.p[i])*f
		}
	}
}

func nonNegative(x float32) float32 {
	if x < 0 {
		return 0
	}
	return x
}
