package lagcomp

// Filter chooses what a query can touch. With the zero Filter a query can touch every
// entity that has not died, respawned or teleported since. The functions are called for
// candidates only and must not change anything.
type Filter struct {
	// ExcludeOwner leaves out everything that a player owns: the shooter. Zero
	// excludes nobody.
	ExcludeOwner uint32
	// Exclude leaves out one entity. Zero excludes none.
	Exclude ID
	// Layers holds a bit for each layer that can be touched. Zero means all.
	Layers uint32
	// Visible reports whether the shooter could see the entity at that time. A shot
	// passes through entities that were hidden from the shooter. Nil means that
	// everything was visible.
	Visible func(ID) bool
	// Life reports whether an entity still has the life that it had at that time.
	// An entity whose life has ended still stops a shot, as it did on the shooter's
	// screen, but does not count as a hit. Nil means that the life in the newest
	// recorded tick decides. Every death, respawn and teleport that changes the life
	// given to Put changes it.
	Life func(id ID, life uint32) bool
}

// Hit is what a query touched. The zero Hit is a miss.
type Hit struct {
	// ID, Owner, Life and Part name the entity, its player, its life and the
	// hitbox's Part.
	ID    ID
	Owner uint32 // the player of the entity
	Life  uint32 // the life of the entity, as given to Put
	Part  uint8  // the Part of the hitbox
	// Index is the hitbox's index among those given to Put.
	Index int
	// Point is on the hitbox's surface. Normal is the unit normal there, outwards.
	// A ray that begins within a hitbox hits at its origin, with the normal against
	// its direction.
	Point, Normal Vec
	// Distance is the distance that the ray or the ball travelled, or the distance
	// from the query's point to the hitbox. It is zero within the hitbox.
	Distance float32
}
