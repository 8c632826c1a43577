package lagcomp

// MaxShapes is the greatest number of Config.Shapes.
const MaxShapes = 64

// Sphere is a ball, or in two dimensions a disc. It is stored as it is; a
// negative radius counts as zero.
type Sphere struct{ X, Y, Z, R float32 }

// Capsule is everything within R of the segment from A to B. If A and B are equal, it is a ball. A negative R
// counts as zero.
type Capsule struct {
	A, B Vec
	R    float32 // the radius
}

// Box is an oriented box: Half is half its size along its own three axes, and
// Rotation turns those axes; the zero Rotation leaves them aligned with the
// world's. A negative half counts as zero. In two dimensions give Half a Z that no
// ray can pass above.
type Box struct {
	Center, Half Vec
	Rotation     Quat
}

// kind says how to read the parameters of a hitbox.
type kind uint8

const (
	kindSphere kind = iota
	kindCapsule
	kindBox
	kindCustom
)

// Hitbox is one shape of an entity that shots can hit, at one tick: a sphere, a capsule, an
// oriented box or a custom shape. It takes 48 bytes without pointers, so that a tick is
// recorded at the speed of copying. Make one with SphereHitbox, CapsuleHitbox, BoxHitbox
// or CustomHitbox. The zero Hitbox is a point at the origin.
type Hitbox struct {
	c Vec     // c is the centre.
	r float32 // r is the distance from c within which the whole hitbox is.
	// p has, for a capsule, the half axis and the radius; for a box, half and rotation; for a custom shape, the
	// game's parameters.
	p [7]float32

	kind  kind
	shape uint8 // shape is the index in Config.Shapes of a custom hitbox.

	// Part is the game's number for the part that was hit: head, body, shield…
	Part uint8
	// Layer, 0 to 31, is the bit of Filter.Layers that selects this hitbox. Only the low
	// five bits count.
	Layer uint8
}

// SphereHitbox makes a hitbox of a sphere. A negative radius counts as zero.
func SphereHitbox(s Sphere) Hitbox {
	return Hitbox{c: Vec{s.X, s.Y, s.Z}, r: nonNegative(s.R), kind: kindSphere}
}

// CapsuleHitbox makes a hitbox of a capsule. A negative radius counts as zero.
func CapsuleHitbox(c Capsule) Hitbox {
	h := c.B.sub(c.A).scale(0.5)
	r := nonNegative(c.R)
	return Hitbox{
		c: c.A.lerp(c.B, 0.5), r: h.length() + r, kind: kindCapsule,
		p: [7]float32{h.X, h.Y, h.Z, r},
	}
}

// BoxHitbox makes a hitbox of an oriented box. Negative half sizes count as zero.
func BoxHitbox(b Box) Hitbox {
	q := b.Rotation.unit()
	h := Vec{nonNegative(b.Half.X), nonNegative(b.Half.Y), nonNegative(b.Half.Z)}
	return Hitbox{
		c: b.Center, r: h.length(), kind: kindBox,
		p: [7]float32{h.X, h.Y, h.Z, q.X, q.Y, q.Z, q.W},
	}
}

// CustomHitbox makes a hitbox of the shape Config.Shapes[shape]. It must be within bound,
// whose centre moves with it. The shape alone interprets param. Between two ticks bound
// and param are interpolated linearly.
func CustomHitbox(shape uint8, bound Sphere, param [7]float32) Hitbox {
	return Hitbox{c: Vec{bound.X, bound.Y, bound.Z}, r: nonNegative(bound.R), kind: kindCustom, shape: shape, p: param}
}

// On returns the hitbox with its Part and Layer set.
func (v Hitbox) On(part, layer uint8) Hitbox {
	v.Part, v.Layer = part, layer
	return v
}

// Bound returns a sphere that contains the hitbox. For a sphere it is the sphere itself.
func (v Hitbox) Bound() Sphere { return Sphere{v.c.X, v.c.Y, v.c.Z, v.r} }

// Sphere returns the hitbox's sphere, and false if it is another shape.
func (v Hitbox) Sphere() (Sphere, bool) { return v.Bound(), v.kind == kindSphere }

// Capsule returns the hitbox's capsule, and false if it is another shape.
func (v Hitbox) Capsule() (Capsule, bool) {
	if v.kind != kindCapsule {
		return Capsule{}, false
	}
	h := v.half()
	return Capsule{A: v.c.sub(h), B: v.c.add(h), R: v.p[3]}, true
}

// Box returns the hitbox's box, and false if it is another shape.
func (v Hitbox) Box() (Box, bool) {
	if v.kind != kindBox {
		return Box{}, false
	}
	return Box{Center: v.c, Half: v.half(), Rotation: v.rotation()}, true
}

// Custom returns the shape and parameters of a custom hitbox, and false if it is none.
func (v Hitbox) Custom() (shape uint8, param [7]float32, ok bool) {
	return v.shape, v.p, v.kind == kindCustom
}

func (v *Hitbox) half() Vec      { return Vec{v.p[0], v.p[1], v.p[2]} }
func (v *Hitbox) rotation() Quat { return Quat{v.p[3], v.p[4], v.p[5], v.p[6]} }

// lerp interpolates two hitboxes into dst. Different kinds are not interpolated.
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
