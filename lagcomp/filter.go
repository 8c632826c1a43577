package lagcomp

// Filter chooses what a query can touch. The zero Filter lets everything be
// touched that still lives the life it lived then. The functions are asked
// about candidates only and must not change anything.
type Filter struct {
	// ExcludeOwner leaves out everything that a player owns: the shooter. Zero
	// excludes nobody.
	ExcludeOwner uint32
	// Exclude leaves out one entity. Zero excludes none.
	Exclude ID
	// Layers holds a bit for each layer that can be touched. Zero means all.
	Layers uint32
	// Visible says whether the shooter could see the entity then; what was
	// hidden from him is not there for him, and he shoots through it. Nil
	// means that everything was visible.
	Visible func(ID) bool
	// LifeID says whether the life that an entity had then is still the one
	// that it has. Of an ended life a body remains: it stops a shot, as it did
	// on the shooter's screen, but is no hit. Nil means: the newest recorded
	// tick decides, which every death, respawn and teleport that changes the
	// epoch given to Put reaches.
	Life func(id ID, life uint32) bool
	// Keys answers the moments between which this client interpolated this
	// entity, when they are not those of the Past: ticks a and b that it had
	// received for it, and how far it was between them, 0 to 1. ok false means
	// that it was not shown. Nil means the moments of the Past.
	Keys func(id ID) (a, b Tick, f float32, ok bool)
}

// Hit is what a query touched. The zero Hit is a miss.
type Hit struct {
	// ID, Owner, Life and Part say what was hit: entity, its player, its life
	// and the volume's Part.
	ID    ID
	Owner uint32
	Life  uint32
	Part  uint8
	// Index is the volume's place among those given to Put.
	Index int
	// Point is where, on the volume's surface, and Normal the unit normal
	// there, outwards. A ray from within a volume hits where it begins, with
	// the normal against its direction.
	Point, Normal Vec
	// Distance is how far the ray or the ball had moved, or how far the volume
	// is from the point asked about; zero within.
	Distance float32
}
